//! Observations of a server over an interval.

mod blocked;

use blocked::{BlockedTimes, LOOK_S};
use command_line::signals;
use engine::{LiveObserver, Server, ServerError};
use observations::{ActivityRecord, ServerActivity};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Observes an interval. It ends early when `stop` is set, and when the server is lost.
///
/// # Errors
/// When the server was lost before anything was seen.
pub fn observe(
    observer: &mut dyn LiveObserver,
    seconds: f64,
    stop: &AtomicBool,
) -> Result<ServerActivity, ServerError> {
    let (begun, mut blocked) = (Instant::now(), BlockedTimes::default());
    loop {
        let left_s = seconds - begun.elapsed().as_secs_f64();
        if left_s <= 0.0 || stop.load(Ordering::Relaxed) || observer.is_lost() {
            break;
        }
        let started = Instant::now();
        signals::pause(left_s.min(LOOK_S), stop, || observer.is_lost());
        // A look that fails is the failure of the interval, which tells more.
        match observer.tasks() {
            Ok(Some(tasks)) => blocked.add(&tasks, started.elapsed().as_secs_f64()),
            Ok(None) => {}
            Err(_) => break,
        }
    }
    let mut activity = observer.window()?;
    activity.blocked = blocked.longest();
    if activity.ended.is_none() {
        match observer.tasks() {
            Ok(tasks) => activity.tasks = tasks,
            Err(error) => activity.ended = Some(error.to_string()),
        }
    }
    Ok(activity)
}

/// The record of an observation, which is not in a results file yet.
pub fn record(server: &dyn Server, started_ms: i64, activity: ServerActivity) -> ActivityRecord {
    let steelbench = env!("CARGO_PKG_VERSION").to_owned();
    ActivityRecord { id: 0, started_ms, steelbench, address: server.to_string(), activity }
}
