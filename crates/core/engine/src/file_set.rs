//! The files of a trial, and which of them may be written to: those that Steelbench creates and
//! those that the user names.

use crate::{CacheState, Permits};
use experiment::{Kind, choice, settings};
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

settings! {
    /// The settings of a target of plain files.
    pub const SETTINGS = [];
    /// Number of data files that Steelbench creates.
    pub DATA_FILES: usize = "target.data_files", Kind::Count { min: 1, max: 1024 }, "1" => Layout;
    /// Size of each data and backup file; Steelbench fills them before the measurement.
    pub FILE_SIZE: u64 = "target.file_size", SIZE, "1 GiB", Given "\"256 MiB\"";
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
    /// Its role in a database.
    pub role: Role,
    /// Its path.
    pub path: PathBuf,
    /// Bytes that it has.
    pub size: u64,
    /// Its origin.
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
    use super::{Origin, forbidden};
    use crate::Permits;

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
