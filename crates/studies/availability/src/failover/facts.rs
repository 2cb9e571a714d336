//! The facts of a trial, which the analysis reads by the same names.

use observations::{FactFamily, FactName};

/// Writes that the server acknowledged.
pub const ACKNOWLEDGED: FactName = FactName::new("acknowledged", "writes");
/// Of these, those that the server does not have after its recovery.
pub const LOST: FactName = FactName::new("lost", "writes");
/// Writes that it has more than once.
pub const DUPLICATES: FactName = FactName::new("duplicates", "writes");
/// Writes that were sent and never acknowledged.
pub const UNKNOWN: FactName = FactName::new("unknown_outcome", "writes");
/// Of these, those that the server has.
pub(crate) const UNKNOWN_PRESENT: FactName = FactName::new("unknown_present", "writes");
/// Rows that no client sent.
pub const UNEXPECTED: FactName = FactName::new("unexpected", "rows");
/// Seconds that the promotion of the replica took.
pub const PROMOTION: FactName = FactName::new("promotion", "s");
/// Seconds from the fault until it was complete: of a clean shutdown.
pub(crate) const FAULT: FactName = FactName::new("fault", "s");
/// Connections whose writes did not succeed again before the end of the trial.
pub const SILENT: FactName = FactName::new("silent_connections", "");
/// Errors that clients saw, by kind.
pub const ERRORS: FactFamily = FactFamily::new("error.", "");
