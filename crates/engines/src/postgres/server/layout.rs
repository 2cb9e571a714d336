//! What a cluster has in its directory.

use std::path::{Path, PathBuf};

/// Names in the directory of a cluster.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    /// The directory, marked as ours by whom made it.
    pub(super) directory: PathBuf,
}

impl Layout {
    pub(super) fn of(directory: &Path) -> Self {
        Self { directory: directory.into() }
    }

    /// The data directory of the server.
    pub(super) fn data(&self) -> PathBuf {
        self.directory.join("data")
    }

    /// What the server says.
    pub(super) fn log(&self) -> PathBuf {
        self.directory.join("server.log")
    }

    /// The folder of its sockets, or a link to it.
    pub(super) fn socket(&self) -> PathBuf {
        self.directory.join("socket")
    }

    /// Settings that every server of ours has.
    pub(super) fn baseline(&self) -> PathBuf {
        self.data().join(BASELINE_FILE)
    }

    /// The settings of the experiment.
    pub(super) fn settings(&self) -> PathBuf {
        self.data().join(SETTINGS_FILE)
    }

    /// The server's own note of its process.
    pub(super) fn postmaster(&self) -> Postmaster {
        Postmaster::of(&self.data())
    }
}

/// Name of the file with the settings of every server of ours, in the data directory.
pub(super) const BASELINE_FILE: &str = "steelbench.conf";

/// Name of the file with the settings of the experiment, in the data directory.
pub(super) const SETTINGS_FILE: &str = "steelbench.settings.conf";

/// What `postmaster.pid` says: process, start, port, shared memory, state
/// (<https://www.postgresql.org/docs/current/storage-file-layout.html>; lines as in `pidfile.h`).
#[derive(Debug, Clone, Default)]
pub(super) struct Postmaster {
    /// Of the server.
    pub(super) pid: Option<i32>,
    /// Key and identifier of its System V shared memory.
    pub(super) shared_memory: Option<(i64, i32)>,
    /// It accepts connections.
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
