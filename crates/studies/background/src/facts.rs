//! The facts of a trial, which the analysis reads by the same names.

use observations::{FactFamily, FactName};

/// Figures of the load before the action: the names are in [`PHASE_FIGURES`].
pub const BEFORE: FactFamily = FactFamily::new("phase_before.", "");
/// While it works.
pub const DURING: FactFamily = FactFamily::new("phase_during.", "");
/// From its end on.
pub const AFTER: FactFamily = FactFamily::new("phase_after.", "");

/// Figures of a phase, in the order of [`crate::phases::Phase`]: seconds, transactions,
/// transactions a second, a share, milliseconds, seconds, seconds.
pub(crate) const PHASE_FIGURES: [&str; 7] =
    ["duration_s", "due", "throughput", "lost", "p99_ms", "over_limit_s", "gap_s"];

/// Time of the sessions before the action, in seconds: [`SESSION`], [`CPU`], and the waits of each
/// class by its name. A class in which no wait was seen is absent.
pub const WAITS_BEFORE: FactFamily = FactFamily::new("waits_before.", "s");
/// While it works.
pub const WAITS_DURING: FactFamily = FactFamily::new("waits_during.", "s");
/// From its end on.
pub const WAITS_AFTER: FactFamily = FactFamily::new("waits_after.", "s");
/// Seconds of waits by class that are in no phase: the server counted them, and no sample saw them.
pub const WAITS_UNDIVIDED: FactFamily = FactFamily::new("waits_undivided.", "s");
/// Sessions x length of a phase.
pub const SESSION: &str = "session";
/// Of it, on a processor.
pub const CPU: &str = "cpu";
/// Seconds of session time that a sample stands for; absent where no wait is sampled.
pub const SAMPLE_S: FactName = FactName::new("waits_sample", "s");

/// Name of the figure with the counted transactions a minute of a phase, where the load counts one
/// kind.
pub const COUNTED: &str = "counted_per_min";
/// Name of that kind, with the value 1: `counted_kind.new orders`.
pub(crate) const COUNTED_KIND: FactFamily = FactFamily::new("counted_kind.", "");

/// Seconds that the action took.
pub const ACTION_S: FactName = FactName::new("action_time", "s");
/// 1: it was still working when the load ended.
pub const OUTLASTED: FactName = FactName::new("action_outlasted_load", "");
/// Bytes of the data that were backed up or copied, in MB.
pub const DATA_MB: FactName = FactName::new("action_data", "MB");
/// Bytes that the backup takes, in MB.
pub const BACKUP_MB: FactName = FactName::new("backup_size", "MB");
/// CPU seconds of the tool or command; not those of the server.
pub const CPU_S: FactName = FactName::new("action_cpu", "s");
/// The number of times that a backup began again.
pub(crate) const RESTARTS: FactName = FactName::new("backup_restarts", "");
/// Seconds of the restore until the files were in place.
pub(crate) const PLACED_S: FactName = FactName::new("restore_placed", "s");
/// Seconds of the restore until the first query was answered.
pub const FIRST_QUERY_S: FactName = FactName::new("restore_first_query", "s");
/// Seconds of the restore until the data was consistent.
pub const CONSISTENT_S: FactName = FactName::new("restore_consistent", "s");
/// Seconds of the restore until it had the changes since the backup.
pub const CAUGHT_UP_S: FactName = FactName::new("restore_caught_up", "s");
/// Tables of the restored backup that were compared.
pub const COMPARED: FactName = FactName::new("restore_tables", "");
/// Rows of these tables.
pub const ROWS: FactName = FactName::new("restore_rows", "");
/// Differences that the comparison found, a sentence each with the value 1.
pub const DIFFERENCES: FactFamily = FactFamily::new("restore_difference.", "");
