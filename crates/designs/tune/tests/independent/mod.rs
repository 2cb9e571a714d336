//! Knobs that are independent of each other.

use tune::optimiser::Rules;

pub struct Independent;

impl Rules for Independent {
    fn applies(&self, _: usize, _: &[Option<f64>]) -> bool {
        true
    }

    fn allows(&self, _: &[Option<f64>]) -> bool {
        true
    }
}
