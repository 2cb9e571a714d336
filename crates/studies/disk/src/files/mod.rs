//! Plain files and devices: the target of raw disk tests.
//!
//! - `settings`: what can be asked for
//! - `file_plan`: the files that its settings ask for
//! - `host`: creating and filling them, and keeping them from trial to trial
//! - `permission`: which of them may be written to
//! - `engine`: what the laboratory asks of an engine

mod engine;
mod file_plan;
mod host;
mod permission;
mod settings;

pub use self::engine::FILES;
pub(crate) use host::size;
pub(crate) use permission::{is_same, not_permitted};
pub(crate) use settings::{
    BACKUP_PATH, BACKUP_VOLUME, COMPRESS, DATA_FILES, FILE_SIZE, LOG_PATH, LOG_VOLUME, OFFSET,
    PATHS, PRECONDITION, Precondition, VOLUME,
};
