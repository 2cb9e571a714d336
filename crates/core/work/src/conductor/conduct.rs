//! The threads of a load from beginning to end: they get ready, warm up, go together and hand over
//! what they saw.

use super::live::{Counter, Reader};
use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{Builder, scope};
use std::time::{Duration, Instant};

/// The interval at which a director looks at its load, unless it wants to look sooner.
pub const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The gates that all lanes pass together: they are ready to warm up, and the measurement begins.
const READY: u32 = 1;
const GO: u32 = 2;

/// The conductor of a load: settles and observes its surroundings, and can stop it.
pub trait Director {
    /// All lanes have warmed up and wait: the measurement begins when this returns. False: the load
    /// stops here.
    fn go(&mut self) -> bool;
    /// Called ten times a second at least, also just before [`Director::go`]. Returns when to look
    /// again at the latest; `None`: the load stops.
    fn look(&mut self, now: &LoadProgress) -> Option<Duration>;
    /// Ends a part of the observation of the load and begins the next, where it can.
    fn divide(&mut self) {}
}

/// A director that lets everything happen.
impl Director for () {
    fn go(&mut self) -> bool {
        true
    }

    fn look(&mut self, _: &LoadProgress) -> Option<Duration> {
        Some(LOOK_EVERY)
    }
}

/// How a load advances.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadProgress {
    /// Seconds since the measurement began; negative before.
    pub elapsed_s: f64,
    /// Count of all lanes so far, including the warm-up where lanes count it.
    pub done: u64,
    /// 99th percentile of the latencies of the measurement, in nanoseconds; `None` before the
    /// first.
    pub latency_p99_ns: Option<u64>,
}

/// The last look at latencies.
#[derive(Debug, Default)]
struct LatencyLook {
    /// Second of the measurement.
    second: i64,
    p99_ns: Option<u64>,
}

/// Why a load did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Stopped by its director, or because another lane failed.
    #[error("stopped on request")]
    Stopped,
    /// A thread could not be started.
    #[error(
        "cannot start thread {number} of {threads}: {source}; use fewer threads or raise the \
         limit (ulimit -u)"
    )]
    Start {
        /// The number, from 1.
        number: usize,
        /// Threads of the load.
        threads: usize,
        /// The cause.
        source: std::io::Error,
    },
    /// A thread of the load or its director panicked: a defect of Steelbench.
    #[error("a load thread panicked: {0}")]
    Panicked(String),
}

impl LoadError {
    /// From what a panic was caught with.
    fn panicked(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        Self::Panicked(text.unwrap_or_else(|| "no message".into()))
    }
}

/// Live figures of a lane.
#[derive(Debug, Default)]
pub struct Live {
    /// Units of work done.
    pub done: Counter,
    /// Latencies of the measurement.
    pub latencies: OnceLock<Vec<Reader>>,
}

/// A load, without the work of its lanes.
#[derive(Debug, Clone, Copy)]
pub struct Lanes {
    /// Their number, each a thread.
    pub number: usize,
    /// Name of the threads, before their number.
    pub name: &'static str,
    /// Length of the warm-up.
    pub warmup: Duration,
}

/// A lane's view of the load.
#[derive(Debug)]
pub struct Stage<'a> {
    shared: &'a Shared,
    /// The number of the lane, from 0.
    pub lane: usize,
    /// The last gate that it has passed.
    passed: Cell<u32>,
}

/// State that the lanes share with the conducting thread.
#[derive(Debug)]
struct Shared {
    /// When the clock of the load was at 0.
    origin: Instant,
    /// All are to stop.
    stopped: AtomicBool,
    live: Vec<Live>,
    state: Mutex<State>,
    /// A gate has opened.
    opened: Condvar,
    /// All lanes wait for the director, or one has ended.
    called: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Lanes that wait at the next gate.
    waiting: usize,
    /// Gates that are open, and since when the last one is.
    open: u32,
    since_ns: u64,
    /// A lane wants the director to look now.
    wants_look: bool,
    /// Lanes that have ended, and the first of them that failed.
    ended: usize,
    cause: Option<Cause>,
}

/// Why lanes did not come to their end.
#[derive(Debug)]
enum Cause {
    /// The error that the lane with this number returned.
    Lane(usize),
    /// An error that no lane returned.
    Load(LoadError),
}

