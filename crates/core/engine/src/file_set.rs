//! The files of a trial: their folders, their state in the page cache, and which of them may be
//! written to: those that Steelbench creates and those that the user names.

use crate::{EngineError, Result};
use experiment::{Configuration, Kind, choice, settings};
use std::borrow::Borrow;
use std::fs::File;
use std::io::{Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

const SIZE: Kind = Kind::Size { min: 512, max: 1 << 50 };

choice! {
    /// Treatment of the data files before the measurement.
    pub enum Precondition {
        /// They are filled.
        None = "none",
        /// They are overwritten until the throughput is steady.
        Steady = "steady",
    }
}

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
    /// The settings of a target of plain files.
    pub const SETTINGS = [];
    /// Number of data files that Steelbench creates.
    pub DATA_FILES: usize = "target.data_files", Kind::Count { min: 1, max: 1024 }, "1" => Layout;
    /// Size of each data and backup file; Steelbench fills them before the measurement.
    pub FILE_SIZE: u64 = "target.file_size", SIZE, "1 GiB", Value "\"256 MiB\"";
    /// Volume (or list of volumes, round robin) for the data files; default: the results
    /// directory's file system.
    pub VOLUME: Vec<String> = "target.volume", Kind::TextList => DataPlace;
    /// Volume for the log file; default: that of the first data file.
    pub LOG_VOLUME: Option<String> = "target.log_volume", Kind::Text => LogPlace;
    /// Size of the log file, if a stream uses it.
    pub LOG_SIZE: u64 = "target.log_size", SIZE, "256 MiB";
    /// Volume for the backup file; default: that of the first data file.
    pub BACKUP_VOLUME: Option<String> = "target.backup_volume", Kind::Text => BackupPlace;
    /// Existing files or block devices to use instead of new data files. Allow writing to them on
    /// the command line: --overwrite FILE, --destroy /dev/X.
    pub PATHS: Vec<String> = "target.paths", Kind::TextList => DataPlace;
    /// Existing file or block device to use instead of a new log file.
    pub LOG_PATH: Option<String> = "target.log_path", Kind::Text => LogPlace;
    /// Existing file or block device to use instead of a new backup file.
    pub BACKUP_PATH: Option<String> = "target.backup_path", Kind::Text => BackupPlace;
    /// Bytes to skip at the beginning of each file or device, such as a partition's offset.
    pub OFFSET: u64 = "target.offset", Kind::Size { min: 0, max: 1 << 50 }, "0";
    /// Compressible share of the data, for drives and file systems that compress.
    pub COMPRESS: f64 = "target.compress", Kind::Share, "0%";
    /// steady: after filling, overwrite the data files at random until the throughput is steady, as
    /// on a drive in use. Takes long and wears the drive.
    pub PRECONDITION: Precondition = "target.precondition", Precondition::KIND, "none";
    /// Longest time of pre-conditioning; if it is not steady by then, trials carry a warning.
    pub PRECONDITION_TIME: f64 = "target.precondition_time", Kind::PositiveDuration, "10 min";
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

/// Existing objects that the user allows to be overwritten by naming them on the command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Permits {
    /// Files that were there before us.
    pub overwrite: Vec<PathBuf>,
    /// Block devices.
    pub destroy: Vec<PathBuf>,
}

impl Permits {
    /// Returns the permits with links resolved now: a link that changes later permits nothing.
    #[must_use]
    pub fn resolved(self) -> Self {
        let real = |paths: Vec<PathBuf>| {
            paths.into_iter().map(|path| path.canonicalize().unwrap_or(path)).collect()
        };
        Self { overwrite: real(self.overwrite), destroy: real(self.destroy) }
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

/// Why nothing may be written to a file that was there before, or a device; `None`: it may be.
/// `real` is where its path leads to; links are resolved in the permits too.
pub fn forbidden(path: &Path, real: &Path, origin: Origin, permits: &Permits) -> Option<String> {
    if let refused @ Some(_) = refusal(path, origin, permits, |named| named == real) {
        return refused;
    }
    let found = match origin {
        Origin::Created => return None,
        Origin::Existing => observe::devices::file_in_use(real),
        Origin::Device => observe::devices::in_use(real),
    };
    let reason = found.unwrap_or_else(|error| Some(error.to_string()))?;
    Some(format!("{} is not overwritten: {reason}", path.display()))
}

/// Why the user has to permit that something is written to a file or device; `None`: that is
/// permitted.
pub fn not_permitted(path: &Path, origin: Origin, permits: &Permits) -> Option<String> {
    let real = |path: &Path| path.canonicalize().ok();
    refusal(path, origin, permits, |named: &Path| {
        named == path || (real(named).is_some() && real(named) == real(path))
    })
}

fn refusal(
    path: &Path,
    origin: Origin,
    permits: &Permits,
    is_it: impl Fn(&Path) -> bool,
) -> Option<String> {
    let (permitted, what, option) = match origin {
        Origin::Created => return None,
        Origin::Existing => (&permits.overwrite, "existed before this run", "--overwrite"),
        Origin::Device => (&permits.destroy, "is a block device", "--destroy"),
    };
    let path = path.display();
    (!permitted.iter().any(|named| is_it(named))).then(|| {
        format!("{path} {what}; writing would destroy its contents; allow it with {option} {path}")
    })
}

#[cfg(test)]
mod tests {
    use super::{Origin, Permits, forbidden};

    #[test]
    fn only_what_is_named_may_be_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        let (mine, other) = (real.join("mine"), real.join("other"));
        std::fs::write(&mine, "x").unwrap();
        std::fs::write(&other, "x").unwrap();
        let roundabout = real.join("link");
        std::os::unix::fs::symlink(&mine, &roundabout).unwrap();
        let permits = Permits { overwrite: vec![roundabout], destroy: Vec::new() };
        assert!(forbidden(&mine, &mine, Origin::Existing, &permits).is_some());
        let permits = permits.resolved();
        assert_eq!(forbidden(&mine, &mine, Origin::Existing, &permits), None);
        assert_eq!(forbidden(&other, &other, Origin::Created, &permits), None);
        assert!(
            forbidden(&other, &other, Origin::Existing, &permits).unwrap().contains("--overwrite")
        );
        assert!(forbidden(&mine, &mine, Origin::Device, &permits).unwrap().contains("--destroy"));
    }
}
