//! Running a load: from its settings to the table under it, its threads, and the check of what it
//! counted.

use crate::primitives::outcome::{Outcome, ThreadOutcome};
use crate::primitives::padding::{OneLine, Packed, TwoLines};
use crate::primitives::spin::{Mcs, TestAndSet, TestAndTestAndSet, Ticket};
use crate::primitives::tables::{
    Array, Atomic, Cas, Counter, Map, PerCore, PerThread, Racy, Spinning, Table,
};
use crate::primitives::topology::pin_this_thread;
use crate::primitives::worker::{Plan, Samples, work};
use crate::primitives::{Padding, Primitive};
use dashmap::DashMap;
use observe::ThreadClock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, RwLock};
use std::time::Duration;
use work::conductor::{Director, Lanes, LoadError, LoadProgress, Stage, conduct};

/// A load of threads.
#[derive(Debug, Clone)]
pub struct Load {
    /// Primitive that guards the counters.
    pub primitive: Primitive,
    /// Number of threads.
    pub threads: u32,
    /// Number of counters, at most [`crate::primitives::MEMBERS_MAX`].
    pub members: u32,
    /// The distance between these, where the primitive lets us choose.
    pub padding: Padding,
    /// The share of operations that read, 0 to 1.
    pub reads: f64,
    /// The processor of each thread; empty: where the scheduler likes.
    pub cpus: Vec<u32>,
    /// Length of the load before the measurement.
    pub warmup: Duration,
    /// Length of the measurement.
    pub duration: Duration,
    /// Length of the intervals of figures over time.
    pub interval: Duration,
    /// Seed of what is drawn.
    pub seed: u64,
}

/// Why a load has nothing to report.
#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    /// A thread could not be bound to its processor.
    #[error("cannot pin a thread to CPU {cpu}: {source}; set workload.pinning = \"none\"")]
    Pin {
        /// The kernel's number of the processor.
        cpu: u32,
        /// The cause.
        source: std::io::Error,
    },
    /// The table does not hold what was added: the primitive is wrong, and with it every figure of
    /// it.
    #[error("{primitive} lost updates: {added} were made, the sum is {sum}; please report this")]
    WrongSum {
        /// Name of the primitive.
        primitive: &'static str,
        /// Additions made.
        added: u64,
        /// Sum in the table.
        sum: u64,
    },
    /// The threads did not come to their end.
    #[error(transparent)]
    Load(#[from] LoadError),
}

impl From<SyncError> for probe::ProbeError {
    fn from(error: SyncError) -> Self {
        Self::study(error)
    }
}

/// Runs a load: warm-up, measurement, check of the sums.
///
/// # Errors
/// When a thread cannot be started or pinned, when it is asked to stop, or when a sum is wrong.
pub fn run(load: &Load, director: &mut dyn Director) -> Result<Outcome, SyncError> {
    let (members, threads) = (load.members as usize, load.threads as usize);
    let entries = (0..members).map(|member| (member, 0));
    match load.primitive {
        Primitive::MutexMap => on(&Mutex::new(entries.collect::<Map>()), load, director),
        Primitive::RwLockMap => on(&RwLock::new(entries.collect::<Map>()), load, director),
        Primitive::ConcurrentMap => on(&entries.collect::<DashMap<_, _>>(), load, director),
        Primitive::MutexArray => on_array::<Mutex<u64>>(load, director),
        Primitive::SpinTas => on_array::<Spinning<TestAndSet>>(load, director),
        Primitive::SpinTtas => on_array::<Spinning<TestAndTestAndSet>>(load, director),
        Primitive::SpinTicket => on_array::<Spinning<Ticket>>(load, director),
        Primitive::SpinMcs => on_array::<Spinning<Mcs>>(load, director),
        Primitive::Racy => on_array::<Racy>(load, director),
        Primitive::Atomic => on_array::<Atomic>(load, director),
        Primitive::Cas => on_array::<Cas>(load, director),
        Primitive::AtomicShared => {
            let load = Load { members: 1, padding: Padding::TwoLines, ..load.clone() };
            on_array::<Atomic>(&load, director)
        }
        Primitive::PerCore => on(&PerCore::new(members), load, director),
        Primitive::PerThread => on(&PerThread::new(members, threads), load, director),
    }
}

fn on_array<C: Counter>(load: &Load, director: &mut dyn Director) -> Result<Outcome, SyncError> {
    let (members, threads) = (load.members as usize, load.threads as usize);
    match load.padding {
        Padding::None => on(&Array::<Packed<C>>::new(members, threads), load, director),
        Padding::Line => on(&Array::<OneLine<C>>::new(members, threads), load, director),
        Padding::TwoLines => on(&Array::<TwoLines<C>>::new(members, threads), load, director),
    }
}

/// Runs the threads on a table and compares what it holds with what they did.
fn on<T: Table>(table: &T, load: &Load, director: &mut dyn Director) -> Result<Outcome, SyncError> {
    let part = Part(AtomicU32::new(Part::WARM_UP));
    // Compiled once and not once per table: only the measured loop has to know its table.
    let worked =
        conduct_lanes(load, director, &part.0, &|stage| lane(load, table, &part.0, stage))?;
    let sum = (0..load.members as usize).map(|member| table.read(0, member, || ())).sum();
    worked.into_outcome(load, sum, table.shared_lines())
}

