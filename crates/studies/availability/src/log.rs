//! The log of a server and of its replica: how an engine's positions are read.

use crate::node_session::NodeSession;
use engine::EngineError;
use std::time::Duration;

/// A query for a position in a log.
#[derive(Debug, Clone, Copy)]
pub struct Position {
    /// The query, which returns one row.
    pub sql: &'static str,
    /// Column with the bytes.
    pub bytes: usize,
    /// Column with the name of the file in which they count; `None`: they count over all files.
    pub file: Option<usize>,
}

/// A position in a log.
#[derive(Debug, Clone, PartialEq)]
pub struct LogPosition {
    /// Bytes from the beginning of the file, or of the log.
    pub bytes: f64,
    /// The file in which they count.
    pub file: Option<String>,
}

/// Queries by which the log of an engine and its replication are read.
#[derive(Debug, Clone, Copy)]
pub struct Replication {
    /// End of the log that the primary has written.
    pub written: Position,
    /// Position of the primary's log up to which the replica has applied it.
    pub applied: Position,
    /// Bytes of log since the last checkpoint, from which a recovery begins: one value.
    pub since_checkpoint: &'static str,
    /// Settings that [`engine::Nodes::attach_replica`] decides.
    pub own_settings: &'static [&'static str],
}

impl Position {
    /// Reads a position in a log.
    ///
    /// # Errors
    /// As [`NodeSession::number`].
    pub fn read(
        &self,
        session: &mut NodeSession,
        limit: Duration,
    ) -> Result<LogPosition, EngineError> {
        let row = session.run(self.sql, limit)?;
        let row = row.ok_or_else(|| EngineError::failed(self.sql, "no answer"))?;
        let cell = |column: usize| row.get(column)?.clone();
        cell(self.bytes)
            .and_then(|bytes| bytes.parse().ok())
            .map(|bytes| LogPosition { bytes, file: self.file.and_then(cell) })
            .ok_or_else(|| EngineError::failed(self.sql, "no position"))
    }
}
