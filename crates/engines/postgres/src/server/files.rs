//! Files in the data directory of a private server.

use engine::{EngineError, Result};
use std::path::{Path, PathBuf};

/// Name of the file with the settings of every private server, in the data directory.
pub(super) const BASELINE_FILE: &str = "steelbench.conf";

/// Name of the file with the settings of the experiment, in the data directory.
pub(super) const SETTINGS_FILE: &str = "steelbench.settings.conf";

/// Content of `postmaster.pid`: process, start, port, shared memory, state
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
    pub(super) fn read(data: &Path) -> Self {
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

/// Lists the folders of tablespaces: those to which the links of a data directory lead.
pub(super) fn tablespaces(data: &Path) -> Result<Vec<PathBuf>> {
    let folder = data.join("pg_tblspc");
    let links = std::fs::read_dir(&folder).map_err(EngineError::at(&folder))?;
    let links = links.flatten().map(|entry| entry.path()).filter(|path| path.is_symlink());
    Ok(links.filter_map(|link| link.canonicalize().ok()).collect())
}
