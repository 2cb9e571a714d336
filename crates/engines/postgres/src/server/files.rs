//! What a cluster has in its data directory.

use engine::EngineError;
use servers::files::walk;
use std::path::{Path, PathBuf};

/// Name of the file with the settings of every server of ours, in the data directory.
pub(super) const BASELINE_FILE: &str = "steelbench.conf";

/// Name of the file with the settings of the experiment, in the data directory.
pub(super) const SETTINGS_FILE: &str = "steelbench.settings.conf";

/// What `postmaster.pid` says: process, start, port, shared memory, state
/// (<https://www.postgresql.org/docs/current/storage-file-layout.html>; lines as in `pidfile.h`).
#[derive(Debug, Clone, Default)]
pub(super) struct Postmaster {
    pub(super) pid: Option<i32>,
    /// Key and identifier of its System V shared memory.
    pub(super) shared_memory: Option<(i64, i32)>,
    pub(super) ready: bool,
}

impl Postmaster {
    /// Reads the file in a data directory; all absent without one.
    pub(super) fn of(data: &Path) -> Self {
        let text = std::fs::read_to_string(data.join("postmaster.pid")).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        let line = |number: usize| lines.get(number - 1).copied().unwrap_or_default();
        let numbers: Vec<i64> = line(7).split_whitespace().flat_map(str::parse).collect();
        Self {
            pid: line(1).trim().parse().ok().filter(|pid| *pid > 1),
            shared_memory: match numbers[..] {
                [key, id] => i32::try_from(id).ok().map(|id| (key, id)),
                _ => None,
            },
            ready: line(8).trim() == "ready",
        }
    }
}

/// All files of a data directory, the log and tablespaces elsewhere included. Only the links that
/// PostgreSQL makes for these are followed.
pub(super) fn all(data: &Path) -> Result<Vec<PathBuf>, EngineError> {
    let mut files = Vec::new();
    walk(data, &mut files)?;
    let tablespaces = data.join("pg_tblspc");
    let links = std::fs::read_dir(&tablespaces).map_err(EngineError::at(&tablespaces))?;
    let links = links.flatten().map(|entry| entry.path()).chain([data.join("pg_wal")]);
    for folder in links.filter(|path| path.is_symlink()).filter_map(|link| link.canonicalize().ok())
    {
        walk(&folder, &mut files)?;
    }
    Ok(files)
}
