//! Backups of a target and their restore, as plain requests and results; and statements beside a
//! load.

use crate::{EngineError, Result};
use std::path::{Path, PathBuf};
use work::Cancel;

/// Settings of a backup.
#[derive(Debug, Clone, PartialEq)]
pub struct BackupRequest {
    /// Name of the tool.
    pub tool: &'static str,
    /// The compression; `none`: none.
    pub compression: &'static str,
    /// Workers.
    pub workers: u32,
    /// Bytes a second at most.
    pub rate_limit: Option<f64>,
    /// An existing folder, marked as ours; a folder or file below it takes the backup.
    pub folder: PathBuf,
    /// Further settings of a backup by the server.
    pub on_server: OnServer,
}

/// Settings of a backup whose files the server writes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OnServer {
    /// Folder of the server; `None`: its default for backups.
    pub folder: Option<String>,
    /// Bytes of one transfer; `None`: the server decides.
    pub transfer_bytes: Option<u64>,
    /// Number of buffers; `None`: the server decides.
    pub buffers: Option<u32>,
}

/// A finished backup.
#[derive(Debug, Clone, PartialEq)]
pub struct Backup {
    /// The file or folder; one without files if they are the server's.
    pub path: PathBuf,
    /// Bytes of its files, where they are the server's; `None`: they are below `path`.
    pub server_bytes: Option<u64>,
    /// Bytes of the data at its beginning, as the engine stores them.
    pub data_bytes: u64,
    /// CPU seconds of the tool, without those of the server's processes; `None` where the server
    /// itself does all of the work.
    pub cpu_s: Option<f64>,
    /// The number of times that the tool began again because the data had changed.
    pub restarts: u64,
}

/// A table with its content in two figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint {
    /// Name of the table.
    pub table: String,
    /// Number of its rows.
    pub rows: u64,
    /// Checksum of all of them that does not depend on their order.
    pub checksum: String,
}

/// A restored backup. Times count from the beginning of the restore.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Restore {
    /// Seconds until the files are in place, or the statements have run.
    pub placed_s: f64,
    /// Seconds until the first query was answered.
    pub first_query_s: f64,
    /// Seconds until the data was consistent: the engine's recovery and its checks are complete.
    pub consistent_s: f64,
    /// Seconds until it had the changes that were made on the source since the backup; `None`:
    /// this kind of backup cannot take them.
    pub caught_up_s: Option<f64>,
    /// Complaints of the engine's own checks.
    pub complaints: Vec<String>,
    /// All tables.
    pub tables: Vec<Fingerprint>,
}

impl Restore {
    /// Describes a restore by statements: keys and constraints are checked as rows come in, and
    /// later changes of the source cannot be taken.
    pub fn by_statements(placed_s: f64, first_query_s: f64, tables: Vec<Fingerprint>) -> Self {
        Self { placed_s, first_query_s, consistent_s: first_query_s, tables, ..Self::default() }
    }
}

/// Work of a prepared target's engine beside the load.
pub trait BackgroundWork: Sync {
    /// Makes a backup while the load works. Stopped, it leaves no process behind.
    ///
    /// # Errors
    /// When the tool fails: with its message, and [`EngineError::DiskFull`] where the folder's
    /// volume is full.
    fn take(&self, request: &BackupRequest, cancel: &Cancel) -> Result<Backup>;
    /// Restores a backup beside the target, in this folder that is marked as ours, and removes what
    /// it has restored.
    ///
    /// # Errors
    /// When it cannot be restored.
    fn restore(
        &self,
        request: &BackupRequest,
        backup: &Backup,
        folder: &Path,
        cancel: &Cancel,
    ) -> Result<Restore>;
    /// Removes a backup from this machine. The files of a server stay there until the next backup
    /// replaces them.
    ///
    /// # Errors
    /// When it cannot be removed.
    fn discard(&self, backup: &Backup) -> Result<()> {
        let path = &backup.path;
        let removed =
            if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
        removed.map_err(EngineError::at(path))
    }
    /// The tables of the target as they are now.
    ///
    /// # Errors
    /// When the engine refuses.
    fn fingerprints(&self) -> Result<Vec<Fingerprint>>;
    /// Runs statements for each table, on a session of its own. In them stand `{table}`, `{column}`
    /// (the first one outside of the key) and `{workers}`. Returns the CPU seconds of the calling
    /// thread.
    ///
    /// # Errors
    /// When the engine refuses.
    fn perform(&self, statements: &[&str], workers: u32, cancel: &Cancel) -> Result<f64>;
}
