//! SQL Server: `showplan`: the format of plans; `statement_rules`: texts and indexes.

mod showplan;
mod statement_rules;

use crate::Inspection;
pub use showplan::{ENGINE, PLANS};
pub use statement_rules::RULES;

/// The inspection of SQL Server.
pub const INSPECTION: Inspection = Inspection { rules: RULES, plans: Some(PLANS), logs: None };
