//! PostgreSQL servers of our own: private clusters that are cloned, started, set and removed.
//!
//! - [`Installation`]: which versions are there
//! - [`Account`]: as whom the server runs (never as root)
//! - `template`: `initdb` once, copies from then on
//! - [`Cluster`]: makes, asks and removes; `lifecycle` starts and stops; `layout` and `process` are its
//!   parts
//! - `settings`: `target.settings.*`, applied and read back
//! - [`reclaim`]: stops what a run that was killed left
//! - `files`: the files of a cluster, copied, counted and put out of the page cache

mod account;
mod cluster;
mod files;
mod installation;
mod layout;
mod leftovers;
mod lifecycle;
mod process;
mod settings;
mod template;

pub use account::Account;
pub use cluster::{Cluster, ClusterOptions};
pub use installation::{Installation, Version};
pub use leftovers::reclaim;
pub use lifecycle::Stop;
pub(super) use process::parent;
pub use settings::Applied;
pub use template::{DataOptions, Template};

use crate::{Cancel, EngineError};
use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, Instant};

/// Between two looks at something that comes soon.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

fn failed(doing: impl Into<String>, message: impl Into<String>) -> EngineError {
    EngineError::Engine { doing: doing.into(), message: message.into() }
}

/// The error of an operation on this file.
fn at(path: &Path) -> impl FnOnce(std::io::Error) -> EngineError {
    move |source| match source.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            EngineError::DiskFull { doing: format!("writing {}", path.display()) }
        }
        _ => EngineError::File { path: path.into(), source },
    }
}

/// Looks until there is something, the time is over (`None`), or somebody asks to stop.
fn wait_for<T>(
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
        std::thread::sleep(LOOK_AGAIN);
    }
}
