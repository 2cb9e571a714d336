//! PostgreSQL.
//!
//! - `plan_reader`: formats of plans; `statement_log`: runs of statements in logs
//! - `statement_rules`: texts and indexes; `queries`: statements, tables and indexes of a server;
//!   `session`
//! - [`survey`]: the inventory of a server

mod plan_reader;
mod queries;
mod session;
mod statement_log;
mod statement_rules;
pub mod survey;

use crate::Inspection;
pub use plan_reader::PLANS;
use statement_log::LOGS;
pub use statement_rules::{ENGINE, RULES};

/// The inspection of PostgreSQL.
pub const INSPECTION: Inspection = Inspection {
    rules: RULES,
    plans: Some(PLANS),
    logs: Some(LOGS),
    queries: Some(queries::open),
    file_queries: None,
};
