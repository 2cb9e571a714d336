//! Studies S4 and S2e: how fast storage is for what a database does to it.
//!
//! - `settings`: what can be asked for
//! - `paths`, `fio`: what a command line or a fio job file names instead
//! - [`disk_io`]: the I/O engine; `files`: the engine of plain files and devices that it runs on
//! - `streams`: from settings to streams, and from these and files to what the I/O engine runs
//! - `outcome`: from its counts to the observations of the trial; `agreement`: these counts and the
//!   kernel's
//! - `quick`: `steelbench disk`; `volume_document`: the page of its `--inspect`

mod agreement;
pub mod analysis;
mod arguments;
mod files;
pub mod fio;
mod fio_json;
mod outcome;
mod paths;
mod probe;
mod quick;
mod section;
mod settings;
mod streams;
mod volume_document;

pub use crate::probe::DiskProbe;
pub use agreement::{Disagreement, device_agreement};
pub use files::FILES;
pub use fio_json::fio_json;
pub use paths::StoragePath;
pub use quick::COMMAND;
pub use settings::*;
pub use streams::StreamText;

use self::analysis::{STORAGE, disk, findings};
use ::analysis::Study;

/// The study's part in the analysis of its runs, and of databases on the same storage.
pub const STUDY: Study = Study {
    findings: Some(findings),
    storage: Some(STORAGE),
    draws_response: true,
    ..Study::new("disk")
};

report::sections! {
    /// The sections of reports.
    pub const SECTIONS = |summary| {
        Storage disk: disk(summary).as_ref() => section::sections [screen];
    }
}
