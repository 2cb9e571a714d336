//! The measured loop, the steps that it goes through (drawn before it begins), and what it samples
//! of them.

use crate::primitives::tables::Table;
use observations::Histogram;
use quanta::Clock;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::hint::black_box;
use work::conductor::Counter;

/// Steps of a plan, which is gone through again and again: 8 KiB, a part of the first cache.
const STEPS: usize = 4096;
/// Steps between looks at whether to stop.
const BATCH: usize = 16;
/// Most members of a table.
pub const MEMBERS_MAX: usize = 1 << 15;
/// The bit of a step that says: read.
const READ: u16 = 1 << 15;

/// The steps of one thread.
#[derive(Debug)]
pub struct Plan {
    steps: Box<[Step]>,
    /// The number of additions among the steps before each position.
    adds_before: Vec<u64>,
}

/// A step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step(u16);

impl Step {
    #[inline]
    pub fn member(self) -> usize {
        usize::from(self.0 & !READ)
    }

    #[inline]
    pub fn reads(self) -> bool {
        self.0 & READ != 0
    }
}

impl Plan {
    /// Members at random, all alike; a share of the steps reads.
    pub fn draw(seed: u64, thread: u64, members: usize, reads: f64) -> Self {
        // The golden ratio times 2^64, as generators use it to tell streams apart (G. L. Steele et
        // al., "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014).
        let mut random = Xoshiro256PlusPlus::seed_from_u64(
            seed ^ (thread + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15),
        );
        let (mut steps, mut adds_before) = (Vec::with_capacity(STEPS), vec![0]);
        for before in 0..STEPS {
            let member = random.random_range(0..members.clamp(1, MEMBERS_MAX)) as u16;
            let step = Step(if random.random_bool(reads.clamp(0.0, 1.0)) {
                member | READ
            } else {
                member
            });
            adds_before.push(adds_before[before] + u64::from(!step.reads()));
            steps.push(step);
        }
        Self { steps: steps.into(), adds_before }
    }

    /// The steps in batches.
    #[inline]
    pub fn batches(&self) -> impl Iterator<Item = &[Step; BATCH]> {
        self.steps.as_chunks::<BATCH>().0.iter()
    }

    /// Counts the additions among the first `operations`.
    pub fn adds_in(&self, operations: u64) -> u64 {
        let (passes, rest) = (operations / STEPS as u64, operations % STEPS as u64);
        passes * self.adds_before[STEPS] + self.adds_before[rest as usize]
    }
}

/// Operations for each timed operation. Two or three readings of the clock, each of some 20 ns,
/// cost an operation 0.02 ns on average: 2 % of the fastest one, and a negligible share of one that
/// waits.
pub const SAMPLED_EVERY: usize = STEPS;

/// Times of the operations of one thread.
#[derive(Debug)]
pub struct Samples {
    clock: Clock,
    /// Time between two consecutive clock readings.
    look_ns: u64,
    /// From begin to end.
    pub operation: Histogram,
    /// From begin until the lock was got, where there is one.
    pub acquire: Histogram,
}

impl Samples {
    pub fn new() -> Self {
        let clock = Clock::new();
        let look_ns = (0..1000)
            .map(|_| {
                let before = clock.raw();
                clock.delta_as_nanos(before, clock.raw())
            })
            .min()
            .unwrap_or(0);
        Self { clock, look_ns, operation: Histogram::default(), acquire: Histogram::default() }
    }

    /// Times an operation, which says when it has got its lock.
    #[inline]
    pub fn take<R>(&mut self, operation: impl FnOnce(&mut dyn FnMut()) -> R) -> R {
        let mut acquired = None;
        let start = self.clock.raw();
        let result = operation(&mut || acquired = Some(self.clock.raw()));
        let end = self.clock.raw();
        let since_start =
            |then| self.clock.delta_as_nanos(start, then).saturating_sub(self.look_ns);
        if let Some(acquired) = acquired {
            self.acquire.record(since_start(acquired));
            // One look more lies within.
            self.operation.record(since_start(end).saturating_sub(self.look_ns));
        } else {
            self.operation.record(since_start(end));
        }
        result
    }
}

/// Goes through the plan until `stop` says so; returns the number of operations done.
///
/// Touches only the table, its own plan, its own count (which the reporter reads) and a flag that
/// is not written before the end.
pub fn work<T: Table>(
    table: &T,
    thread: usize,
    plan: &Plan,
    samples: &mut Samples,
    count: &Counter,
    stop: impl Fn() -> bool,
) -> u64 {
    let before = count.get();
    let mut done = 0;
    loop {
        for (number, batch) in plan.batches().enumerate() {
            let mut plain = &batch[..];
            if number == 0 {
                samples.take(|acquired| apply(table, thread, batch[0], acquired));
                plain = &batch[1..];
            }
            for step in plain {
                apply(table, thread, *step, || ());
            }
            done += BATCH as u64;
            count.set(before + done);
            if stop() {
                return done;
            }
        }
    }
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "a call in the measured loop would be measured")]
fn apply<T: Table>(table: &T, thread: usize, step: Step, acquired: impl FnOnce()) {
    if step.reads() {
        black_box(table.read(thread, step.member(), acquired));
    } else {
        table.add(thread, step.member(), acquired);
    }
}

#[cfg(test)]
mod tests {
    use super::{MEMBERS_MAX, Plan, STEPS, Step};

    fn steps(plan: &Plan) -> Vec<Step> {
        plan.batches().flatten().copied().collect()
    }

    #[test]
    fn additions_are_counted_as_the_steps_have_them() {
        let plan = Plan::draw(7, 0, 10, 0.3);
        let steps = steps(&plan);
        assert_eq!(steps.len(), STEPS);
        for operations in [0, 1, 17, 4095, 4096, 4097, 10_000] {
            let counted = (0..operations).filter(|i| !steps[i % STEPS].reads()).count();
            assert_eq!(plan.adds_in(operations as u64), counted as u64);
        }
        assert!(steps.iter().all(|step| step.member() < 10));
        assert!((0..10).all(|member| steps.iter().any(|step| step.member() == member)));
    }

    #[test]
    fn the_share_of_reads_is_kept_and_threads_differ() {
        assert_eq!(Plan::draw(1, 0, 1, 0.0).adds_in(STEPS as u64), STEPS as u64);
        assert_eq!(Plan::draw(1, 0, 1, 1.0).adds_in(STEPS as u64), 0);
        // Five standard deviations of a binomial with 4096 draws.
        let adds = Plan::draw(1, 3, 4, 0.9).adds_in(STEPS as u64) as f64;
        assert!((adds - 409.6).abs() < 5.0 * (4096.0_f64 * 0.09).sqrt(), "{adds}");
        let drawn = |seed, thread| steps(&Plan::draw(seed, thread, MEMBERS_MAX, 0.5));
        assert_eq!(drawn(1, 0), drawn(1, 0));
        assert_ne!(drawn(1, 0), drawn(1, 1));
        assert_ne!(drawn(1, 0), drawn(2, 0));
    }
}
