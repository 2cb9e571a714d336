//! The time of a load as actions beside it see it, and the load's transactions one by one.

use engine::{EngineError, SessionPart, lock};
use observe::Clock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;
use work::Cancel;

/// The interval at which a waiting action checks whether the trial is to stop.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// The interval at which an action checks whether the load has been divided.
const DIVIDED_EVERY: Duration = Duration::from_millis(1);

/// A transaction of an open loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timed {
    /// The intended start in nanoseconds.
    pub due_ns: u64,
    /// The end; `None`: it was skipped, or given up.
    pub end_ns: Option<u64>,
    /// The kind, by its position among those of the load; `None`: it was skipped.
    pub kind: Option<u32>,
}

/// A load as the actions beside it saw it, in nanoseconds of [`LoadClock::now_ns`].
#[derive(Debug, Default)]
pub struct LoadSeen {
    /// The transactions of the measurement, in the order in which they were due.
    pub transactions: Vec<Timed>,
    /// The parts of the measurement between the calls of [`LoadClock::divide`], which sum to the
    /// waits of the observations; empty where the engine's waits cannot be divided.
    pub parts: Vec<SessionPart>,
    /// The kind of transactions that the load is judged by, where that is not all of them.
    pub counted: Option<CountedKind>,
}

/// A kind of transactions that a load is judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountedKind {
    /// The position among the kinds of the load.
    pub kind: u32,
    /// The name in the plural: `new orders`.
    pub name: &'static str,
}

/// How often a load was to be divided, and how often it has been.
#[derive(Debug, Default)]
pub struct Divisions {
    requested: AtomicU32,
    done: AtomicU32,
}

impl Divisions {
    /// Asks for a division; returns how many there are then.
    pub fn want(&self) -> u32 {
        self.requested.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// How often the load has been divided.
    pub fn done(&self) -> u32 {
        self.done.load(Ordering::Relaxed)
    }

    /// Returns whether one is wanted.
    pub fn is_wanted(&self) -> bool {
        self.done() < self.requested.load(Ordering::Relaxed)
    }

    /// The load has been divided.
    pub fn note(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}

/// The time of a load, as actions beside it see it.
pub struct LoadClock<'a> {
    clock: &'a Clock,
    cancel: &'a Cancel,
    /// "Go" on the clock, once the measurement has begun.
    go_ns: Mutex<Option<u64>>,
    changed: Condvar,
    divisions: Arc<Divisions>,
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
            divisions: Arc::default(),
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

    /// Ends a part of the measurement and begins the next: the load's waits are divided here.
    /// Returns when that is done, or the load is over. One action of a trial may do so.
    pub fn divide(&self) {
        let count = self.divisions.want();
        while self.divisions.done() < count && !self.is_over() {
            std::thread::sleep(DIVIDED_EVERY);
        }
    }

    /// How often the load was and has been divided, as its threads read it.
    pub(crate) fn divisions(&self) -> &Arc<Divisions> {
        &self.divisions
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
