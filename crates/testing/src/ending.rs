//! The end of a server's process.

use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Longer than any server takes to end.
const LONG: Duration = Duration::from_secs(60);

/// Waits for a process that was asked to end; kills one that does not, as one that was stopped.
pub fn end(process: &mut Child) {
    let begun = Instant::now();
    while begun.elapsed() < LONG && matches!(process.try_wait(), Ok(None)) {
        sleep(Duration::from_millis(5));
    }
    let _ = process.kill();
    let _ = process.wait();
}
