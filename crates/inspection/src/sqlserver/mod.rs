//! SQL Server.
//!
//! - `showplan`: the format of plans, `plan_text` those of trials; `statement_rules`: texts and
//!   indexes
//! - [`queries`]: statements, tables and indexes of a server; [`survey`]: its inventory

mod plan_text;
pub mod queries;
mod showplan;
mod statement_rules;
pub mod survey;

use crate::Inspection;
pub use plan_text::read as read_plan;
pub use showplan::PLANS;
pub use statement_rules::{ENGINE, RULES};

/// The inspection of SQL Server.
pub const INSPECTION: Inspection = Inspection {
    rules: RULES,
    plans: Some(PLANS),
    logs: None,
    queries: Some(queries::open),
    file_queries: None,
};
