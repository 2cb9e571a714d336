//! The time of a load as actions beside it see it, and the load's transactions one by one.

use engine::{EngineError, lock};
use observe::Clock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;
use work::Cancel;

/// The interval at which a waiting action checks whether the trial is to stop.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A transaction of an open loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timed {
    /// Its intended start in nanoseconds.
    pub due_ns: u64,
    /// Its end; `None`: it was skipped, or given up.
    pub end_ns: Option<u64>,
}

/// The time of a load, as actions beside it see it.
pub struct LoadClock<'a> {
    clock: &'a Clock,
    cancel: &'a Cancel,
    /// "Go" on the clock, once the measurement has begun.
    go_ns: Mutex<Option<u64>>,
    changed: Condvar,
    over: AtomicBool,
    failed: AtomicBool,
}

impl<'a> LoadClock<'a> {
    /// A clock before "go".
    pub fn new(clock: &'a Clock, cancel: &'a Cancel) -> Self {
        Self {
            clock,
            cancel,
            go_ns: Mutex::default(),
            changed: Condvar::new(),
            over: AtomicBool::new(false),
            failed: AtomicBool::new(false),
        }
    }

    /// Nanoseconds since the measurement began.
    pub fn now_ns(&self) -> u64 {
        self.clock.now_ns().saturating_sub(self.go_ns())
    }

    /// Waits until a time after "go", or until the load is over. Returns whether the load runs.
    ///
    /// # Errors
    /// When the trial is asked to stop.
    pub fn wait_until_ns(&self, then_ns: u64) -> Result<bool, EngineError> {
        while !self.is_over() {
            if self.cancel.is_cancelled() {
                return Err(EngineError::Cancelled);
            }
            let left_ns = then_ns.saturating_sub(self.now_ns());
            if left_ns == 0 {
                return Ok(true);
            }
            std::thread::sleep(LOOK_EVERY.min(Duration::from_nanos(left_ns)));
        }
        Ok(false)
    }

    /// Returns whether the load has ended.
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// "Go" on the clock; 0 before.
    pub(crate) fn go_ns(&self) -> u64 {
        lock(&self.go_ns).unwrap_or(0)
    }

    /// The measurement begins now.
    pub(crate) fn go(&self) {
        *lock(&self.go_ns) = Some(self.clock.now_ns());
        self.changed.notify_all();
    }

    /// The load is over.
    pub(crate) fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
        let _held = lock(&self.go_ns);
        self.changed.notify_all();
    }

    /// Waits for "go"; false when the load ends without it.
    pub(crate) fn has_begun(&self) -> bool {
        let go_ns = self
            .changed
            .wait_while(lock(&self.go_ns), |go_ns| go_ns.is_none() && !self.is_over())
            .unwrap_or_else(PoisonError::into_inner);
        go_ns.is_some()
    }

    /// An action has failed: the load stops.
    pub(crate) fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Returns whether an action has failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }
}
