//! Cost of one thread's calls: every call is counted, and calls slow enough to have waited are
//! split into CPU, resource and signal time.
//!
//! Reading the thread's CPU time and run-queue delay costs about a microsecond, too much for each
//! of the page copies that an inserted row makes. So a call is timed with two reads of the
//! processor's time stamp counter (through `quanta`, which uses the monotonic clock where the
//! counter is unreliable).
//!
//! Only a call longer than [`SLOW_NS`] also reads the thread's times and compares them with the
//! last reading: the wall time since then, less the time on a processor and in the run queue, was
//! spent suspended. Only a slow call can have been suspended for that long. The thread's totals are
//! exact; suspensions in fast calls (less than 20 us each) appear as unaccounted time.

use super::wait_type::{Event, WAIT_TYPES};

use observations::{Operation, Wait};
use observe::{ThreadClock, ThreadTimes};
use quanta::Clock;
use std::cell::RefCell;
use std::sync::LazyLock;

/// A call that took longer may have waited. A page copied from the page cache takes about 1 us.
const SLOW_NS: u64 = 20_000;

/// Suspended for less than this is noise of the three clocks, not a wait.
const SUSPENDED_NS_MIN: u64 = 3_000;

/// The counter and its calibration, which takes some milliseconds once.
static CLOCK: LazyLock<Clock> = LazyLock::new(Clock::new);

/// A reading of the counter, to be handed to [`call`] or [`slept`] when the call has ended.
#[inline]
pub fn stamp() -> u64 {
    CLOCK.raw()
}

thread_local! {
    static RECORDER: RefCell<Option<Box<Recorder>>> = const { RefCell::new(None) };
}

/// Calls and waits of one type.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    calls: u64,
    bytes: u64,
    wall_ns: u64,
    waits: u64,
    resource_ns: u64,
    signal_ns: u64,
}

/// The tallies of one thread, or of several added up.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tallies([Tally; Event::COUNT]);

struct Recorder {
    tallies: Tallies,
    clock: ThreadClock,
    read_at: u64,
    read: ThreadTimes,
    /// The lock whose refusal is being waited out, from the first sleep until it is granted.
    waiting_for: Option<Event>,
    /// The lock that was refused last.
    refused: Event,
}

/// Starts recording on this thread, from zero.
pub fn start() {
    let clock = ThreadClock::of_this_thread();
    let (read, read_at) = (clock.read(), stamp());
    let recorder = Recorder {
        tallies: Tallies::default(),
        clock,
        read_at,
        read,
        waiting_for: None,
        refused: Event::Sleep,
    };
    RECORDER.set(Some(Box::new(recorder)));
}

/// Stops recording on this thread and returns what was recorded since [`start`].
pub fn stop() -> Option<Tallies> {
    RECORDER.take().map(|recorder| recorder.tallies)
}

/// Takes what was recorded since [`start`] or the last call.
pub fn take() -> Option<Tallies> {
    RECORDER.with_borrow_mut(|recorder| Some(std::mem::take(&mut recorder.as_mut()?.tallies)))
}

/// Forgets time that the thread spent outside of the engine (waiting for the next arrival), so that
/// no call of the engine is blamed for it.
pub(crate) fn resynchronize() {
    with(Recorder::read_times);
}

/// A call of the given type ended; it began at `start`.
#[inline]
pub fn call(wait_type: Event, start: u64, bytes: u64) {
    with(|recorder| {
        let end = stamp();
        let wall_ns = CLOCK.delta_as_nanos(start, end);
        recorder.count(wait_type, bytes, wall_ns);
        if wall_ns >= SLOW_NS {
            recorder.slow_call(wait_type, wall_ns, end);
        }
    });
}

/// A lock was refused: the sleep that follows is a wait for it.
pub(crate) fn lock_refused(lock: Event) {
    with(|recorder| recorder.refused = lock);
}

/// A lock was granted: the wait for it, if there was one, is over.
pub(crate) fn lock_granted(lock: Event) {
    with(|recorder| {
        recorder.refused = Event::Sleep;
        if recorder.waiting_for == Some(lock) {
            recorder.waiting_for = None;
        }
    });
}

/// A sleep between two tries for the refused lock ended. All sleeps until the lock is granted
/// are one wait.
pub(crate) fn slept(start: u64) {
    with(|recorder| {
        let end = stamp();
        let wall_ns = CLOCK.delta_as_nanos(start, end);
        let lock = recorder.refused;
        recorder.count(lock, 0, wall_ns);
        let first = recorder.waiting_for != Some(lock);
        recorder.waiting_for = Some(lock);
        if recorder.slow_call(lock, wall_ns, end) && !first {
            recorder.tallies.0[lock as usize].waits -= 1;
        }
    });
}

#[inline]
fn with(action: impl FnOnce(&mut Recorder)) {
    RECORDER.with_borrow_mut(|recorder| {
        if let Some(recorder) = recorder {
            action(recorder);
        }
    });
}

impl Recorder {
    #[inline]
    fn count(&mut self, wait_type: Event, bytes: u64, wall_ns: u64) {
        let tally = &mut self.tallies.0[wait_type as usize];
        tally.calls += 1;
        tally.bytes += bytes;
        tally.wall_ns += wall_ns;
    }

    /// Splits a slow call; returns whether it was a wait.
    #[cold]
    fn slow_call(&mut self, wait_type: Event, wall_ns: u64, end: u64) -> bool {
        let (before, before_at) = (self.read, self.read_at);
        self.read_times();
        let used = self.read.since(before);
        let since_ns = CLOCK.delta_as_nanos(before_at, end);
        let suspended_ns = since_ns.saturating_sub(used.cpu_ns + used.run_delay_ns);
        if suspended_ns < SUSPENDED_NS_MIN {
            return false;
        }
        let resource_ns = suspended_ns.min(wall_ns);
        let tally = &mut self.tallies.0[wait_type as usize];
        tally.waits += 1;
        tally.resource_ns += resource_ns;
        tally.signal_ns += used.run_delay_ns.min(wall_ns - resource_ns);
        true
    }

    fn read_times(&mut self) {
        self.read = self.clock.read();
        self.read_at = stamp();
    }
}

impl Tallies {
    /// Adds another thread's tallies.
    pub fn add(&mut self, other: &Self) {
        for (sum, tally) in self.0.iter_mut().zip(&other.0) {
            sum.calls += tally.calls;
            sum.bytes += tally.bytes;
            sum.wall_ns += tally.wall_ns;
            sum.waits += tally.waits;
            sum.resource_ns += tally.resource_ns;
            sum.signal_ns += tally.signal_ns;
        }
    }

    /// The waits, without types that have no waits.
    pub fn waits(&self) -> Vec<Wait> {
        let waited = self.0.iter().zip(WAIT_TYPES).filter(|(tally, _)| tally.waits > 0);
        waited
            .filter_map(|(tally, info)| {
                let (resource_s, signal_s) = (seconds(tally.resource_ns), seconds(tally.signal_ns));
                Wait::counted(info.name, info.class, tally.waits, resource_s, signal_s)
            })
            .collect()
    }

    /// The operations, without types that have no calls.
    pub fn operations(&self) -> Vec<Operation> {
        let called = self.0.iter().zip(WAIT_TYPES).filter(|(tally, _)| tally.calls > 0);
        called
            .map(|(tally, info)| Operation {
                name: info.name.into(),
                count: tally.calls,
                bytes: tally.bytes,
                wall_s: seconds(tally.wall_ns),
            })
            .collect()
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}
