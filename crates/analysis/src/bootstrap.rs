//! Bootstrap of a mean: the interval for many blocks of a skewed response.

use crate::Interval;
use crate::estimate::Moments;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use statrs::distribution::{ContinuousCDF, Normal};

/// Resamples; an odd number one short of a round one, so that quantiles fall on ranks.
const RESAMPLES: usize = 4_999;
/// Any fixed seed: the same recording must always give the same report.
const SEED: u64 = 0x5eed_b007;

/// The `BCa` (bias-corrected and accelerated) bootstrap interval of the mean of at least two values that are not all
/// equal, and the two-sided p-value of "the mean is 0": the level at which the interval would just touch 0.
/// Source: B. Efron, Journal of the American Statistical Association 82 (1987).
pub fn of_mean(values: &[f64]) -> Option<(Interval, f64)> {
    let moments = Moments::of(values);
    moments.sd.filter(|sd| *sd > 0.0)?;
    let (means, normal) = (resampled_means(values), Normal::standard());
    let bias = normal.inverse_cdf(rank_share(&means, moments.mean));
    let acceleration = acceleration(values, moments.mean);
    let end = |level: f64| {
        let z = bias + normal.inverse_cdf(level);
        quantile(&means, normal.cdf(bias + z / (1.0 - acceleration * z)))
    };
    // The same correction solved for the level whose end is 0.
    let w = normal.inverse_cdf(rank_share(&means, 0.0)) - bias;
    let tail = normal.cdf(w / (1.0 + acceleration * w) - bias);
    Some((Interval { low: end(0.025), high: end(0.975) }, (2.0 * tail.min(1.0 - tail)).min(1.0)))
}

/// Means of resamples with replacement, sorted.
fn resampled_means(values: &[f64]) -> Vec<f64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let n = values.len();
    let mut value = || values[((u64::from(random.next_u32()) * n as u64) >> 32) as usize];
    let mut means: Vec<f64> =
        (0..RESAMPLES).map(|_| (0..n).map(|_| value()).sum::<f64>() / n as f64).collect();
    means.sort_unstable_by(f64::total_cmp);
    means
}

/// Share of the means below a value (ties count half), kept off 0 and 1 where the normal quantile ends.
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
    use super::of_mean;

    /// scipy's `BCa` intervals of the same values; both are random, so equal within Monte-Carlo error.
    #[test]
    fn equal_to_scipy_within_monte_carlo_error() {
        let reference: serde_json::Value =
            serde_json::from_str(include_str!("../tests/scipy_reference.json")).unwrap();
        let cases = reference["bootstrap"].as_array().unwrap();
        assert!(!cases.is_empty());
        for case in cases {
            let values: Vec<f64> =
                case["values"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
            let (ours, _) = of_mean(&values).unwrap();
            let (low, high) = (case["low"].as_f64().unwrap(), case["high"].as_f64().unwrap());
            let tolerance = 0.04 * (high - low);
            assert!((ours.low - low).abs() < tolerance, "{} {low}", ours.low);
            assert!((ours.high - high).abs() < tolerance, "{} {high}", ours.high);
        }
    }

    #[test]
    fn p_value_agrees_with_the_interval() {
        let values: Vec<f64> = (0..30).map(|i| f64::from(i * i % 37).exp2().ln_1p()).collect();
        let interval = of_mean(&values).unwrap().0;
        for (end, inward) in [(interval.low, 1.0), (interval.high, -1.0)] {
            let width = interval.high - interval.low;
            let p = |at: f64| of_mean(&values.iter().map(|v| v - at).collect::<Vec<_>>()).unwrap().1;
            assert!(p(end + inward * 0.02 * width) > 0.05);
            assert!(p(end - inward * 0.02 * width) < 0.05);
        }
        assert!(of_mean(&[1.0, 1.0]).is_none());
        assert!(of_mean(&[1.0]).is_none());
    }
}
