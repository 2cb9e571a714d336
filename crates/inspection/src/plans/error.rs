//! Errors of reading plans.

use thiserror::Error;

/// An error of reading a text as plans.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PlanError {
    /// The text does not have a format of the reader.
    #[error("not a plan in a known format")]
    Unknown,
    /// It begins as a plan and goes wrong, or ends too early.
    #[error("the {format} is damaged or cut off: {cause}")]
    Damaged {
        /// Name of the format by which it begins.
        format: &'static str,
        /// The message of the format's parser.
        cause: String,
    },
    /// It has a format that no reader knows, and that the engine can replace.
    #[error("the {format} is not read: use {instead}")]
    OtherFormat {
        /// Name of the format.
        format: &'static str,
        /// The formats to use instead.
        instead: &'static str,
    },
    /// Operators are nested too deep.
    #[error("the plan has operators nested deeper than {0} levels")]
    TooDeep(usize),
    /// Each part that runs once is charged to one of all operators.
    #[error("the plan has more than {0} subqueries and expressions that run once")]
    TooManyParts(usize),
}

/// Nested objects that `serde_json` accepts. An operator of a plan takes two: itself and its list.
const JSON_DEPTH: usize = 128;
/// Levels of operators that a reader accepts at most.
const DEPTH_MAX: usize = 200;

impl PlanError {
    /// Refuses an operator at a depth that no reader follows.
    ///
    /// # Errors
    /// [`PlanError::TooDeep`].
    pub fn check_depth(depth: usize) -> Result<(), Self> {
        if depth > DEPTH_MAX { Err(Self::TooDeep(DEPTH_MAX)) } else { Ok(()) }
    }

    /// The error of a text that is not JSON, or nested too deep.
    pub fn from_json(format: &'static str, error: &serde_json::Error) -> Self {
        let cause = error.to_string();
        if cause.starts_with("recursion limit") {
            Self::TooDeep(JSON_DEPTH / 2)
        } else {
            Self::Damaged { format, cause }
        }
    }
}
