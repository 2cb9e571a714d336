use crate::Failure;
use observations::Recording;
use report::{Document, Section};
use serde_json::Value;

/// The responses of two runs that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Responses<'a> {
    /// The one on which the first run compares its configurations.
    Primary,
    /// The one with this name.
    Named(&'a str),
    /// All that both runs have.
    All,
}

/// Compares runs, the first side with the second, for a page: one tool has it, and others show it.
pub type CompareRuns = fn(&[Recording], &[Recording], Responses) -> Result<Document, Failure>;

/// A tool's part of the history of an experiment.
pub struct HistoryPart {
    /// The name of its data.
    pub name: &'static str,
    /// Data on each run, for programs.
    pub runs: Vec<Value>,
    /// A section on all runs; `None` where there is nothing to show.
    pub section: Option<Section>,
}
