//! Noise of simulated trials.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noise {
    Normal,
    Lognormal,
    /// A trial in twenty takes much longer.
    Spikes,
    /// A block is in one of two regimes.
    Regimes,
    /// From trial to trial.
    Drift,
    /// Some configurations vary five times as much.
    Uneven,
}

pub const ALL: [Noise; 6] =
    [Noise::Normal, Noise::Lognormal, Noise::Spikes, Noise::Regimes, Noise::Drift, Noise::Uneven];

pub struct Random(Xoshiro256PlusPlus);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    pub fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// A block of trials in random order.
    pub fn block(&mut self, runs: usize, block: usize, noise: Noise) -> Vec<f64> {
        let mut order: Vec<usize> = (0..runs).collect();
        for last in (1..runs).rev() {
            let chosen = (self.uniform() * (last + 1) as f64) as usize;
            order.swap(last, chosen);
        }
        let regime = if self.uniform() < 0.5 { 0.0 } else { 3.0 };
        let mut values = vec![0.0; runs];
        for (place, run) in order.into_iter().enumerate() {
            let draw = self.normal();
            values[run] = 100.0
                + match noise {
                    Noise::Normal => draw,
                    Noise::Lognormal => (0.8 * draw).exp(),
                    Noise::Spikes => draw + if self.uniform() < 0.05 { 10.0 } else { 0.0 },
                    Noise::Regimes => draw + regime,
                    Noise::Drift => draw + 0.1 * (block * runs + place) as f64,
                    Noise::Uneven => {
                        if run % 4 == 0 {
                            5.0 * draw
                        } else {
                            draw
                        }
                    }
                };
        }
        values
    }
}
