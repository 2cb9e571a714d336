//! Polling something that may come soon.

use crate::{EngineError, Result};
use std::time::{Duration, Instant};
use work::Cancel;

/// The shortest and the longest time between two looks.
const LOOK_AGAIN: [Duration; 2] = [Duration::from_millis(5), Duration::from_millis(100)];

/// Polls until there is a result, the time is over (`None`), or the user asks to stop; intervals
/// become longer with time.
///
/// # Errors
/// When `look` fails; [`EngineError::Cancelled`] after a request to stop.
pub fn wait_for<T>(
    at_most: Duration,
    cancel: &Cancel,
    mut look: impl FnMut() -> Result<Option<T>>,
) -> Result<Option<T>> {
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
        std::thread::sleep((started.elapsed() / 64).clamp(LOOK_AGAIN[0], LOOK_AGAIN[1]));
    }
}
