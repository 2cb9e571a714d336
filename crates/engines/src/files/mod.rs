//! Plain files and devices: the target of raw disk tests.
//!
//! - `set`: the files of a trial
//! - `layout`: from settings to what has to be there
//! - `made`: making it
//! - `host`: keeping it from trial to trial
//! - `permit`: what may be written to

mod host;
mod layout;
mod made;
mod permit;
mod set;

pub use set::{FileSet, Origin, Role, TargetFile};

use crate::engine::{Ability, Capabilities, Engine, Host, Place};
use experiment::{Configuration, Declaration, Invalid, Kind, choice, settings};
use observations::EngineVersion;

/// The engine that is no database.
#[derive(Debug, Clone, Copy)]
pub struct Files;

const SIZE: Kind = Kind::Size { min: 512, max: 1 << 50 };

choice! {
    /// What is done to the data files before anything is measured, besides filling them.
    pub enum Precondition {
        /// Nothing.
        None = "none",
        /// They are overwritten until the throughput is steady.
        Steady = "steady",
    }
}

settings! {
    /// Number of data files that Steelbench creates.
    pub DATA_FILES: usize = "target.data_files", Kind::Count { min: 1, max: 1024 }, "1";
    /// Size of each data and backup file; written in full before anything is measured.
    pub FILE_SIZE: u64 = "target.file_size", SIZE, "1 GiB";
    /// Volume (or list of volumes, round robin) that the data files are put on; the default is the results directory's
    /// file system.
    pub VOLUME: Vec<String> = "target.volume", Kind::TextList;
    /// Volume that the log file is put on; the default is that of the first data file.
    pub LOG_VOLUME: Option<String> = "target.log_volume", Kind::Text;
    /// Size of the log file, where a stream works on it.
    pub LOG_SIZE: u64 = "target.log_size", SIZE, "256 MiB";
    /// Volume that the backup file is put on; the default is that of the first data file.
    pub BACKUP_VOLUME: Option<String> = "target.backup_volume", Kind::Text;
    /// Existing files or block devices, instead of data files that Steelbench creates. Writing to them must be allowed on
    /// the command line: --overwrite FILE, --destroy /dev/X.
    pub PATHS: Vec<String> = "target.paths", Kind::TextList;
    /// An existing file or block device instead of a log file.
    pub LOG_PATH: Option<String> = "target.log_path", Kind::Text;
    /// An existing file or block device instead of a backup file.
    pub BACKUP_PATH: Option<String> = "target.backup_path", Kind::Text;
    /// Bytes left out at the beginning of each file or device: a partition's offset.
    pub OFFSET: u64 = "target.offset", Kind::Size { min: 0, max: 1 << 50 }, "0";
    /// Share of the data that a compressing drive or file system can remove.
    pub COMPRESS: f64 = "target.compress", Kind::Share, "0%";
    /// steady: after filling, the data files are overwritten at random until the throughput is steady, as a drive that
    /// has been in use is. Takes long and wears the drive.
    pub PRECONDITION: Precondition = "target.precondition", Precondition::KIND, "none";
    /// Pre-conditioning goes on for at most this long; trials carry a warning when it was not steady by then.
    pub PRECONDITION_TIME: f64 = "target.precondition_time", Kind::PositiveDuration, "10 min";
}

const CACHE: Declaration = Declaration::new(
    "target.cache",
    Kind::Choice(crate::CacheState::NAMES),
    Some("warm"),
    "State of the operating system's page cache for the files when measuring begins, which matters to I/O that is not direct: cold (nothing in memory), warm (as the trial before left it), hot (all in memory). Made so and verified.",
);

const SETTINGS: &[Declaration] = &[
    DATA_FILES.declaration,
    FILE_SIZE.declaration,
    VOLUME.declaration,
    LOG_VOLUME.declaration,
    LOG_SIZE.declaration,
    BACKUP_VOLUME.declaration,
    PATHS.declaration,
    LOG_PATH.declaration,
    BACKUP_PATH.declaration,
    OFFSET.declaration,
    COMPRESS.declaration,
    PRECONDITION.declaration,
    PRECONDITION_TIME.declaration,
    CACHE,
];

impl Engine for Files {
    fn name(&self) -> &'static str {
        "files"
    }

    fn settings(&self) -> &'static [Declaration] {
        SETTINGS
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { embedded: true, keeps: true, abilities: &[Ability::Files], ..Capabilities::default() }
    }

    fn version(&self, _: &[&Configuration]) -> EngineVersion {
        let kernel = observe::environment::capture(&[]).kernel;
        EngineVersion { version: kernel.unwrap_or_default(), options: Vec::new() }
    }

    fn validate(&self, configuration: &Configuration, _: u32) -> Vec<Invalid> {
        layout::validate(configuration)
    }

    fn host(&self, place: Place) -> Box<dyn Host> {
        Box::new(host::FilesHost::new(place))
    }
}
