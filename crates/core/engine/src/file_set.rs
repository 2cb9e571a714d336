//! The files of a trial: their folders, their state in the page cache, and what the user permits
//! to be overwritten.

use crate::{EngineError, Result};
use experiment::{Configuration, choice, settings};
use std::borrow::Borrow;
use std::fs::File;
use std::io::{Seek as _, SeekFrom};
use std::path::PathBuf;

choice! {
    /// State of the operating system's page cache for the target's files when measuring begins.
    pub enum CacheState {
        /// Nothing of the files is in memory.
        Cold = "cold",
        /// As preparation left it.
        Warm = "warm",
        /// All of the files is in memory.
        Hot = "hot",
    }
}

settings! {
    /// State of the page cache for the files at the start of the measurement: cold (nothing in
    /// memory), warm (as the previous trial left it), hot (all in memory). It matters for buffered
    /// I/O. Steelbench establishes and verifies it.
    pub CACHE: CacheState = "target.cache", CacheState::KIND, "warm" => Cache;
}

impl CacheState {
    /// The state that a configuration asks for, of any engine: `target.cache`.
    pub fn from_configuration(configuration: &Configuration) -> Self {
        configuration.get(CACHE)
    }
}

/// Findings of [`crate::Instance::settle`] after its work.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CacheReport {
    /// Bytes in the target's files.
    pub file_bytes: u64,
    /// Of these, bytes in the page cache; `None` when it cannot be seen.
    pub resident_bytes: Option<u64>,
    /// True if the declared state was reached.
    pub verified: bool,
}

impl CacheReport {
    /// The identity without files whose state could be another.
    pub const NO_FILES: Self = Self { file_bytes: 0, resident_bytes: Some(0), verified: true };

    /// Of open files that have been brought into a state. Reading a file's first page or two (a
    /// header, a root page) leaves a cold file cold.
    ///
    /// # Errors
    /// When a file is an error, or has no size.
    pub fn of_files(
        files: impl IntoIterator<Item = Result<impl Borrow<File>>>,
        cache: CacheState,
    ) -> Result<Self> {
        let Self { mut file_bytes, mut resident_bytes, .. } = Self::NO_FILES;
        for file in files {
            let file = file?;
            let mut file: &File = file.borrow();
            // The size of a device is the position of its end.
            let size = file.seek(SeekFrom::End(0));
            file_bytes += size
                .map_err(|error| EngineError::failed("reading a file's size", error.to_string()))?;
            // The kernel does not report it for every file.
            let resident = observe::page_cache::resident_bytes(file).ok();
            resident_bytes = resident_bytes.zip(resident).map(|(sum, bytes)| sum + bytes);
        }
        let verified = match (cache, resident_bytes) {
            (CacheState::Warm, _) => true,
            (_, None) => false,
            (CacheState::Cold, Some(resident)) => {
                resident * 100 <= file_bytes || resident <= 64 << 10
            }
            (CacheState::Hot, Some(resident)) => resident >= file_bytes,
        };
        Ok(Self { file_bytes, resident_bytes, verified })
    }
}

/// Where a host may put its files.
#[derive(Debug, Clone)]
pub struct Folders {
    /// A directory of the host's own, marked as ours, on the default volume.
    pub directory: PathBuf,
    /// A directory of the host's own on each volume in use, by the volume's name.
    pub volumes: Vec<(String, PathBuf)>,
    /// Existing objects that the user allows to be overwritten.
    pub permits: Permits,
    /// Files to which a server's process writes `0` before it becomes another user and program: it
    /// then has the limits of throttled volumes. Empty when none is throttled.
    pub cgroup_joins: Vec<PathBuf>,
}

impl Folders {
    /// The host's directory on a volume.
    ///
    /// # Errors
    /// When there is no such volume.
    pub fn volume(&self, name: &str) -> Result<&PathBuf> {
        let found = self.volumes.iter().find(|(known, _)| known == name);
        found.map(|(_, directory)| directory).ok_or_else(|| {
            EngineError::failed(
                format!("placing files on volume {name}"),
                "no [[volume]] has this name",
            )
        })
    }
}

/// The user's permissions on the command line: existing objects that may be overwritten, and files
/// that the statements of an experiment may reach.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Permits {
    /// Files that were there before us.
    pub overwrite: Vec<PathBuf>,
    /// Block devices.
    pub destroy: Vec<PathBuf>,
    /// The experiment is untrusted: an embedded engine confines its statements to the files of the
    /// trial.
    pub is_confined: bool,
}

impl Permits {
    /// Returns the permits with links resolved now: a link that changes later permits nothing.
    #[must_use]
    pub fn resolved(self) -> Self {
        let real = |paths: Vec<PathBuf>| {
            paths.into_iter().map(|path| path.canonicalize().unwrap_or(path)).collect()
        };
        Self { overwrite: real(self.overwrite), destroy: real(self.destroy), ..self }
    }
}

/// The files and devices of a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSet {
    /// All of them, data files first.
    pub files: Vec<TargetFile>,
    /// Bytes left out at the beginning of each.
    pub offset: u64,
    /// Remarks for readers of the figures: preconditioning that did not become steady.
    pub notes: Vec<String>,
}

/// A file or device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetFile {
    /// The role in a database.
    pub role: Role,
    /// The path.
    pub path: PathBuf,
    /// Bytes that it has.
    pub size: u64,
    /// The origin.
    pub origin: Origin,
    /// Why nothing may be written to it; `None`: it may be.
    pub forbidden: Option<String>,
}

choice! {
    /// Role of a file in a database.
    pub enum Role {
        /// Data.
        Data = "data",
        /// The log.
        Log = "log",
        /// Where a backup is written.
        Backup = "backup",
    }
}

/// Origin of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// We created it and remove it.
    Created,
    /// A file that was there before.
    Existing,
    /// A block device.
    Device,
}

impl FileSet {
    /// The files of a role, in the order of the settings.
    pub fn with_role(&self, role: Role) -> impl Iterator<Item = &TargetFile> {
        self.files.iter().filter(move |file| file.role == role)
    }
}
