//! The bootstrap of a mean: the interval for many blocks of a skewed response.

use crate::Interval;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use statrs::distribution::{ContinuousCDF, Normal};

/// Resamples; an odd number one short of a round one, so that quantiles fall on ranks.
const RESAMPLES: usize = 4_999;
/// Any fixed seed: the same recording must always give the same report.
const SEED: u64 = 0x5eed_b007;

/// The `BCa` (bias-corrected and accelerated) bootstrap of a mean.
/// Source: B. Efron, Journal of the American Statistical Association 82 (1987).
pub struct Bootstrap {
    /// Of resamples, sorted.
    means: Vec<f64>,
    bias: f64,
    acceleration: f64,
}

impl Bootstrap {
    /// Of at least two values that are not all equal.
    pub fn from_values(values: &[f64]) -> Option<Self> {
        let (low, high) = (
            values.iter().copied().fold(f64::MAX, f64::min),
            values.iter().copied().fold(f64::MIN, f64::max),
        );
        if low >= high {
            return None;
        }
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let means = resampled_means(values);
        let bias = Normal::standard().inverse_cdf(rank_share(&means, mean));
        Some(Self { bias, acceleration: acceleration(values, mean), means })
    }

    /// The 95 % interval.
    pub fn interval(&self) -> Interval {
        let normal = Normal::standard();
        let end = |level: f64| {
            let z = self.bias + normal.inverse_cdf(level);
            quantile(&self.means, normal.cdf(self.bias + z / (1.0 - self.acceleration * z)))
        };
        Interval { low: end(0.025), high: end(0.975) }
    }

    /// The two-sided p-value of "the mean is this": the level at which the interval would just
    /// touch it.
    pub fn p_value(&self, mean: f64) -> f64 {
        let normal = Normal::standard();
        // The same correction solved for the level whose end is this mean.
        let w = normal.inverse_cdf(rank_share(&self.means, mean)) - self.bias;
        let tail = normal.cdf(w / (1.0 + self.acceleration * w) - self.bias);
        (2.0 * tail.min(1.0 - tail)).min(1.0)
    }
}

/// Means of resamples with replacement, sorted.
fn resampled_means(values: &[f64]) -> Vec<f64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let n = values.len();
    let value = |draw: u32| values[((u64::from(draw) * n as u64) >> 32) as usize];
    // Two draws of a number and two sums, so that additions need not wait for each other.
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let (mut first, mut second) = (0.0, 0.0);
            for _ in 0..n / 2 {
                let draws = random.next_u64();
                first += value((draws >> 32) as u32);
                second += value(draws as u32);
            }
            let odd = if n % 2 == 1 { value(random.next_u32()) } else { 0.0 };
            (first + second + odd) / n as f64
        })
        .collect();
    means.sort_unstable_by(f64::total_cmp);
    means
}

/// Share of the means below a value (ties count half), kept off 0 and 1 where the normal quantile
/// ends.
fn rank_share(means: &[f64], value: f64) -> f64 {
    let below = means.partition_point(|mean| *mean < value);
    let not_above = means.partition_point(|mean| *mean <= value);
    let share = f64::midpoint(below as f64, not_above as f64) / means.len() as f64;
    let least = 0.5 / (means.len() as f64 + 1.0);
    share.clamp(least, 1.0 - least)
}

/// How fast the standard error changes with the mean, from the jackknife; for a mean the
/// jackknife deviations are the values' own.
fn acceleration(values: &[f64], mean: f64) -> f64 {
    let sum = |power: i32| values.iter().map(|value| (value - mean).powi(power)).sum::<f64>();
    sum(3) / (6.0 * sum(2).powf(1.5))
}

/// Quantile of sorted values with linear interpolation between ranks.
fn quantile(sorted: &[f64], level: f64) -> f64 {
    let position = level.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let below = position.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * position.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// scipy's `BCa` intervals of the same values; both are random, so equal within Monte-Carlo
    /// error.
    #[test]
    fn equal_to_scipy_within_monte_carlo_error() {
        let reference: serde_json::Value =
            serde_json::from_str(include_str!("../../analysis/tests/scipy_reference.json"))
                .unwrap();
        let cases = reference["bootstrap"].as_array().unwrap();
        assert!(!cases.is_empty());
        for case in cases {
            let values: Vec<f64> =
                case["values"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
            let ours = Bootstrap::from_values(&values).unwrap().interval();
            let (low, high) = (case["low"].as_f64().unwrap(), case["high"].as_f64().unwrap());
            let tolerance = 0.04 * (high - low);
            assert!((ours.low - low).abs() < tolerance, "{} {low}", ours.low);
            assert!((ours.high - high).abs() < tolerance, "{} {high}", ours.high);
        }
    }

    #[test]
    fn p_value_agrees_with_the_interval() {
        let values: Vec<f64> = (0..30).map(|i| f64::from(i * i % 37).exp2().ln_1p()).collect();
        let interval = Bootstrap::from_values(&values).unwrap().interval();
        for (end, inward) in [(interval.low, 1.0), (interval.high, -1.0)] {
            let width = interval.high - interval.low;
            let p = |at: f64| {
                let shifted = values.iter().map(|v| v - at).collect::<Vec<_>>();
                Bootstrap::from_values(&shifted).unwrap().p_value(0.0)
            };
            assert!(p(end + inward * 0.02 * width) > 0.05);
            assert!(p(end - inward * 0.02 * width) < 0.05);
            // Values moved by what is asked say the same.
            assert!((p(end) - Bootstrap::from_values(&values).unwrap().p_value(end)).abs() < 1e-9);
        }
        assert!(Bootstrap::from_values(&[1.0, 1.0]).is_none());
        assert!(Bootstrap::from_values(&[1.0]).is_none());
    }
}
