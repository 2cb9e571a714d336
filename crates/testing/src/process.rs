//! The beginning and the end of a server's process.

use std::fmt::Display;
use std::path::Path;
use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Longer than any server takes to begin or to end.
pub const LONG: Duration = Duration::from_secs(60);

/// Waits until a server lets clients in. Fails with its log where it does not, or ends.
pub fn wait_for<C, E: Display>(
    process: &mut Child,
    log: &Path,
    connect: impl Fn() -> Result<C, E>,
) {
    let end = Instant::now() + LONG;
    while let Err(error) = connect() {
        let log = std::fs::read_to_string(log).unwrap();
        assert!(Instant::now() < end, "{error}\n{log}");
        let ended = process.try_wait().unwrap();
        assert!(ended.is_none(), "{log}");
        sleep(Duration::from_millis(20));
    }
}

/// Waits for a process that was asked to end; kills one that does not, as one that was stopped.
pub fn end(process: &mut Child) {
    let begun = Instant::now();
    while begun.elapsed() < LONG && matches!(process.try_wait(), Ok(None)) {
        sleep(Duration::from_millis(5));
    }
    let _ = process.kill();
    let _ = process.wait();
}