/// The work of a lane; returns whether it succeeded.
type Lane<'a> = &'a (dyn Fn(&Stage<'_>) -> bool + Sync);

impl Stage<'_> {
    /// Nanoseconds on the load's clock.
    #[inline]
    pub fn now_ns(&self) -> u64 {
        self.shared.now_ns()
    }

    /// Returns whether to stop.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.shared.stopped.load(Ordering::Relaxed)
    }

    /// Returns the live figures of this lane.
    #[inline]
    pub fn live(&self) -> &Live {
        &self.shared.live[self.lane]
    }

    /// Makes the director look now.
    pub fn call(&self) {
        self.shared.lock().wants_look = true;
        self.shared.called.notify_one();
    }

    /// Waits until all lanes are here: first when they are ready to warm up, then for the
    /// measurement, which the director lets begin; after that when they have to wait for each
    /// other. Returns when they went on, all at the same time on the load's clock.
    ///
    /// # Errors
    /// When the load stops instead.
    pub fn together(&self) -> Result<u64, LoadError> {
        let gate = self.passed.get() + 1;
        self.passed.set(gate);
        let mut state = self.shared.lock();
        state.waiting += 1;
        if state.waiting == self.shared.live.len() {
            if gate == GO {
                self.shared.called.notify_one();
            } else {
                self.shared.open(&mut state);
            }
        }
        let state = self
            .shared
            .opened
            .wait_while(state, |state| state.open < gate && !self.is_stopped())
            .unwrap_or_else(PoisonError::into_inner);
        if self.is_stopped() { Err(LoadError::Stopped) } else { Ok(state.since_ns) }
    }
}

impl Shared {
    fn new(lanes: usize) -> Self {
        Self {
            origin: Instant::now(),
            stopped: AtomicBool::new(false),
            live: (0..lanes).map(|_| Live::default()).collect(),
            state: Mutex::default(),
            opened: Condvar::new(),
            called: Condvar::new(),
        }
    }

    #[inline]
    fn now_ns(&self) -> u64 {
        self.origin.elapsed().as_nanos() as u64
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self, state: &mut State) {
        (state.open, state.waiting) = (state.open + 1, 0);
        state.since_ns = self.now_ns();
        self.opened.notify_all();
        self.called.notify_one();
    }

    /// Makes all lanes stop, those at a gate at once.
    fn stop(&self) {
        let _state = self.lock();
        self.stopped.store(true, Ordering::Relaxed);
        self.opened.notify_all();
    }

    /// Runs one lane. However it ends, the other lanes are notified.
    fn run(&self, number: usize, lane: Lane<'_>) {
        let stage = Stage { shared: self, lane: number, passed: Cell::new(0) };
        let cause = match catch_unwind(AssertUnwindSafe(|| lane(&stage))) {
            Ok(succeeded) => (!succeeded).then_some(Cause::Lane(number)),
            Err(panic) => Some(Cause::Load(LoadError::panicked(&*panic))),
        };
        if let Some(cause) = cause {
            self.lock().cause.get_or_insert(cause);
            self.stop();
        }
        self.lock().ended += 1;
        self.called.notify_one();
    }

    /// Leads these lanes, which are running already, to their end, unless the director stops them.
    /// If it panics, they are stopped too: no one else would open their gate.
    fn lead(
        &self,
        lanes: usize,
        warmup: Duration,
        director: &mut dyn Director,
    ) -> Result<(), LoadError> {
        match catch_unwind(AssertUnwindSafe(|| self.look_on(lanes, warmup, director))) {
            Ok(true) => Ok(()),
            Ok(false) => Err(LoadError::Stopped),
            Err(panic) => {
                self.stop();
                Err(LoadError::panicked(&*panic))
            }
        }
    }

