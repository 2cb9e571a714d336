//! Limits and interruption while a trial runs.

use engines::{Cancel, CancelReason, Instance};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Asks a run to stop at the next chance, resumably. Set by a signal handler.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl From<Arc<AtomicBool>> for Interrupt {
    /// An interruption that is requested by setting the flag, as signal handlers do.
    fn from(flag: Arc<AtomicBool>) -> Self {
        Self(flag)
    }
}

impl Interrupt {
    /// Whether somebody asked to stop.
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What a trial may not exceed.
#[derive(Debug, Clone)]
pub struct Limit {
    pub trial_deadline: Instant,
    pub run_deadline: Option<Instant>,
    pub disk_space_bytes: Option<u64>,
    /// Directories whose file systems must not fill up.
    pub folders: Vec<PathBuf>,
}

/// Below this much free space databases begin to fail in ways that no error code tells, and the
/// results file itself may not get its last trial.
pub const FREE_BYTES_MIN: u64 = 64 << 20;

const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Looking at space reads the file system: less often.
const SPACE_EVERY: Duration = Duration::from_millis(500);

/// Runs `work` while watching its limits; cancels it when one is exceeded. `instance` is the
/// target, once there is one.
pub fn watched<T>(
    limit: &Limit,
    cancel: &Cancel,
    interrupt: &Interrupt,
    instance: Option<&dyn Instance>,
    work: impl FnOnce() -> T,
) -> T {
    let (done, waiting) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut space_checked = Instant::now();
            while let Err(RecvTimeoutError::Timeout) = waiting.recv_timeout(LOOK_EVERY) {
                let mut reason = limit.exceeded(interrupt);
                if reason.is_none() && space_checked.elapsed() > SPACE_EVERY {
                    space_checked = Instant::now();
                    reason = limit.space_exceeded(instance).then_some(CancelReason::DiskSpace);
                }
                if let Some(reason) = reason {
                    cancel.cancel(reason);
                    return;
                }
            }
        });
        let result = work();
        drop(done);
        // Short work can be over before anybody has looked.
        if instance.is_some_and(|instance| limit.too_large(instance)) {
            cancel.cancel(CancelReason::DiskSpace);
        }
        result
    })
}

impl Limit {
    /// The limit on time that is exceeded, or the interruption.
    pub fn exceeded(&self, interrupt: &Interrupt) -> Option<CancelReason> {
        let now = Instant::now();
        if interrupt.requested() {
            Some(CancelReason::Interrupt)
        } else if self.run_deadline.is_some_and(|deadline| now >= deadline) {
            Some(CancelReason::RunTime)
        } else {
            (now >= self.trial_deadline).then_some(CancelReason::TrialTime)
        }
    }

    fn too_large(&self, instance: &dyn Instance) -> bool {
        self.disk_space_bytes.is_some_and(|limit| instance.space_bytes().is_some_and(|used| used > limit))
    }

    fn space_exceeded(&self, instance: Option<&dyn Instance>) -> bool {
        let too_large = instance.is_some_and(|instance| self.too_large(instance));
        let full = |folder: &PathBuf| {
            observe::environment::space(folder).is_some_and(|(_, free_bytes)| free_bytes < FREE_BYTES_MIN)
        };
        too_large || self.folders.iter().any(full)
    }
}
