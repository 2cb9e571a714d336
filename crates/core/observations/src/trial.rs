use crate::Histogram;
use crate::digest::fnv1a;
use crate::{
    DeviceUse, LoadHealth, MachineLoad, Operation, Percentile, Profile, Series, Wait,
    WaitedResource, Warning,
};
use serde::{Deserialize, Serialize};

/// Everything that was seen in the measurement of one trial.
///
/// Identity (kept by construction, tested in `analysis`): `time.session_s` = CPU + resource
/// waits + signal waits + client waits + unaccounted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Observations {
    /// Seconds from "go" until the last connection had done its work.
    pub elapsed_s: f64,
    /// Number of connections (or load threads) that worked.
    pub connections: u32,
    /// Work done, the basis of costs per unit.
    pub work: Work,
    /// Measured figures with unit and direction; the first is the primary one unless the file says
    /// otherwise.
    pub responses: Vec<Response>,
    /// Figures that are neither better nor worse.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<Fact>,
    /// How the engine ran the statements that were measured, where it reports it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plans: Vec<QueryPlan>,
    /// Latency distributions in nanoseconds, by name: `transaction` (from the intended start) and
    /// `service`.
    pub latencies: Vec<Latency>,
    /// The statements of the scripts that ran, in the order of the scripts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statements: Vec<ScriptStatement>,
    /// Time in which sessions could not run, by wait type.
    pub waits: Vec<Wait>,
    /// Resources that sampled sessions waited for, where the server names them; most samples first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<WaitedResource>,
    /// How the sessions' time was used, as far as it is not waits.
    pub time: TimeUse,
    /// Every I/O and lock operation, counted and timed, whether or not it waited.
    pub operations: Vec<Operation>,
    /// Figures over time; the clock starts at "go", warm-up has negative time.
    pub series: Vec<Series>,
    /// How the load generator itself fared.
    pub load: LoadHealth,
    /// Other load of the machine during the trial.
    pub machine: MachineLoad,
    /// Use of the block devices under the target during the trial.
    pub devices: Vec<DeviceUse>,
    /// The profile of the target's processor time, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// Reasons to trust this trial less.
    pub warnings: Vec<Warning>,
    /// True when the figures come from a scripted engine and not from a measurement.
    pub synthetic: bool,
    /// Seconds of `limits.trial_time`, or of the measurement in a search, at which the trial was
    /// stopped: `elapsed_s` ends there, so that the measurement takes at least as long. Nothing
    /// else was seen but a rate that a search judged. `None`: measured to the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_s: Option<f64>,
}

impl Observations {
    /// Returns whether a limit of its time stopped it.
    pub fn timed_out(&self) -> bool {
        self.timeout_s.is_some()
    }

    /// The fact with this name.
    pub fn fact(&self, name: &str) -> Option<f64> {
        self.facts.iter().find(|fact| fact.name == name).map(|fact| fact.value)
    }

    /// The latency distribution with this name.
    pub fn latency(&self, name: &str) -> Option<&Histogram> {
        self.latencies.iter().find(|latency| latency.name == name).map(|latency| &latency.histogram)
    }

    /// The mean of the latencies with this name, in seconds; `None` without any.
    pub fn mean_latency_s(&self, name: &str) -> Option<f64> {
        let histogram = self.latency(name).filter(|latency| !latency.is_empty())?;
        Some(histogram.min_mean_max_ns().1 / 1e9)
    }

    /// The value of the response with this name.
    pub fn response(&self, name: &str) -> Option<f64> {
        self.responses.iter().find(|response| response.name == name).map(|response| response.value)
    }
}

/// Amount of work done in the measurement.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Work {
    /// The unit in the singular: `row`, `I/O`, `operation`.
    pub unit: String,
    /// Number of units done.
    pub amount: u64,
    /// Number of transactions committed (0 where the probe has none).
    pub transactions: u64,
    /// Transactions that failed and were not repeated.
    pub errors: u64,
    /// Transactions that were repeated because the engine said so (deadlock, busy snapshot).
    pub retries: u64,
}

impl Work {
    /// The unit of what is one process from its start to its end: timed as such, however short the
    /// measurement is.
    pub const RUN: &str = "run";
}

/// A latency distribution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// `transaction`: from the intended start to the end. `service`: from the actual start.
    pub name: String,
    /// Distribution in nanoseconds.
    pub histogram: Histogram,
}

/// A statement of a script, and how it fared over all connections: what `pgbench
/// --report-per-command` counts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ScriptStatement {
    /// Name of the script.
    pub script: String,
    /// The text as it stands there, with stars for the passwords in it.
    pub text: String,
    /// The number of times that it succeeded.
    pub count: u64,
    /// Seconds from sending it to its whole answer, of these together.
    pub wall_s: f64,
    /// The longest of them in seconds.
    pub wall_s_max: f64,
    /// The number of times that it ended a transaction that was given up (a deadlock, a
    /// serialization failure).
    pub failures: u64,
    /// The number of times that it was repeated, or ended a transaction that was tried again.
    pub retries: u64,
}

