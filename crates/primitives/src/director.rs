//! The threads of a load from beginning to end.

use crate::outcome::{Outcome, ThreadOutcome};
use crate::plan::Plan;
use crate::run::{Hooks, Load, Progress, SyncError};
use crate::samples::Samples;
use crate::switches::Switches;
use crate::tables::Table;
use crate::worker::{Apart, work};
use observe::ThreadClock;
use observe::topology::pin_this_thread;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, ScopedJoinHandle, park, scope, sleep};
use std::time::{Duration, Instant};

/// How often progress is reported and a request to stop is looked for.
const TICK: Duration = Duration::from_millis(100);
/// How often the director looks whether all threads have come to rest.
const LOOK: Duration = Duration::from_micros(200);

/// The phases of a load, which only grow.
mod phase {
    pub const BEGIN: u32 = 0;
    pub const WARM_UP: u32 = 1;
    pub const REST: u32 = 2;
    pub const MEASURE: u32 = 3;
    pub const OVER: u32 = 4;
}

/// What the threads and the one that directs them share.
pub struct Director<'a, T> {
    load: &'a Load,
    table: &'a T,
    phase: Apart<AtomicU32>,
    /// Operations of each thread, of which only that thread writes.
    counts: Vec<Apart<AtomicU64>>,
    /// How often a thread has come to rest.
    arrivals: AtomicU32,
    pin_error: Mutex<Option<SyncError>>,
}

/// What a thread hands over.
struct Worked {
    began: Instant,
    ended: Instant,
    added: u64,
    outcome: ThreadOutcome,
}

impl<'a, T: Table> Director<'a, T> {
    pub fn new(load: &'a Load, table: &'a T) -> Self {
        let mut counts = Vec::new();
        counts.resize_with(load.threads.max(1) as usize, Apart::default);
        let phase = Apart(AtomicU32::new(phase::BEGIN));
        Self { load, table, phase, counts, arrivals: AtomicU32::new(0), pin_error: Mutex::default() }
    }

    /// What the threads did, and how many additions that was, warm-up included.
    pub fn run(&self, mut hooks: Hooks<'_>) -> Result<(Outcome, u64), SyncError> {
        scope(|scope| {
            let mut threads = Vec::new();
            let mut started = Ok(());
            for number in 0..self.counts.len() {
                let builder = Builder::new().name(format!("sync-{}", number + 1));
                match builder.spawn_scoped(scope, move || self.thread(number)) {
                    Ok(thread) => threads.push(thread),
                    Err(source) => {
                        started = Err(SyncError::Start { number: number + 1, source });
                        break;
                    }
                }
            }
            let directed = started.and_then(|()| self.direct(&threads, &mut hooks));
            self.enter(phase::OVER, &threads);
            let worked: Option<Vec<Worked>> = threads.into_iter().map(|thread| thread.join().ok()).collect();
            let (worked, (warmup, measured)) = (worked.ok_or(SyncError::Panicked)?, directed?);
            Ok(together(worked, warmup, measured))
        })
    }

    /// Takes the threads through the phases; returns operations by interval of the warm-up and of the measured part.
    fn direct(
        &self,
        threads: &[ScopedJoinHandle<'_, Worked>],
        hooks: &mut Hooks<'_>,
    ) -> Result<(Vec<u64>, Vec<u64>), SyncError> {
        self.until_rest(1, threads)?;
        if let Some(error) = self.pin_error.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(error);
        }
        self.enter(phase::WARM_UP, threads);
        let warmup = self.watch(self.load.warmup, -self.load.warmup.as_secs_f64(), hooks)?;
        self.enter(phase::REST, threads);
        self.until_rest(2, threads)?;
        (hooks.go)();
        self.enter(phase::MEASURE, threads);
        let measured = self.watch(self.load.duration, 0.0, hooks)?;
        Ok((warmup, measured))
    }

