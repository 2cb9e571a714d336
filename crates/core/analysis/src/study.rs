//! Work of a study's trials: the use of storage and of tables, and names of its parts.

use crate::Estimate;
use observations::{ConfigurationRecord, Observations, Roles, named};
use serde::Serialize;

/// Names of the parts of a load in reports: of scripts, kinds of transactions, queries.
#[derive(Debug, Clone, Copy)]
pub struct PartNames {
    /// Heading of their section.
    pub heading: &'static str,
    /// A single part: `script`.
    pub part: &'static str,
    /// The work, which it does many times: `transactions`.
    pub work: &'static str,
    /// Unit of the rate of that: `tps`.
    pub rate: &'static str,
}

impl PartNames {
    /// The part names of scripts.
    pub const SCRIPTS: Self =
        Self { heading: "Scripts", part: "script", work: "transactions", rate: "tps" };
}

/// How the trials of a study use storage.
#[derive(Clone, Copy)]
pub struct StorageUse {
    /// Returns what a configuration measures of its storage; `None` for mixed directions, several
    /// streams, loads with deliberate idle time, and I/O that the page cache may serve.
    pub test: fn(&Roles, &ConfigurationRecord) -> Option<StorageTest>,
    /// Bytes that a trial read and wrote; `None` where they are not known.
    pub bytes: fn(&ConfigurationRecord, &Observations) -> Option<(u64, u64)>,
    /// Returns the load's own figures, next to the device counters.
    pub figures: fn(&[&Observations]) -> DeviceFigures,
}

/// A configuration's measurement of storage.
pub struct StorageTest {
    /// Reads or writes.
    pub way: Way,
    /// True for random I/O, the pattern of databases; else sequential.
    pub random: bool,
    /// Bytes of an I/O.
    pub block_bytes: u64,
    /// The one volume that the load goes to.
    pub volume: String,
    /// Name of the response with I/Os a second.
    pub rate: &'static str,
    /// Name of the response with the I/Os in flight.
    pub depth: &'static str,
}

named! {
    /// Direction of I/Os.
    #[serde(rename_all = "snake_case")]
    pub enum Way {
        /// Reads.
        Read = "read",
        /// Writes.
        Write = "write",
    }
}

/// Figures over trials; `None` where the divisor is 0 or the counter does not exist.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct DeviceFigures {
    /// Reads a second.
    pub reads: Option<Estimate>,
    /// Writes a second.
    pub writes: Option<Estimate>,
    /// Bytes (read and written) a second.
    pub bytes: Option<Estimate>,
    /// Mean seconds of a read.
    pub read_latency: Option<Estimate>,
    /// Mean seconds of a write.
    pub write_latency: Option<Estimate>,
    /// Share of the time in which at least one I/O was in flight.
    pub utilisation: Option<Estimate>,
    /// Mean number of I/Os in flight.
    pub queue: Option<Estimate>,
}

/// The use of a table by a unit of work.
#[derive(Clone, Copy)]
pub struct TableUse {
    /// The part of the table that it touches.
    pub access: Access,
    /// Costs of its work, for studies that compare the same work on different tables.
    pub costs: &'static [WorkCost],
}

/// The part of a table that a unit of work touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It fills the table.
    Load,
    /// It reads all rows.
    Scan,
    /// It reads or writes single rows.
    Rows,
}

/// A figure of a unit of work; less is better.
#[derive(Clone, Copy)]
pub struct WorkCost {
    /// Kind of the cost.
    pub kind: CostKind,
    /// Unit as printed.
    pub unit: &'static str,
    /// The value in a trial.
    pub value: fn(&Observations) -> Option<f64>,
}

impl WorkCost {
    /// A cost.
    pub const fn new(
        kind: CostKind,
        unit: &'static str,
        value: fn(&Observations) -> Option<f64>,
    ) -> Self {
        Self { kind, unit, value }
    }
}

/// A cost per unit of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CostKind {
    /// Processor time of sessions, their workers and the kernel's threads.
    Processor,
    /// The part of it that the kernel's threads took.
    Kernel,
    /// Time.
    Time,
    /// Time for which a row is locked.
    LockHeld,
}
