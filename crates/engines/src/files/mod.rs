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

use crate::SchemaKind;
use crate::engine::{Capabilities, Engine, Host, Place};
use experiment::{Configuration, Declaration, Invalid, Kind};
use observations::EngineVersion;

/// The engine that is no database.
#[derive(Debug, Clone, Copy)]
pub struct Files;

const SIZE: Kind = Kind::Size { min: 512, max: 1 << 50 };

const SETTINGS: &[Declaration] = &[
    Declaration::new(
        "target.data_files",
        Kind::Count { min: 1, max: 1024 },
        Some("1"),
        "Number of data files that we create.",
    ),
    Declaration::new(
        "target.file_size",
        SIZE,
        Some("1 GiB"),
        "Size of each data and backup file; written in full before anything is measured.",
    ),
    Declaration::new(
        "target.volume",
        Kind::TextList,
        None,
        "Volume (or list of volumes, round robin) that the data files are put on; the default is the results directory's file system.",
    ),
    Declaration::new(
        "target.log_volume",
        Kind::Text,
        None,
        "Volume that the log file is put on; the default is that of the first data file.",
    ),
    Declaration::new(
        "target.log_size",
        SIZE,
        Some("256 MiB"),
        "Size of the log file, where a stream works on it.",
    ),
    Declaration::new(
        "target.backup_volume",
        Kind::Text,
        None,
        "Volume that the backup file is put on; the default is that of the first data file.",
    ),
    Declaration::new(
        "target.paths",
        Kind::TextList,
        None,
        "Existing files or block devices, instead of data files that we create. Writing to them must be allowed on the command line: --overwrite FILE, --destroy /dev/X.",
    ),
    Declaration::new(
        "target.log_path",
        Kind::Text,
        None,
        "An existing file or block device instead of a log file.",
    ),
    Declaration::new(
        "target.backup_path",
        Kind::Text,
        None,
        "An existing file or block device instead of a backup file.",
    ),
    Declaration::new(
        "target.offset",
        Kind::Size { min: 0, max: 1 << 50 },
        Some("0"),
        "Bytes left out at the beginning of each file or device: a partition's offset.",
    ),
    Declaration::new(
        "target.compress",
        Kind::Share,
        Some("0%"),
        "Share of the data that a compressing drive or file system can remove.",
    ),
    Declaration::new(
        "target.precondition",
        Kind::Choice(&["none", "steady"]),
        Some("none"),
        "steady: after filling, the data files are overwritten at random until the throughput is steady, as a drive that has been in use is. Takes long and wears the drive.",
    ),
    Declaration::new(
        "target.precondition_time",
        Kind::PositiveDuration,
        Some("10 min"),
        "Pre-conditioning goes on for so long at most; trials are marked when it was not steady by then.",
    ),
    Declaration::new(
        "target.cache",
        Kind::Choice(crate::CacheState::NAMES),
        Some("warm"),
        "State of the operating system's page cache for the files when measuring begins, which matters to I/O that is not direct: cold (nothing in memory), warm (as the trial before left it), hot (all in memory). Made so and verified.",
    ),
];

impl Engine for Files {
    fn name(&self) -> &'static str {
        "files"
    }

    fn settings(&self) -> &'static [Declaration] {
        SETTINGS
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { embedded: true, keeps: true, schemas: &[SchemaKind::Files], ..Capabilities::default() }
    }

    fn version(&self, _: &[&Configuration]) -> EngineVersion {
        let kernel = observe::environment::capture(&[]).kernel;
        EngineVersion { version: kernel.unwrap_or_default(), options: Vec::new() }
    }

    fn validate(&self, configuration: &Configuration) -> Vec<Invalid> {
        layout::validate(configuration)
    }

    fn host(&self, place: Place) -> Box<dyn Host> {
        Box::new(host::FilesHost::new(place))
    }
}
