use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Random numbers of which the stream is the same in every version: a resumed search draws what it
/// drew before.
#[derive(Debug, Clone)]
pub struct Draw(Xoshiro256PlusPlus);

impl Draw {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// A number from 0 to below 1.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A whole number from 0 to below a bound.
    pub fn below(&mut self, bound: usize) -> usize {
        ((self.unit() * bound as f64) as usize).min(bound - 1)
    }

    /// A standard normal deviate.
    pub fn normal(&mut self) -> f64 {
        statistics::normal(&mut self.0)
    }

    /// Shuffles, by R. Fisher and F. Yates.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}
