//! The threads of a load, which work until its director says that a part is over.

use crate::outcome::{Outcome, ThreadOutcome};
use crate::plan::Plan;
use crate::run::{Load, SyncError};
use crate::samples::Samples;
use crate::tables::Table;
use crate::worker::{Apart, work};
use conductor::{Director, Lanes, LoadProgress, Stage, conduct};
use observe::ThreadClock;
use observe::topology::pin_this_thread;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The parts of a load, which only grow.
mod part {
    pub const WARM_UP: u32 = 0;
    pub const REST: u32 = 1;
    pub const MEASURE: u32 = 2;
    pub const OVER: u32 = 3;
}

/// Ends the parts by the clock, and counts operations by interval meanwhile.
struct Clockwork<'a> {
    director: &'a mut dyn Director,
    load: &'a Load,
    part: &'a AtomicU32,
    /// Operations by interval of the warm-up and of the measurement; what all were at the last interval's end.
    by_interval: [Vec<u64>; 2],
    counted: u64,
}

/// What a thread hands over.
struct Worked {
    began: Instant,
    ended: Instant,
    added: u64,
    outcome: ThreadOutcome,
}

impl Director for Clockwork<'_> {
    fn go(&mut self) -> bool {
        let goes = self.director.go();
        self.part.store(if goes { part::MEASURE } else { part::OVER }, Ordering::Release);
        goes
    }

    fn look(&mut self, now: &LoadProgress) -> Option<Duration> {
        let Some(next) = self.director.look(now) else {
            self.part.store(part::OVER, Ordering::Release);
            return None;
        };
        let warmup_s = self.load.warmup.as_secs_f64();
        let [warmup, measured] = &mut self.by_interval;
        let (amounts, elapsed_s, length_s, after) = match self.part.load(Ordering::Relaxed) {
            part::WARM_UP => (warmup, now.elapsed_s + warmup_s, warmup_s, part::REST),
            part::MEASURE => (measured, now.elapsed_s, self.load.duration.as_secs_f64(), part::OVER),
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

/// What the threads did, and how many additions that was, warm-up included.
pub fn conducted<T: Table>(
    load: &Load,
    table: &T,
    director: &mut dyn Director,
) -> Result<(Outcome, u64), SyncError> {
    let part = Apart(AtomicU32::new(part::WARM_UP));
    let lanes = Lanes { number: load.threads.max(1) as usize, name: "sync", warmup: load.warmup };
    let mut clockwork =
        Clockwork { director, load, part: &part.0, by_interval: [const { Vec::new() }; 2], counted: 0 };
    let worked = conduct(lanes, &mut clockwork, |stage| lane(load, table, &part.0, stage))?;
    let first = worked.iter().map(|worked| worked.began).min();
    let last = worked.iter().map(|worked| worked.ended).max();
    let added = worked.iter().map(|worked| worked.added).sum();
    let [warmup_by_interval, by_interval] = clockwork.by_interval;
    let outcome = Outcome {
        elapsed_s: first.zip(last).map_or(0.0, |(first, last)| (last - first).as_secs_f64()),
        threads: worked.into_iter().map(|worked| worked.outcome).collect(),
        warmup_by_interval,
        by_interval,
        added,
        sum: 0,
        shared_lines: None,
    };
    Ok((outcome, added))
}

/// The life of one thread.
fn lane<T: Table>(load: &Load, table: &T, part: &AtomicU32, stage: &Stage<'_>) -> Result<Worked, SyncError> {
    if let Some(&cpu) = load.cpus.get(stage.lane) {
        pin_this_thread(cpu).map_err(|source| SyncError::Pin { cpu, source })?;
    }
    let plan = Plan::draw(load.seed, stage.lane as u64, load.members as usize, load.reads);
    let clock = ThreadClock::of_this_thread();
    let work_in = |own: u32, samples: &mut Samples| {
        let stop = || part.load(Ordering::Relaxed) != own;
        work(table, stage.lane, &plan, samples, &stage.live().done, stop)
    };
    stage.together()?;
    let warmup = work_in(part::WARM_UP, &mut Samples::new());
    let mut samples = Samples::new();
    stage.together()?;
    let (began, before) = (Instant::now(), clock.usage());
    let operations = work_in(part::MEASURE, &mut samples);
    let used = clock.usage().since(before);
    let ended = Instant::now();
    Ok(Worked {
        began,
        ended,
        added: plan.adds_in(warmup) + plan.adds_in(operations),
        outcome: ThreadOutcome {
            operations,
            elapsed_s: (ended - began).as_secs_f64(),
            used,
            operation: samples.operation,
            acquire: samples.acquire,
        },
    })
}
