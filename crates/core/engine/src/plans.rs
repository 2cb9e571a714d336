//! Execution plans as an engine writes them.

use inspection::plans::{Plan, PlanError, Statement, first_plan};

/// The formats of an engine's execution plans.
pub trait Plans {
    /// Names them, for messages: `ShowPlan XML of SQL Server`.
    fn formats(&self) -> &'static str;
    /// Returns true when a text begins as one of them, damaged or not.
    fn recognises(&self, text: &str) -> bool;
    /// Reads the statements of a text with their plans, in its order.
    ///
    /// # Errors
    /// When the text has another format, or is damaged.
    fn read(&self, text: &str) -> Result<Vec<Statement>, PlanError>;
    /// Reads the plan of an answer to EXPLAIN: of the first statement that has one.
    ///
    /// # Errors
    /// When the text is not a plan, or is damaged.
    fn read_one(&self, text: &str) -> Result<Plan, PlanError> {
        first_plan(self.read(text)?).ok_or(PlanError::Unknown)
    }
}
