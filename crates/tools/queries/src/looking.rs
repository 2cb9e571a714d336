//! Looks at what sessions run while an interval passes.

use command_line::signals;
use engine::ServerError;
use inspection::QueryReader;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Seconds between two looks at what sessions run.
pub(crate) const LOOKS_S: f64 = 0.5;

/// Looks again after each pause, until the end or a request to stop.
pub fn looking(
    reader: &mut dyn QueryReader,
    end: Instant,
    pause_s: f64,
    stop: &AtomicBool,
) -> Result<(), ServerError> {
    while Instant::now() < end && !stop.load(Ordering::Relaxed) {
        let left_s = end.saturating_duration_since(Instant::now()).as_secs_f64();
        signals::pause(left_s.min(pause_s), stop, || false);
        reader.look()?;
    }
    Ok(())
}
