use crate::number;
use serde::{Deserialize, Serialize};

/// Slower values that a trial must have beyond a percentile for its interval and for comparisons.
///
/// With fewer the percentile is often the largest value, which grows with the number of values:
/// trials of different length would differ. The simulations are in
/// `analysis/tests/simulated_percentiles.rs`.
pub const BEYOND_MIN: f64 = 10.0;

/// The distribution that a percentile of a trial comes from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Percentile {
    /// The percentile: 99 is the value that 1 % of the values exceed.
    pub percent: f64,
    /// Values of the trial that it is taken from.
    pub values: u64,
}

impl Percentile {
    /// Expected number of values on the shorter side of it.
    pub fn beyond(&self) -> f64 {
        self.values as f64 * tail(self.percent)
    }

    /// Returns whether the trial has enough values beyond it.
    pub fn is_available(&self) -> bool {
        self.values >= Self::needed(self.percent)
    }

    /// Number of values in a trial from which on it is available.
    pub fn needed(percent: f64) -> u64 {
        // Hundredths of a value: 10 / (1 - 0.999) is 10,000.000000000009.
        (BEYOND_MIN / tail(percent) - 0.01).ceil() as u64
    }

    /// `p99.9`.
    pub fn name(percent: f64) -> String {
        format!("p{}", number::whole(percent))
    }
}

/// Share of the values on the shorter side.
fn tail(percent: f64) -> f64 {
    percent.min(100.0 - percent).max(0.0) / 100.0
}

#[cfg(test)]
mod tests {
    use super::Percentile;

    #[test]
    fn ten_slower_values_make_a_percentile_available() {
        let needed = [50.0, 95.0, 99.0, 99.9].map(Percentile::needed);
        assert_eq!(needed, [20, 200, 1_000, 10_000]);
        for percent in [5.0, 50.0, 95.0, 99.0, 99.9] {
            let values = Percentile::needed(percent);
            assert!(Percentile { percent, values }.is_available());
            assert!(!Percentile { percent, values: values - 1 }.is_available());
        }
        assert!((Percentile { percent: 99.0, values: 250 }.beyond() - 2.5).abs() < 1e-9);
    }
}
