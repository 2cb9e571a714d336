//! Logs of statements that a server writes: each run with its time.

/// Reads the logs of statements of an engine.
#[derive(Debug, Clone, Copy)]
pub struct StatementLogs {
    /// Returns true for the beginning of such a log.
    pub recognise: fn(&str) -> bool,
    /// Reads the runs in a log. What is damaged or of another kind is left out.
    pub read: fn(&str) -> Vec<LoggedRun>,
}

/// A run of a statement in a log.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LoggedRun {
    /// The statement with its values.
    pub text: String,
    /// Where it ran; empty where the log does not say.
    pub database: String,
    /// The user who ran it; empty where the log does not say.
    pub user: String,
    /// The time, ms.
    pub ms: f64,
    /// Time in which it waited for locks, ms.
    pub lock_ms: Option<f64>,
    /// Rows that it returned or changed.
    pub rows: Option<u64>,
    /// Rows that it read.
    pub rows_read: Option<u64>,
}
