//! What a thread does, drawn before it begins: the measured loop draws nothing.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Steps of a plan, which is gone through again and again: 8 KiB, a part of the first cache.
pub const STEPS: usize = 4096;
/// Steps between looks at whether to stop.
pub const BATCH: usize = 16;
/// A table has at most so many members.
pub const MEMBERS_MAX: usize = 1 << 15;
/// The bit of a step that says: read.
const READ: u16 = 1 << 15;

/// The steps of one thread.
#[derive(Debug)]
pub struct Plan {
    steps: Box<[u16]>,
    /// How many of the steps before each position are additions.
    adds_before: Vec<u64>,
}

/// One step.
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
        // The golden ratio times 2^64, as generators use it to tell streams apart (G. L. Steele et al., "Fast Splittable
        // Pseudorandom Number Generators", OOPSLA 2014).
        let mut random =
            Xoshiro256PlusPlus::seed_from_u64(seed ^ (thread + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let steps: Box<[u16]> = (0..STEPS)
            .map(|_| {
                let member = random.random_range(0..members.clamp(1, MEMBERS_MAX)) as u16;
                if random.random_bool(reads.clamp(0.0, 1.0)) { member | READ } else { member }
            })
            .collect();
        let mut adds = 0;
        let mut adds_before = vec![0];
        for step in &steps {
            adds += u64::from(!Step(*step).reads());
            adds_before.push(adds);
        }
        Self { steps, adds_before }
    }

    /// The steps in batches.
    #[inline]
    pub fn batches(&self) -> impl Iterator<Item = &[u16; BATCH]> {
        self.steps.as_chunks::<BATCH>().0.iter()
    }

    /// How many of the first so many operations are additions.
    pub fn adds_in(&self, operations: u64) -> u64 {
        let (passes, rest) = (operations / STEPS as u64, operations % STEPS as u64);
        passes * self.adds_before[STEPS] + self.adds_before[rest as usize]
    }
}

impl From<u16> for Step {
    #[inline]
    fn from(step: u16) -> Self {
        Self(step)
    }
}

#[cfg(test)]
mod tests {
    use super::{MEMBERS_MAX, Plan, STEPS, Step};

    fn steps(plan: &Plan) -> Vec<Step> {
        plan.batches().flatten().map(|step| Step::from(*step)).collect()
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
