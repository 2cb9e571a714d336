//! PostgreSQL servers of our own: private clusters that are cloned, started, set and removed.
//!
//! - [`Installation`]: which versions are there
//! - [`Account`]: as whom the server runs (never as root)
//! - `template`: `initdb` once, copies from then on; `setup`: the same with a dump and SQL of the user; `data_sets`: with
//!   the rows of a data set
//! - [`Cluster`]: makes, starts, asks, stops and removes; `files` and `process` are its parts
//! - `settings`: `target.settings.*`, applied and read back; `tried_settings`: tried before a server runs
//! - [`reclaim`]: stops what a run that was killed left

mod account;
mod cluster;
mod data_sets;
mod files;
mod installation;
mod process;
pub(super) mod settings;
mod setup;
mod template;
pub mod tried_settings;

pub use account::Account;
pub(super) use cluster::last_lines;
pub use cluster::{Cluster, ClusterOptions, Stop};
pub use files::clone_folder;
pub(super) use installation::installed_programs;
pub use installation::{Installation, Version};
pub(super) use process::parent;
pub use process::reclaim;
pub(super) use settings::is_of_module;
pub use setup::ServerSetup;
pub(super) use setup::{fill, validate as validate_setup};
pub use template::{DataOptions, Template};

use crate::{Cancel, EngineError};
use std::time::{Duration, Instant};

/// The shortest and the longest time between two looks at something that may come soon.
const LOOK_AGAIN: [Duration; 2] = [Duration::from_millis(5), Duration::from_millis(100)];

/// Looks until there is something, the time is over (`None`), or somebody asks to stop; less often with time.
pub(super) fn wait_for<T>(
    at_most: Duration,
    cancel: &Cancel,
    mut look: impl FnMut() -> Result<Option<T>, EngineError>,
) -> Result<Option<T>, EngineError> {
    let started = Instant::now();
    loop {
        if let Some(found) = look()? {
            return Ok(Some(found));
        }
        if cancel.is_cancelled() {
            return Err(EngineError::Cancelled);
        }
        if started.elapsed() > at_most {
            return Ok(None);
        }
        std::thread::sleep((started.elapsed() / 16).clamp(LOOK_AGAIN[0], LOOK_AGAIN[1]));
    }
}
