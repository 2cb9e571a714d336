//! Signals, and waiting until one comes.

use crate::{ExitCode, Failure};
use signal_hook::consts::{SIGABRT, SIGBUS, SIGHUP, SIGXFSZ, TERM_SIGNALS};
use signal_hook::flag::{register, register_conditional_shutdown};
use signal_hook::low_level;
use std::fs::File;
use std::io::{self, Write};
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The time after which a signal ends a pause.
const NAP: Duration = Duration::from_millis(50);

/// Message before an abort; the handler of memory exhaustion has printed the cause.
const ABORTED: &[u8] =
    b"error: stopped immediately; recorded trials are kept, and `run` resumes from them\n";

/// Message of a process whose memory-mapped file (SQLite's shared memory) has no block: a file
/// system that copies on write, such as btrfs, needs a new one for each change.
const UNMAPPED: &[u8] = b"error: a mapped file cannot be read or written, most likely because its \
                          disk is full; recorded trials are kept; free some space, and `run` \
                          resumes from them\n";

/// Writes the message and ends the process.
fn end(message: &[u8]) {
    // SAFETY: the descriptor is the process's standard error, which is not closed here.
    let mut stderr = ManuallyDrop::new(unsafe { File::from_raw_fd(2) });
    let _ = stderr.write_all(message);
    low_level::exit(ExitCode::Failed as i32);
}

/// Has the process end with a message and an exit code where it would be aborted: Rust does so when
/// memory for something small cannot be had, and the kernel when a mapped file has no block.
/// Nothing is left then to fail a trial with.
pub(crate) fn end_instead_of_abort() -> Result<(), Failure> {
    // SAFETY: as below.
    unsafe { low_level::register(SIGBUS, || end(UNMAPPED)) }
        .map_err(|error| cannot_handle(&error))?;
    // SAFETY: it allocates nothing and takes no lock: a system call that writes, and one that ends
    // the process.
    unsafe { low_level::register(SIGABRT, || end(ABORTED)) }
        .map(drop)
        .map_err(|error| cannot_handle(&error))
}

fn cannot_handle(error: &io::Error) -> Failure {
    Failure::failed(format!("cannot handle signals: {error}"))
}

/// Has a write beyond the limit for files (`ulimit -f`) fail with EFBIG: by default SIGXFSZ ends
/// the process without a message. A handler, unlike an ignored signal, is not inherited by the
/// programs that this one starts. Returns a flag that such a write sets.
pub(crate) fn survive_file_size_limit() -> Result<Arc<AtomicBool>, Failure> {
    let flag = Arc::new(AtomicBool::new(false));
    register(SIGXFSZ, flag.clone()).map(|_| flag).map_err(|error| cannot_handle(&error))
}

/// The first signal sets the flag, so that what was measured is kept; the second ends the process
/// at once.
pub fn stop_flag() -> Result<Arc<AtomicBool>, Failure> {
    stop_flag_on(TERM_SIGNALS)
}

/// Returns a stop flag that the end of the terminal sets, too: a mounted drive is then unmounted.
pub(crate) fn stop_flag_of_run() -> Result<Arc<AtomicBool>, Failure> {
    stop_flag_on(&[TERM_SIGNALS, &[SIGHUP]].concat())
}

fn stop_flag_on(signals: &[i32]) -> Result<Arc<AtomicBool>, Failure> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in signals {
        register_conditional_shutdown(*signal, ExitCode::Interrupted as i32, flag.clone())
            .and_then(|_| register(*signal, flag.clone()))
            .map_err(|error| cannot_handle(&error))?;
    }
    Ok(flag)
}

/// Waits for `seconds`, or until a signal comes or `is_over` returns true.
pub fn pause(seconds: f64, stop: &AtomicBool, is_over: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    while !stop.load(Ordering::Relaxed) && !is_over() {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        std::thread::sleep(left.min(NAP));
    }
}
