//! The seam by which the blocks of a plan are handed to other machines.

use observations::{Environment, Event, Recording, TrialRecord};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Machines that run blocks of a plan, seen from the process that records them.
pub trait Machines: Send + Sync {
    /// Returns the machines that are there, each with whether it is free, and starts those again
    /// that ended.
    ///
    /// # Errors
    /// When there are fewer than `at_least` for longer than the user waits.
    fn present(&self, at_least: usize) -> Result<Vec<Machine>, MachineError>;
    /// Hands a part of the plan to a free machine.
    ///
    /// # Errors
    /// When it cannot be sent.
    fn start(&self, machine: &str, part: &BlockPart) -> Result<(), MachineError>;
    /// Returns the next report, if one arrives in this time. A report comes again until it is
    /// [accepted](Self::accept).
    fn next(&self, at_most: Duration) -> Option<Report>;
    /// Confirms that a report is recorded.
    fn accept(&self, report: &Report);
    /// Tells how the machines differ, by the check between them in this recording.
    fn judge_check(&self, recorded: &Recording) -> Vec<Event>;
    /// Ends the work of all machines.
    fn stop(&self);
}

/// A machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// The name, by which trials are recorded.
    pub name: String,
    /// It has no part of the plan.
    pub is_free: bool,
}

/// A part of the plan: some configurations in some blocks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BlockPart {
    /// Numbers of the blocks.
    pub blocks: Vec<u32>,
    /// Positions of the configurations.
    pub configurations: Vec<usize>,
}

/// A message of a machine.
#[derive(Debug, Clone)]
pub struct Report {
    /// The name.
    pub machine: String,
    /// Number of the report.
    pub number: u64,
    /// The content.
    pub content: ReportContent,
}

/// The content of a message of a machine.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum ReportContent {
    /// The machine and its software.
    Environment(Box<Environment>),
    /// A trial that it has run.
    Trial(Box<TrialRecord>),
    /// The part is over; with the cause if it could not run all of it.
    Ended(Option<String>),
    /// Nothing was heard of it: its part is over. No machine says so.
    #[serde(skip)]
    Lost,
}

/// Why machines cannot work.
#[derive(Debug, thiserror::Error)]
#[error("{attempt}: {source}")]
pub struct MachineError {
    /// The attempt: `waiting for machines`.
    pub attempt: String,
    /// The cause, with what to do.
    pub source: Box<dyn std::error::Error + Send + Sync>,
}
