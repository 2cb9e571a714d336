//! SQLite: `plan_steps`: EXPLAIN QUERY PLAN; `statement_rules`: texts and indexes; `queries`:
//! statements on a database file.

mod plan_steps;
mod queries;
mod statement_rules;

use crate::Inspection;
pub use plan_steps::plan_of_steps;
pub use statement_rules::RULES;

/// The inspection of SQLite.
pub const INSPECTION: Inspection = Inspection {
    rules: RULES,
    plans: None,
    logs: None,
    queries: None,
    file_queries: Some(queries::open),
};
