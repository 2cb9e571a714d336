//! The report of an action.

use engine::backups::Backup;

/// An action's report of itself.
#[derive(Debug, Default)]
pub struct Outcome {
    /// CPU seconds of its thread or its programs.
    pub cpu_s: Option<f64>,
    /// Bytes that it copied.
    pub bytes: Option<u64>,
    /// The backup.
    pub backup: Option<Backup>,
}
