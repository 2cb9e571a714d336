//! The files of a trial, and which of them may be written to: those that Steelbench creates and
//! those that the user names.

use crate::{CacheState, Permits};
use experiment::{Kind, choice, settings};
use std::path::{Path, PathBuf};

const SIZE: Kind = Kind::Size { min: 512, max: 1 << 50 };

choice! {
    /// What is done to the data files before they are measured.
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
    /// Size of each data and backup file; written in full before anything is measured.
    pub FILE_SIZE: u64 = "target.file_size", SIZE, "1 GiB", Given "\"256 MiB\"";
    /// Volume (or list of volumes, round robin) that the data files are put on; the default is the
    /// results directory's file system.
    pub VOLUME: Vec<String> = "target.volume", Kind::TextList => DataPlace;
    /// Volume that the log file is put on; the default is that of the first data file.
    pub LOG_VOLUME: Option<String> = "target.log_volume", Kind::Text => LogPlace;
    /// Size of the log file, where a stream works on it.
    pub LOG_SIZE: u64 = "target.log_size", SIZE, "256 MiB";
    /// Volume that the backup file is put on; the default is that of the first data file.
    pub BACKUP_VOLUME: Option<String> = "target.backup_volume", Kind::Text => BackupPlace;
    /// Existing files or block devices, instead of data files that Steelbench creates. Writing to
    /// them must be allowed on the command line: --overwrite FILE, --destroy /dev/X.
    pub PATHS: Vec<String> = "target.paths", Kind::TextList => DataPlace;
    /// An existing file or block device instead of a log file.
    pub LOG_PATH: Option<String> = "target.log_path", Kind::Text => LogPlace;
    /// An existing file or block device instead of a backup file.
    pub BACKUP_PATH: Option<String> = "target.backup_path", Kind::Text => BackupPlace;
    /// Bytes left out at the beginning of each file or device: a partition's offset.
    pub OFFSET: u64 = "target.offset", Kind::Size { min: 0, max: 1 << 50 }, "0";
    /// Share of the data that a compressing drive or file system can remove.
    pub COMPRESS: f64 = "target.compress", Kind::Share, "0%";
    /// steady: after filling, the data files are overwritten at random until the throughput is
    /// steady, as on a drive that has been in use. Takes long and wears the drive.
    pub PRECONDITION: Precondition = "target.precondition", Precondition::KIND, "none";
    /// Pre-conditioning goes on for so long at most; trials carry a warning if it was not steady by
    /// then.
    pub PRECONDITION_TIME: f64 = "target.precondition_time", Kind::PositiveDuration, "10 min";
    /// State of the operating system's page cache for the files when the measurement begins, which
    /// matters to I/O that is not direct: cold (nothing in memory), warm (as the trial before left
    /// it), hot (all in memory). Established and verified.
    pub CACHE: CacheState = "target.cache", CacheState::KIND, "warm" => Cache;
}

/// The files and devices of a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSet {
    /// All of them, data files first.
    pub files: Vec<TargetFile>,
    /// Bytes left out at the beginning of each.
    pub offset: u64,
    /// What readers of the figures must know: pre-conditioning that did not become steady.
    pub notes: Vec<String>,
}

/// A file or device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetFile {
    /// What it stands for.
    pub role: Role,
    /// Where it is.
    pub path: PathBuf,
    /// Bytes that it has.
    pub size: u64,
    /// Whose it is.
    pub origin: Origin,
    /// Why nothing may be written to it; `None`: it may be.
    pub forbidden: Option<String>,
}

choice! {
    /// What a file stands for in a database.
    pub enum Role {
        /// Data.
        Data = "data",
        /// The log.
        Log = "log",
        /// Where a backup is written.
        Backup = "backup",
    }
}

/// Whose a file is.
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
    let is_same =
        |named: &Path| named == path || (real(named).is_some() && real(named) == real(path));
    refusal(path, origin, permits, is_same)
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
        format!(
            "{path} {what}: writing to it would destroy its contents; allow it with {option} \
             {path}"
        )
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
