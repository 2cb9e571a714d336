//! Why a file is no plan.

use thiserror::Error;

/// Why a file could not be read as plans.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PlanError {
    /// Nothing of what is known begins so.
    #[error(
        "this is no plan that can be read: neither ShowPlan XML of SQL Server, nor EXPLAIN of \
         PostgreSQL as JSON or text or a log of its auto_explain, nor EXPLAIN FORMAT=JSON of \
         MariaDB or MySQL"
    )]
    Unknown,
    /// It begins as a plan and goes wrong, or ends too early.
    #[error("the {format} is damaged or cut off: {cause}")]
    Damaged {
        /// What it begins as.
        format: &'static str,
        /// What the reader of the format says.
        cause: String,
    },
    /// Neither UTF-8 nor UTF-16.
    #[error("the text is neither UTF-8 nor UTF-16")]
    Encoding,
    /// Operators in operators, without an end.
    #[error("the plan has operators nested deeper than {0} levels")]
    TooDeep(usize),
}

/// Objects in objects that the reader of JSON takes (`serde_json`): an operator of a plan has two,
/// itself and its list.
const JSON_DEPTH: usize = 128;

impl PlanError {
    /// Of JSON that cannot be read.
    pub(crate) fn of_json(format: &'static str, error: &serde_json::Error) -> Self {
        let cause = error.to_string();
        if cause.starts_with("recursion limit") {
            Self::TooDeep(JSON_DEPTH / 2)
        } else {
            Self::Damaged { format, cause }
        }
    }
}
