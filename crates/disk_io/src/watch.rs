//! How the thread that runs a load and its load threads find together.

use crate::Hooks;
use crate::load::Progress;
use crate::recorder::Live;
use crate::time::Clock;
use recorder::Reader;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often the live figures are told.
const TELL_EVERY: Duration = Duration::from_millis(100);

/// Load threads wait here until they may go on.
#[derive(Debug, Default)]
pub struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Closed,
    /// All go on; the time at which it was opened.
    Open(u64),
    /// All leave.
    Over,
}

impl Gate {
    /// Lets all go on.
    pub fn open(&self, at_ns: u64) {
        self.set(State::Open(at_ns));
    }

    /// Lets all leave.
    pub fn give_up(&self) {
        self.set(State::Over);
    }

    fn set(&self, state: State) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
        self.changed.notify_all();
    }

    /// When it was opened; `None`: leave.
    pub fn wait(&self) -> Option<u64> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = self.changed.wait_while(state, |state| *state == State::Closed);
        match *state.unwrap_or_else(PoisonError::into_inner) {
            State::Open(at_ns) => Some(at_ns),
            State::Closed | State::Over => None,
        }
    }
}

/// What a load thread tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// It waits at the next gate.
    Arrived,
    /// It has ended, in whatever way.
    Left,
}

/// Tells of the end of its thread, also when that panics.
#[derive(Debug)]
pub struct Presence(pub Sender<Event>);

impl Presence {
    /// The thread will wait at the next gate.
    pub fn arrive(&self) {
        // The receiver outlives the threads.
        let _ = self.0.send(Event::Arrived);
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        let _ = self.0.send(Event::Left);
    }
}

/// Looks after the load threads.
pub struct Watch<'a> {
    events: Receiver<Event>,
    threads: usize,
    left: usize,
    pub clock: &'a Clock,
    live: &'a [Live],
    /// When the measured part begins, as far as known.
    pub go_ns: u64,
    pub stop: &'a AtomicBool,
    told: Instant,
    /// The last look at latencies: the second of the measured part, and what it showed.
    latency_p99_ns: (i64, Option<u64>),
}

impl<'a> Watch<'a> {
    pub fn new(events: Receiver<Event>, clock: &'a Clock, live: &'a [Live], stop: &'a AtomicBool) -> Self {
        Self {
            events,
            threads: live.len(),
            left: 0,
            clock,
            live,
            go_ns: 0,
            stop,
            told: Instant::now(),
            latency_p99_ns: (0, None),
        }
    }

    /// Waits until each thread is at the next gate, or one has left, or all should stop.
    pub fn all_arrived(&mut self, hooks: &Hooks<'_>) -> bool {
        let mut arrived = 0;
        while arrived + self.left < self.threads {
            arrived += usize::from(self.next(hooks) == Some(Event::Arrived));
        }
        self.left == 0 && !self.stop.load(Ordering::Relaxed)
    }

    /// Waits until each thread has left.
    pub fn all_left(&mut self, hooks: &Hooks<'_>) {
        while self.left < self.threads {
            self.next(hooks);
        }
    }

    fn next(&mut self, hooks: &Hooks<'_>) -> Option<Event> {
        if self.told.elapsed() >= TELL_EVERY {
            self.told = Instant::now();
            self.tell(hooks);
        }
        match self.events.recv_timeout(TELL_EVERY.saturating_sub(self.told.elapsed())) {
            Ok(event) => {
                self.left += usize::from(event == Event::Left);
                Some(event)
            }
            Err(RecvTimeoutError::Timeout) => None,
            // Also where not all could be started.
            Err(RecvTimeoutError::Disconnected) => {
                self.left = self.threads;
                None
            }
        }
    }

    fn tell(&mut self, hooks: &Hooks<'_>) {
        if (hooks.stop)() {
            self.stop.store(true, Ordering::Relaxed);
        }
        let (mut ios, mut bytes) = (0, 0);
        for live in self.live {
            let [own_ios, own_bytes] = live.counts.get();
            (ios, bytes) = (ios + own_ios, bytes + own_bytes);
        }
        let elapsed_s = (self.clock.now_ns() as f64 - self.go_ns as f64) / 1e9;
        // Adding up many threads' latencies takes a millisecond: once a second is enough for the eye.
        let second = elapsed_s.floor() as i64;
        if second != self.latency_p99_ns.0 {
            let readers = self.live.iter().filter_map(|live| live.latencies.get()).flatten();
            let latency = Reader::sum(readers);
            let p99_ns = (!latency.is_empty()).then(|| latency.percentile_ns(99.0));
            self.latency_p99_ns = (second, p99_ns);
        }
        let latency_p99_ns = self.latency_p99_ns.1;
        (hooks.progress)(Progress { elapsed_s, ios, bytes, latency_p99_ns });
    }
}
