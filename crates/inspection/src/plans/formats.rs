//! Execution plans as an engine writes them.

use super::{Plan, PlanError, Statement};

/// The formats of an engine's execution plans.
#[derive(Debug, Clone, Copy)]
pub struct PlanFormats {
    /// Their names, for messages: `ShowPlan XML of SQL Server`.
    pub names: &'static str,
    /// Returns true when a text begins as one of them, damaged or not.
    pub recognise: fn(&str) -> bool,
    /// Reads the statements of a text with their plans, in its order. The errors are those of a
    /// text that has another format, or is damaged.
    pub read: fn(&str) -> Result<Vec<Statement>, PlanError>,
}

impl PlanFormats {
    /// Reads the plan of an answer to EXPLAIN: of the first statement that has one.
    ///
    /// # Errors
    /// When the text is not a plan, or is damaged.
    pub fn read_one(&self, text: &str) -> Result<Plan, PlanError> {
        let mut statements = (self.read)(text)?.into_iter();
        statements.find_map(|statement| statement.plan).ok_or(PlanError::Unknown)
    }
}
