//! The log of a server and of its replica: how an engine's positions are read, and how it
//! replicates.

use crate::node_session::NodeSession;
use engine::{EngineError, PrivateServer, Result};
use std::path::Path;
use std::time::Duration;
use work::Cancel;

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

/// Makes a replica of a server in a folder.
pub type Replicate = fn(&dyn PrivateServer, &Path, &Cancel) -> Result<Box<dyn PrivateServer>>;

/// How the log of an engine is read, and how it replicates.
pub struct Replication {
    /// End of the log that the primary has written.
    pub written: Position,
    /// Position of the primary's log up to which the replica has applied it.
    pub applied: Position,
    /// Bytes of log since the last checkpoint, from which a recovery begins: one value.
    pub since_checkpoint: &'static str,
    /// Settings that the study decides when it attaches a replica.
    pub own_settings: &'static [&'static str],
    /// Makes a replica of a running server in a folder, starts it, and waits until it follows.
    pub replicate: Replicate,
    /// Lets commits on a server wait for its replica.
    pub confirm: fn(&dyn PrivateServer, &dyn PrivateServer, &Cancel) -> Result<()>,
    /// Shuts a server down once its replica has received all of its log.
    pub hand_over: fn(&dyn PrivateServer, &dyn PrivateServer, &Cancel) -> Result<()>,
    /// Makes a replica a primary that accepts writes.
    pub promote: fn(&dyn PrivateServer, &Cancel) -> Result<()>,
}

impl Position {
    /// Reads a position in a log.
    ///
    /// # Errors
    /// As [`NodeSession::number`].
    pub fn read(&self, session: &mut NodeSession, limit: Duration) -> Result<LogPosition> {
        let row = session.run(self.sql, limit)?;
        let row = row.ok_or_else(|| EngineError::failed(self.sql, "no answer"))?;
        let cell = |column: usize| row.get(column)?.clone();
        cell(self.bytes)
            .and_then(|bytes| bytes.parse().ok())
            .map(|bytes| LogPosition { bytes, file: self.file.and_then(cell) })
            .ok_or_else(|| EngineError::failed(self.sql, "no position"))
    }
}
