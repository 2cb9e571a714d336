use crate::Failure;
use analysis::{MatchedCells, Summary};
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

/// Compares runs, the first side with the second.
pub type CompareRuns = fn(&[Recording], &[Recording], Responses) -> Result<Document, Failure>;

/// Comparisons for pages: one tool has them, and others show them.
#[derive(Clone, Copy)]
pub struct Comparisons {
    /// Of runs.
    pub runs: CompareRuns,
    /// Of two configurations of a run, or two levels, with their labels; `None` without a completed
    /// trial.
    pub configurations: fn(&Recording, &MatchedCells, [&str; 2]) -> Option<Document>,
}

/// A document on a run that a tool has, and a command prints.
#[derive(Clone, Copy)]
pub struct RunDocument {
    /// For people.
    pub document: fn(&Summary) -> Document,
    /// For programs.
    pub json: fn(&Summary) -> serde_json::Result<Value>,
}

/// A tool's part of the history of an experiment.
pub struct HistoryPart {
    /// The name of its data.
    pub name: &'static str,
    /// Data on each run, for programs.
    pub runs: Vec<Value>,
    /// A section on all runs; `None` where there is nothing to show.
    pub section: Option<Section>,
}
