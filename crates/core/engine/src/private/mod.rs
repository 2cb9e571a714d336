//! What private servers of any engine have in common: they are cloned from a template, run as
//! another user, end when we do, and leave nothing.
//!
//! - `account`: as whom a server runs (never as root); `process`: starting, finding and ending it
//! - `files`: its directory, and the folder of its sockets; `template`: what it is cloned from;
//!   `data_sets`: what it holds on between trials

pub(crate) mod account;
pub(crate) mod data_sets;
pub(crate) mod files;
pub(crate) mod process;
pub(crate) mod template;

use crate::{Cancel, EngineError};
use std::time::{Duration, Instant};

/// The shortest and the longest time between two looks at something that may come soon.
const LOOK_AGAIN: [Duration; 2] = [Duration::from_millis(5), Duration::from_millis(100)];

/// Looks until there is something, the time is over (`None`), or somebody asks to stop; less often
/// with time.
pub(crate) fn wait_for<T>(
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