    /// Watches the lanes; returns whether the director let them finish.
    fn look_on(&self, lanes: usize, warmup: Duration, director: &mut dyn Director) -> bool {
        let mut last = Instant::now();
        let (mut wait, mut looked_at, mut latency) = (LOOK_EVERY, 0, LatencyLook::default());
        let mut state = self.lock();
        while state.ended < lanes {
            let stopped = self.stopped.load(Ordering::Relaxed);
            let ready = state.open == READY && state.waiting == self.live.len();
            let is_wanted = std::mem::take(&mut state.wants_look);
            let due = ready || is_wanted || state.open != looked_at || last.elapsed() >= wait;
            if due && !stopped {
                (looked_at, last) = (state.open, Instant::now());
                let (open, since_ns) = (state.open, state.since_ns);
                drop(state);
                let next = director.look(&self.progress(open, since_ns, warmup, &mut latency));
                let Some(next) = next.filter(|_| !ready || director.go()) else {
                    self.stop();
                    return false;
                };
                wait = next.min(LOOK_EVERY);
                state = self.lock();
                if ready {
                    self.open(&mut state);
                }
            } else {
                let rest = if stopped { LOOK_EVERY } else { wait.saturating_sub(last.elapsed()) };
                let waited = self.called.wait_timeout(state, rest);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
        true
    }

    fn progress(
        &self,
        open: u32,
        since_ns: u64,
        warmup: Duration,
        latency: &mut LatencyLook,
    ) -> LoadProgress {
        let since_s = || (self.now_ns() - since_ns) as f64 / 1e9;
        let elapsed_s = match open {
            0 => -warmup.as_secs_f64(),
            READY => since_s() - warmup.as_secs_f64(),
            _ => since_s(),
        };
        // Adding up many lanes' latencies takes a millisecond: once a second is enough for the eye.
        let second = elapsed_s.floor() as i64;
        if second != latency.second {
            let readers = self.live.iter().filter_map(|live| live.latencies.get()).flatten();
            let all = Reader::sum(readers);
            let p99_ns = (!all.is_empty()).then(|| all.percentile_ns(99.0));
            *latency = LatencyLook { second, p99_ns };
        }
        let done = self.live.iter().map(|live| live.done.get()).sum();
        LoadProgress { elapsed_s, done, latency_p99_ns: latency.p99_ns }
    }
}

/// Runs lanes under a director; returns what each of them reports, in order.
///
/// # Errors
/// The first error of a lane, at which the others stop; that the director stopped them.
pub fn conduct<R: Send, E: From<LoadError> + Send>(
    lanes: Lanes,
    director: &mut dyn Director,
    lane: impl Fn(&Stage<'_>) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let results: Vec<Mutex<Option<Result<R, E>>>> =
        (0..lanes.number).map(|_| Mutex::default()).collect();
    let lock = |number: usize| results[number].lock().unwrap_or_else(PoisonError::into_inner);
    let ended = run_lanes(lanes, director, &|stage| {
        let result = lane(stage);
        let succeeded = result.is_ok();
        *lock(stage.lane) = Some(result);
        succeeded
    });
    match ended {
        Ok(()) => (0..lanes.number).filter_map(|number| lock(number).take()).collect(),
        Err(Cause::Lane(number)) => {
            let error = lock(number).take().and_then(Result::err);
            Err(error.unwrap_or_else(|| LoadError::Stopped.into()))
        }
        Err(Cause::Load(error)) => Err(error.into()),
    }
}

/// Runs lanes under a director, whatever their results: compiled once.
fn run_lanes(lanes: Lanes, director: &mut dyn Director, lane: Lane<'_>) -> Result<(), Cause> {
    let shared = Shared::new(lanes.number);
    let led = scope(|scope| {
        let mut started = 0;
        let mut refused = None;
        for number in 0..lanes.number {
            let shared = &shared;
            let builder = Builder::new().name(format!("{}-{}", lanes.name, number + 1));
            match builder.spawn_scoped(scope, move || shared.run(number, lane)) {
                Ok(_) => started += 1,
                Err(source) => {
                    let threads = lanes.number;
                    refused = Some(LoadError::Start { number: number + 1, threads, source });
                    shared.stop();
                    break;
                }
            }
        }
        let led = shared.lead(started, lanes.warmup, director);
        refused.map_or(led, Err)
    });
    let cause = shared.lock().cause.take();
    match (led, cause) {
        (Err(error @ (LoadError::Start { .. } | LoadError::Panicked(_))), _) => {
            Err(Cause::Load(error))
        }
        (_, Some(cause)) => Err(cause),
        (led, None) => led.map_err(Cause::Load),
    }
}

#[cfg(test)]
mod tests {
    use super::{Director, LOOK_EVERY, Lanes, LoadError, LoadProgress, Stage, conduct};
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    const FOUR: Lanes = Lanes { number: 4, name: "test", warmup: Duration::from_secs(7) };

    #[derive(Debug, thiserror::Error)]
    enum Failure {
        #[error(transparent)]
        Load(#[from] LoadError),
        #[error("lane {0}")]
        Lane(usize),
    }

    /// Records its notifications, returns `goes` for a start, and stops at the given one.
    struct Listener {
        goes: bool,
        stops_at: usize,
        progress: Vec<LoadProgress>,
    }

    impl Director for Listener {
        fn go(&mut self) -> bool {
            self.goes
        }

        fn look(&mut self, now: &LoadProgress) -> Option<Duration> {
            self.progress.push(*now);
            (self.progress.len() < self.stops_at).then_some(LOOK_EVERY)
        }
    }

    fn listener() -> Listener {
        Listener { goes: true, stops_at: usize::MAX, progress: Vec::new() }
    }

    /// Waits at a third gate, where only the end of the load can free it.
    fn hangs(stage: &Stage<'_>) -> Result<(), Failure> {
        stage.together()?;
        stage.together()?;
        while !stage.is_stopped() {
            std::thread::yield_now();
        }
        Err(LoadError::Stopped.into())
    }

    #[test]
    fn all_lanes_pass_each_gate_at_the_same_time_and_report_in_order() {
        let (warm, mut director) = (AtomicU32::new(0), listener());
        let reports = conduct(FOUR, &mut director, |stage| {
            let ready_ns = stage.together()?;
            warm.fetch_add(1, Ordering::Relaxed);
            let go_ns = stage.together()?;
            let warmed = warm.load(Ordering::Relaxed);
            stage.live().done.add(10);
            let done_ns = stage.together()?;
            Ok::<_, Failure>((stage.lane, warmed, [ready_ns, go_ns, done_ns]))
        });
        let reports = reports.unwrap();
        assert_eq!(reports.iter().map(|report| report.0).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert!(reports.iter().all(|report| report.1 == 4 && report.2 == reports[0].2));
        assert!(reports[0].2.is_sorted());
        // Notified when the warm-up began, and when all lanes had finished it.
        assert!(
            director.progress.iter().any(|now| (-7.0..-6.0).contains(&now.elapsed_s)),
            "{:?}",
            director.progress
        );
    }

    #[test]
    fn the_first_failure_ends_the_others_and_is_the_one_that_is_told() {
        assert_eq!(
            conduct(FOUR, &mut (), |stage| {
                if stage.lane == 2 {
                    stage.together()?;
                    return Err(Failure::Lane(stage.lane));
                }
                hangs(stage)
            })
            .unwrap_err()
            .to_string(),
            "lane 2"
        );
        let failure = conduct(FOUR, &mut (), |stage| {
            assert_ne!(stage.lane, 1, "on purpose");
            hangs(stage)
        })
        .unwrap_err()
        .to_string();
        assert!(
            failure.starts_with("a load thread panicked") && failure.contains("on purpose"),
            "{failure}"
        );
    }

    #[test]
    fn the_director_can_refuse_to_begin_and_stop_at_any_time() {
        let mut refuses = Listener { goes: false, ..listener() };
        let refused = conduct(FOUR, &mut refuses, hangs);
        assert!(matches!(refused, Err(Failure::Load(LoadError::Stopped))), "{refused:?}");
        for stops_at in 1..4 {
            let mut director = Listener { stops_at, ..listener() };
            let stopped = conduct(FOUR, &mut director, hangs);
            assert!(matches!(stopped, Err(Failure::Load(LoadError::Stopped))), "{stopped:?}");
            assert_eq!(director.progress.len(), stops_at);
        }
    }

    /// Panics instead of letting the load go.
    struct Clumsy;

    impl Director for Clumsy {
        fn go(&mut self) -> bool {
            panic!("cannot start a thread");
        }

        fn look(&mut self, _: &LoadProgress) -> Option<Duration> {
            Some(LOOK_EVERY)
        }
    }

    #[test]
    fn a_director_that_panics_leaves_nobody_at_a_gate() {
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || sender.send(conduct(FOUR, &mut Clumsy, hangs)));
        let ended =
            receiver.recv_timeout(Duration::from_secs(60)).expect("the lanes wait for ever");
        let failure = ended.unwrap_err().to_string();
        assert_eq!(failure, "a load thread panicked: cannot start a thread");
    }
}
