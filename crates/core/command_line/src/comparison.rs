use crate::Failure;
use observations::Recording;
use report::Document;

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