impl ScriptStatement {
    /// A statement of which nothing is recorded yet.
    pub fn new(script: &str, text: &str) -> Self {
        Self { script: script.to_owned(), text: text.to_owned(), ..Self::default() }
    }
}

/// Use of the sessions' time that is not waiting. All figures are summed over connections.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TimeUse {
    /// Connections x elapsed, in seconds.
    pub session_s: f64,
    /// Seconds on a processor, of sessions and (for an embedded engine) the load generator in
    /// them.
    pub cpu_s: f64,
    /// The part of `cpu_s` in user mode, where known.
    pub cpu_user_s: Option<f64>,
    /// Seconds on a processor and in the run queue by samples alone, where the kernel counts them
    /// too.
    pub sampled_running_s: Option<f64>,
}

/// The direction in which a response is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Throughput, IOPS.
    HigherIsBetter,
    /// Elapsed time, latency, cost.
    LowerIsBetter,
}

/// A measured figure of a trial, with its name and unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Response {
    /// Name in `snake_case`, the same in every trial: `elapsed`, `throughput`, `latency_p99`.
    pub name: String,
    /// Unit as printed: `s`, `rows/s`, `ms`.
    pub unit: String,
    /// The direction that is better.
    pub direction: Direction,
    /// The value in that unit.
    pub value: f64,
    /// The step in which it was counted or rounded, in that unit: 1 of a count, the width of the
    /// bucket of a percentile. 0: as fine as the clock.
    #[serde(default)]
    pub resolution: f64,
    /// Of a percentile: which one, and of how many values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percentile: Option<Percentile>,
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

/// The plan of a statement, as the engine printed it beside the measurement, or why it has none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct QueryPlan {
    /// The statement: `scan`, or the text of one of a script.
    pub statement: String,
    /// Hash of the plan: the same for the same text. Empty where there is none.
    pub hash: String,
    /// The plan, without what the optimizer estimated.
    pub text: String,
    /// The engine's analysis of one run before the measurement, if requested.
    pub analysis: Option<String>,
    /// Rows that the optimizer expected of the statement, where the engine reports them.
    #[serde(default)]
    pub estimated_rows: Option<f64>,
    /// The optimizer's estimated cost, in the engine's unit.
    #[serde(default)]
    pub estimated_cost: Option<f64>,
    /// Why there is no plan.
    #[serde(default)]
    pub reason: Option<String>,
}

/// Bytes of a plan that are kept: more than plans of Steelbench's statements need. A server may
/// send any length.
const PLAN_BYTES_MAX: usize = 64 << 10;

impl QueryPlan {
    /// The plan of a statement. Only the beginning of a long plan is kept.
    pub fn new(statement: &str, text: String) -> Self {
        Self {
            statement: statement.into(),
            hash: fnv1a(&text),
            text: beginning(text),
            ..Self::default()
        }
    }

    /// A statement that has no plan, and why.
    pub fn none(statement: &str, reason: String) -> Self {
        Self { statement: statement.into(), reason: Some(beginning(reason)), ..Self::default() }
    }

    /// Adds the optimizer's estimates.
    #[must_use]
    pub fn estimated(self, rows: Option<f64>, cost: Option<f64>) -> Self {
        Self { estimated_rows: rows, estimated_cost: cost, ..self }
    }

    /// Adds the engine's analysis of one run.
    #[must_use]
    pub fn analyzed(self, analysis: Option<String>) -> Self {
        Self { analysis: analysis.map(beginning), ..self }
    }
}

fn beginning(mut text: String) -> String {
    if text.len() > PLAN_BYTES_MAX {
        let end = (0..=PLAN_BYTES_MAX).rev().find(|end| text.is_char_boundary(*end));
        text.truncate(end.unwrap_or(0));
        text.push_str("\n... (cut off)");
    }
    text
}

impl Response {
    fn new(name: &str, unit: &str, direction: Direction, value: f64) -> Self {
        let (name, unit) = (name.into(), unit.into());
        Self { name, unit, direction, value, resolution: 0.0, percentile: None }
    }

    /// A response of which less is better (time, latency, cost).
    pub fn lower(name: &str, unit: &str, value: f64) -> Self {
        Self::new(name, unit, Direction::LowerIsBetter, value)
    }

    /// A response of which more is better (throughput).
    pub fn higher(name: &str, unit: &str, value: f64) -> Self {
        Self::new(name, unit, Direction::HigherIsBetter, value)
    }

    /// Marks the value as counted or rounded in steps of this size.
    #[must_use]
    pub fn in_steps_of(self, resolution: f64) -> Self {
        Self { resolution: if resolution.is_finite() { resolution } else { 0.0 }, ..self }
    }

    /// A percentile of latencies; `unit_ns` is the length of its unit.
    pub fn percentile(
        name: &str,
        unit: &str,
        unit_ns: f64,
        latencies: &Histogram,
        percent: f64,
    ) -> Self {
        let ns = latencies.quantile_ns(percent);
        Self {
            resolution: Histogram::bucket_ns(ns as u64) as f64 / unit_ns,
            percentile: Some(Percentile { percent, values: latencies.len() }),
            ..Self::lower(name, unit, ns / unit_ns)
        }
    }
}