/// Runs the lanes of a load under its director.
fn conduct_lanes(
    load: &Load,
    director: &mut dyn Director,
    part: &AtomicU32,
    lane: &(dyn Fn(&Stage<'_>) -> Result<Work, SyncError> + Sync),
) -> Result<AllWorked, SyncError> {
    let lanes = Lanes { number: load.threads.max(1) as usize, name: "sync", warmup: load.warmup };
    let mut clockwork =
        Clockwork { director, load, part, by_interval: [const { Vec::new() }; 2], counted: 0 };
    let lanes = conduct(lanes, &mut clockwork, lane)?;
    Ok(AllWorked { lanes, by_interval: clockwork.by_interval })
}

/// The results of all threads.
struct AllWorked {
    lanes: Vec<Work>,
    /// Operations by interval of the warm-up and of the measurement.
    by_interval: [Vec<u64>; 2],
}

impl AllWorked {
    /// Compares the additions with the sum that the table holds.
    fn into_outcome(
        self,
        load: &Load,
        sum: u64,
        shared_lines: Option<u32>,
    ) -> Result<Outcome, SyncError> {
        let began_ns = self.lanes.iter().map(|worked| worked.began_ns).min().unwrap_or(0);
        let ended_ns = self.lanes.iter().map(|worked| worked.ended_ns).max().unwrap_or(0);
        let added = self.lanes.iter().map(|worked| worked.added).sum();
        let right = if load.primitive.loses() { sum <= added } else { sum == added };
        if !right {
            return Err(SyncError::WrongSum { primitive: load.primitive.name(), added, sum });
        }
        let [warmup_by_interval, by_interval] = self.by_interval;
        Ok(Outcome {
            elapsed_s: (ended_ns - began_ns) as f64 / 1e9,
            threads: self.lanes.into_iter().map(|worked| worked.outcome).collect(),
            warmup_by_interval,
            by_interval,
            added,
            sum,
            shared_lines,
        })
    }
}

/// The part of a load that its threads are in, on lines of its own. It only grows.
#[repr(align(128))]
struct Part(AtomicU32);

impl Part {
    const WARM_UP: u32 = 0;
    const REST: u32 = 1;
    const MEASURE: u32 = 2;
    const OVER: u32 = 3;
}

/// Ends the parts by the clock, and counts their operations by interval.
struct Clockwork<'a> {
    director: &'a mut dyn Director,
    load: &'a Load,
    part: &'a AtomicU32,
    /// Operations by interval of the warm-up and of the measurement; what all were at the last
    /// interval's end.
    by_interval: [Vec<u64>; 2],
    counted: u64,
}

impl Director for Clockwork<'_> {
    fn go(&mut self) -> bool {
        let goes = self.director.go();
        self.part.store(if goes { Part::MEASURE } else { Part::OVER }, Ordering::Release);
        goes
    }

    fn look(&mut self, now: &LoadProgress) -> Option<Duration> {
        let Some(next) = self.director.look(now) else {
            self.part.store(Part::OVER, Ordering::Release);
            return None;
        };
        let warmup_s = self.load.warmup.as_secs_f64();
        let [warmup, measured] = &mut self.by_interval;
        let (amounts, elapsed_s, length_s, after) = match self.part.load(Ordering::Relaxed) {
            Part::WARM_UP => (warmup, now.elapsed_s + warmup_s, warmup_s, Part::REST),
            Part::MEASURE => {
                (measured, now.elapsed_s, self.load.duration.as_secs_f64(), Part::OVER)
            }
            _ => {
                // The rest of the warm-up is in no interval.
                self.counted = now.done;
                return Some(next);
            }
        };
        let due_s = self.load.interval.as_secs_f64() * (amounts.len() + 1) as f64;
        let over = elapsed_s >= length_s;
        if over || elapsed_s >= due_s {
            amounts.push(now.done - self.counted);
            self.counted = now.done;
        }
        if over {
            self.part.store(after, Ordering::Release);
        }
        let rest_s = (due_s.min(length_s) - elapsed_s).max(0.0);
        Some(next.min(Duration::from_secs_f64(rest_s)))
    }
}

/// A thread's result.
struct Work {
    began_ns: u64,
    ended_ns: u64,
    added: u64,
    outcome: ThreadOutcome,
}

/// The life of one thread.
fn lane<T: Table>(
    load: &Load,
    table: &T,
    part: &AtomicU32,
    stage: &Stage<'_>,
) -> Result<Work, SyncError> {
    if let Some(&cpu) = load.cpus.get(stage.lane) {
        pin_this_thread(cpu).map_err(|source| SyncError::Pin { cpu, source })?;
    }
    let plan = Plan::draw(load.seed, stage.lane as u64, load.members as usize, load.reads);
    let clock = ThreadClock::of_this_thread();
    let work_in = |round: u32, samples: &mut Samples| {
        work(table, stage.lane, &plan, samples, &stage.live().done, || {
            part.load(Ordering::Relaxed) != round
        })
    };
    stage.together()?;
    let warmup = work_in(Part::WARM_UP, &mut Samples::new());
    let mut samples = Samples::new();
    stage.together()?;
    let (began_ns, before) = (stage.now_ns(), clock.usage());
    let operations = work_in(Part::MEASURE, &mut samples);
    let used = clock.usage().since(before);
    let ended_ns = stage.now_ns();
    Ok(Work {
        began_ns,
        ended_ns,
        added: plan.adds_in(warmup) + plan.adds_in(operations),
        outcome: ThreadOutcome {
            operations,
            elapsed_s: (ended_ns - began_ns) as f64 / 1e9,
            used,
            operation: samples.operation,
            acquire: samples.acquire,
        },
    })
}
