//! SQL Server.
//!
//! - `showplan`: the format of plans; `statement_rules`: texts and indexes
//! - [`queries`]: statements, tables and indexes of a server; [`survey`]: its inventory
//! - `view`: queries with forms for older
//!   servers

pub mod queries;
mod showplan;
mod statement_rules;
pub mod survey;
mod view;

use crate::Inspection;
pub use showplan::PLANS;
pub use statement_rules::{ENGINE, RULES};
pub use view::{NO_RESULT, View};

/// The inspection of SQL Server.
pub const INSPECTION: Inspection = Inspection {
    rules: RULES,
    plans: Some(PLANS),
    logs: None,
    queries: Some(queries::open),
    file_queries: None,
};