    fn enter(&self, phase: u32, threads: &[ScopedJoinHandle<'_, Worked>]) {
        self.phase.0.store(phase, Ordering::Release);
        for thread in threads {
            thread.thread().unpark();
        }
    }

    /// Waits until every thread has come to rest so many times.
    fn until_rest(&self, times: u32, threads: &[ScopedJoinHandle<'_, Worked>]) -> Result<(), SyncError> {
        while self.arrivals.load(Ordering::Acquire) < times * threads.len() as u32 {
            if threads.iter().any(ScopedJoinHandle::is_finished) {
                return Err(SyncError::Panicked);
            }
            sleep(LOOK);
        }
        Ok(())
    }

    /// Watches the threads for so long; returns operations by interval.
    fn watch(&self, length: Duration, from_s: f64, hooks: &Hooks<'_>) -> Result<Vec<u64>, SyncError> {
        let start = Instant::now();
        let mut amounts = Vec::new();
        let (mut counted, mut due) = (self.operations(), self.load.interval);
        loop {
            let elapsed = start.elapsed();
            if elapsed >= due || elapsed >= length {
                let now = self.operations();
                amounts.push(now - counted);
                (counted, due) = (now, due + self.load.interval);
            }
            if elapsed >= length {
                return Ok(amounts);
            }
            if (hooks.stop)() {
                return Err(SyncError::Stopped);
            }
            let elapsed_s = from_s + elapsed.as_secs_f64();
            (hooks.progress)(Progress { elapsed_s, operations: self.operations() });
            sleep(TICK.min(length.saturating_sub(elapsed)).min(due.saturating_sub(elapsed)));
        }
    }

    fn operations(&self) -> u64 {
        self.counts.iter().map(|count| count.0.load(Ordering::Relaxed)).sum()
    }

    /// Says that this thread has come to rest, and waits for a phase.
    fn rest_until(&self, phase: u32) {
        self.arrivals.fetch_add(1, Ordering::Release);
        while self.phase.0.load(Ordering::Acquire) < phase {
            park();
        }
    }

    /// The life of one thread.
    fn thread(&self, number: usize) -> Worked {
        let load = self.load;
        if let Some(&cpu) = load.cpus.get(number)
            && let Err(source) = pin_this_thread(cpu)
        {
            let mut error = self.pin_error.lock().unwrap_or_else(PoisonError::into_inner);
            *error = Some(SyncError::Pin { cpu, source });
        }
        let plan = Plan::draw(load.seed, number as u64, load.members as usize, load.reads);
        let clock = ThreadClock::of_this_thread();
        let count = &self.counts[number].0;
        let work_in = |own: u32, samples: &mut Samples| {
            let stop = || self.phase.0.load(Ordering::Relaxed) != own;
            work(self.table, number, &plan, samples, count, stop)
        };
        self.rest_until(phase::WARM_UP);
        let warmup = work_in(phase::WARM_UP, &mut Samples::new());
        let mut samples = Samples::new();
        self.rest_until(phase::MEASURE);
        let (began, times, switches) = (Instant::now(), clock.read(), Switches::of_this_thread());
        let operations = work_in(phase::MEASURE, &mut samples);
        let (switches, times) = (Switches::of_this_thread().since(switches), clock.read().since(times));
        let ended = Instant::now();
        Worked {
            began,
            ended,
            added: plan.adds_in(warmup) + plan.adds_in(operations),
            outcome: ThreadOutcome {
                operations,
                elapsed_s: (ended - began).as_secs_f64(),
                times,
                voluntary_switches: switches.voluntary,
                involuntary_switches: switches.involuntary,
                operation: samples.operation,
                acquire: samples.acquire,
            },
        }
    }
}

fn together(worked: Vec<Worked>, warmup: Vec<u64>, measured: Vec<u64>) -> (Outcome, u64) {
    let first = worked.iter().map(|worked| worked.began).min();
    let last = worked.iter().map(|worked| worked.ended).max();
    let added = worked.iter().map(|worked| worked.added).sum();
    let outcome = Outcome {
        elapsed_s: first.zip(last).map_or(0.0, |(first, last)| (last - first).as_secs_f64()),
        threads: worked.into_iter().map(|worked| worked.outcome).collect(),
        warmup_by_interval: warmup,
        by_interval: measured,
        added,
        sum: 0,
        shared_lines: None,
    };
    (outcome, added)
}
