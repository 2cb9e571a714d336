use serde::{Deserialize, Serialize};

/// Which way a response is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Throughput, IOPS.
    HigherIsBetter,
    /// Elapsed time, latency, cost.
    LowerIsBetter,
}

/// One measured figure of a trial. A number never travels alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Response {
    /// Name in `snake_case`, the same in every trial: `elapsed`, `throughput`, `latency_p99`.
    pub name: String,
    /// Unit as printed: `s`, `rows/s`, `ms`.
    pub unit: String,
    /// Which way is better.
    pub direction: Direction,
    /// The value in that unit.
    pub value: f64,
}

/// A figure of a trial that is neither better nor worse: how many sockets the threads ran on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fact {
    /// Name in `snake_case`, the same in every trial.
    pub name: String,
    /// Unit as printed; empty for a plain count.
    pub unit: String,
    /// The value in that unit.
    pub value: f64,
}

impl Fact {
    /// A plain count.
    pub fn count(name: &str, value: u32) -> Self {
        Self { name: name.into(), unit: String::new(), value: f64::from(value) }
    }
}

impl Response {
    /// A response of which less is better (time, latency, cost).
    pub fn lower(name: &str, unit: &str, value: f64) -> Self {
        Self { name: name.into(), unit: unit.into(), direction: Direction::LowerIsBetter, value }
    }

    /// A response of which more is better (throughput).
    pub fn higher(name: &str, unit: &str, value: f64) -> Self {
        Self { name: name.into(), unit: unit.into(), direction: Direction::HigherIsBetter, value }
    }
}
