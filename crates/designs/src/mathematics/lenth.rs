//! Effects of a design without repeats: most of them are nothing but noise, which estimates their
//! error. Source: R. V. Lenth, Technometrics 31 (1989).

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use statistics::{median_of_sorted, normal};

/// Fewer effects do not show which of them are noise.
const EFFECTS_MIN: usize = 3;
/// Sets of effects that are simulated.
const SETS: usize = 20_000;
/// Of the error of the limits, so that a report is the same each time.
const SEED: u64 = 0x1e27;

/// Pseudo standard error of unreplicated effects.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lenth {
    /// The first, robust estimate: 1.5 times the median.
    pub s0: f64,
    /// The pseudo standard error.
    pub pse: f64,
    effects: usize,
}

/// The sizes above which effects are significant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Margin of error: one effect alone exceeds it by chance with a probability of 5 %.
    pub margin: f64,
    /// Simultaneous margin of error: any of the effects does.
    pub simultaneous: f64,
}

impl Lenth {
    /// The error of effects, of which most are taken to be noise; `None` of fewer than three.
    pub fn new(effects: &[f64]) -> Option<Self> {
        let mut sizes: Vec<f64> = effects.iter().map(|effect| effect.abs()).collect();
        let (s0, pse) = estimates(&mut sizes);
        (effects.len() >= EFFECTS_MIN).then_some(Self { s0, pse, effects: effects.len() })
    }

    /// A known error of this number of effects.
    pub(crate) fn known(pse: f64, effects: usize) -> Option<Self> {
        (effects >= EFFECTS_MIN).then_some(Self { s0: pse, pse, effects })
    }

    /// Limits by simulation of as many effects without any but noise, as the package `unrepx` of R
    /// has them.
    pub fn simulated(&self) -> Limits {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
        let mut all = Vec::with_capacity(SETS * self.effects);
        let mut largest = Vec::with_capacity(SETS);
        let mut sizes = vec![0.0; self.effects];
        for _ in 0..SETS {
            for size in &mut sizes {
                *size = normal(&mut random).abs();
            }
            let (_, pse) = estimates(&mut sizes);
            all.extend(sizes.iter().map(|size| size / pse));
            // Sorted by the median.
            largest.push(sizes[self.effects - 1] / pse);
        }
        Limits {
            margin: upper_twentieth(&mut all) * self.pse,
            simultaneous: upper_twentieth(&mut largest) * self.pse,
        }
    }

    /// The size of an effect that is beyond the simultaneous limit with this probability, among
    /// effects that are only noise.
    pub(crate) fn found_with(&self, probability: f64) -> f64 {
        let limit = self.simulated().simultaneous / self.pse;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
        let mut sizes = vec![0.0; self.effects];
        let needed = (0..SETS).map(|_| {
            sizes.fill_with(|| normal(&mut random).abs());
            // The effect itself does not count as noise.
            sizes[0] = f64::INFINITY;
            let (_, pse) = estimates(&mut sizes);
            limit * pse - normal(&mut random)
        });
        let mut needed: Vec<f64> = needed.collect();
        let place = (SETS as f64 * probability) as usize;
        *needed.select_nth_unstable_by(place, f64::total_cmp).1 * self.pse
    }
}

/// Sorts the sizes.
fn estimates(sizes: &mut [f64]) -> (f64, f64) {
    sizes.sort_unstable_by(f64::total_cmp);
    let s0 = 1.5 * median_of_sorted(sizes).unwrap_or(0.0);
    let small = sizes.partition_point(|size| *size < 2.5 * s0);
    // All are zero: a scripted engine.
    (s0, 1.5 * median_of_sorted(&sizes[..small]).unwrap_or(0.0))
}

fn upper_twentieth(values: &mut [f64]) -> f64 {
    let place = (values.len() as f64 * 0.95) as usize;
    *values.select_nth_unstable_by(place, f64::total_cmp).1
}
