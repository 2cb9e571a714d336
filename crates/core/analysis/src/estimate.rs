//! A mean with what is known about its precision.

use crate::Interval;
use observations::{Direction, Observations, order};
use serde::Serialize;
pub use statistics::{mean, median};
use statistics::{median_of_sorted, t_quantile, t_two_sided_p};
use std::collections::BTreeMap;

/// A figure over blocks: never a value without its unit, its interval and its n.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Estimate {
    /// Number of blocks (trials) behind it; non-finite values are left out.
    pub n: usize,
    /// Trials that timed out.
    #[serde(skip_serializing_if = "is_zero")]
    pub timeouts: usize,
    /// With time-outs: mean, median and largest value are bounds, because a bound is known of each
    /// time-out and takes its place; `None`: the figures are those of the other trials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<Bound>,
    /// Arithmetic mean.
    pub mean: f64,
    /// 95 % t interval of the mean; `None` with fewer than two values.
    pub interval: Option<Interval>,
    /// Sample standard deviation (n - 1); `None` with fewer than two values.
    pub sd: Option<f64>,
    /// Median.
    pub median: f64,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Unit as printed.
    pub unit: String,
    /// The direction that is better.
    pub direction: Direction,
}

/// On which side of a figure the true one lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// It is as large or larger.
    AtLeast,
    /// It is as small or smaller.
    AtMost,
}

impl Bound {
    /// `at least`, `at most`.
    pub fn words(self) -> &'static str {
        match self {
            Self::AtLeast => "at least",
            Self::AtMost => "at most",
        }
    }

    /// Returns the bound of the reciprocal.
    #[must_use]
    pub fn opposite(self) -> Self {
        match self {
            Self::AtLeast => Self::AtMost,
            Self::AtMost => Self::AtLeast,
        }
    }
}

/// A ratio of two figures of the same block, over blocks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Ratio {
    /// Geometric mean over blocks.
    pub ratio: f64,
    /// 95 % t interval, computed on logarithms; `None` with one block.
    pub interval: Option<Interval>,
    /// Blocks.
    pub blocks: usize,
}

impl Ratio {
    /// Summarises logarithms of ratios, one of each block; `None` when none is finite.
    pub fn from_logs(logs: &[f64]) -> Option<Self> {
        let values = Estimate::from_values(logs, "", Direction::LowerIsBetter)?;
        let interval = values.interval.map(|interval| interval.map(f64::exp));
        Some(Self { ratio: values.mean.exp(), interval, blocks: values.n })
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields so")]
fn is_zero(timeouts: &usize) -> bool {
    *timeouts == 0
}

impl Estimate {
    /// Summarises values of independent blocks; `None` when none is finite.
    pub fn from_values(values: &[f64], unit: &str, direction: Direction) -> Option<Self> {
        let estimate = Self::without_interval(values, unit, direction)?;
        let (n, mean) = (estimate.n as f64, estimate.mean);
        let error = estimate.sd.map(|sd| sd / n.sqrt());
        Some(Self { interval: error.map(|error| t_interval(mean, error, n - 1.0)), ..estimate })
    }

    /// Summarises values that are never below 0; `None` when no value is finite.
    pub fn from_amounts(values: &[f64], unit: &str, direction: Direction) -> Option<Self> {
        Self::from_values(values, unit, direction).map(Self::of_amount)
    }

    /// Summarises values of which more than their spread is known; `None` when none is finite.
    pub fn known(
        values: &[f64],
        unit: &str,
        direction: Direction,
        precision: Precision,
    ) -> Option<Self> {
        let interval = Moments::known(values, precision).interval();
        Self::without_interval(values, unit, direction).map(|mean| Self { interval, ..mean })
    }

    /// The estimate of an amount, such as a time, a rate or a count: what its interval has below 0
    /// is cut off; it costs no coverage.
    #[must_use]
    pub fn of_amount(self) -> Self {
        let interval =
            self.interval.map(|interval| Interval { low: interval.low.max(0.0), ..interval });
        Self { interval, ..self }
    }

    /// The mean of an amount over the trials that have it.
    pub fn over_trials(
        trials: &[&Observations],
        unit: &str,
        direction: Direction,
        amount: impl Fn(&Observations) -> Option<f64>,
    ) -> Option<Self> {
        let values: Vec<f64> = trials.iter().filter_map(|trial| amount(trial)).collect();
        Self::from_amounts(&values, unit, direction)
    }

    /// An estimate whose interval comes from elsewhere.
    pub fn without_interval(values: &[f64], unit: &str, direction: Direction) -> Option<Self> {
        let mut sorted: Vec<f64> =
            values.iter().copied().filter(|value| value.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        Some(Self {
            n: sorted.len(),
            timeouts: 0,
            bound: None,
            mean: mean(&sorted),
            interval: None,
            sd: sd(&sorted),
            median: median_of_sorted(&sorted)?,
            min,
            max,
            unit: unit.to_owned(),
            direction,
        })
    }

    /// Adjusts the estimate of values with time-outs, which are bounds or left out.
    pub(crate) fn with_timeouts(self, timeouts: usize, is_bound: bool) -> Self {
        match timeouts {
            0 => self,
            // The true mean lies an unknown distance above the bound.
            _ if is_bound => {
                Self { timeouts, bound: Some(Bound::AtLeast), interval: None, sd: None, ..self }
            }
            _ => Self { timeouts, ..self },
        }
    }

    /// The mean in seconds, where the unit is one of time.
    pub fn mean_s(&self) -> Option<f64> {
        Some(self.in_seconds()?.mean)
    }

    /// The estimate in seconds, where its unit is one of time.
    pub fn in_seconds(&self) -> Option<Self> {
        let unit_s = seconds(&self.unit)?;
        Some(Self {
            n: self.n,
            timeouts: self.timeouts,
            bound: self.bound,
            mean: self.mean * unit_s,
            interval: self.interval.map(|interval| interval.times(unit_s)),
            sd: self.sd.map(|sd| sd * unit_s),
            median: self.median * unit_s,
            min: self.min * unit_s,
            max: self.max * unit_s,
            unit: "s".to_owned(),
            direction: self.direction,
        })
    }

    /// Coefficient of variation: standard deviation relative to the mean.
    pub fn cv(&self) -> Option<f64> {
        self.sd.filter(|_| self.mean != 0.0).map(|sd| sd / self.mean.abs())
    }
}

/// Length of a unit of time.
pub fn seconds(unit: &str) -> Option<f64> {
    match unit {
        "s" => Some(1.0),
        "ms" => Some(1e-3),
        "us" => Some(1e-6),
        "ns" => Some(1e-9),
        _ => None,
    }
}

/// Repeats of one configuration: all its trials in each block, or in each set-up.
pub struct Repeats<T> {
    /// The trials of each block or set-up.
    pub units: Vec<Vec<T>>,
    /// The number of them that the spread is estimated from: [`Precision::first`].
    pub first: usize,
}

/// Precision of a sample's mean, beyond the spread of its values.
#[derive(Debug, Clone, Copy)]
pub struct Precision {
    /// Number of values of the first stage of adaptive repeats, from which alone the spread is
    /// estimated. It determined the number of the others, so including their spread would bias the
    /// estimate downwards.
    pub first: usize,
    /// Variance of the rounding error of the mean. Values that hardly vary are all rounded alike,
    /// so that no number of repeats averages it out; it is the least variance that a mean has.
    pub rounding: f64,
}

impl Default for Precision {
    fn default() -> Self {
        Self { first: usize::MAX, rounding: 0.0 }
    }
}

impl Precision {
    /// Number of the `values` values from which the spread is estimated: all of them if the first
    /// stage has fewer than two, because then it decided nothing.
    pub fn first_stage(&self, values: usize) -> usize {
        if self.first < 2 { values } else { self.first.min(values) }
    }
}

/// Mean and standard deviation of a sample.
#[derive(Debug, Clone, Copy)]
pub struct Moments {
    /// Number of values.
    pub n: usize,
    /// Their mean.
    pub mean: f64,
    /// Standard deviation; `None` of fewer than two.
    pub sd: Option<f64>,
    /// Standard error of the mean.
    pub error: Option<f64>,
    /// Degrees of freedom of the standard error.
    pub df: f64,
}

impl Moments {
    /// Moments of values whose spread is estimated from all of them.
    pub fn from_values(values: &[f64]) -> Self {
        Self::known(values, Precision::default())
    }

    /// Moments of values whose spread is estimated as `known` says.
    pub fn known(values: &[f64], known: Precision) -> Self {
        let n = values.len();
        let first = &values[..known.first_stage(n)];
        Self {
            n,
            mean: mean(values),
            sd: sd(values),
            error: sd(first).map(|sd| (sd / (n as f64).sqrt()).max(known.rounding.sqrt())),
            df: first.len() as f64 - 1.0,
        }
    }

    /// 95 % interval of the mean.
    pub fn interval(&self) -> Option<Interval> {
        self.error.map(|error| t_interval(self.mean, error, self.df))
    }
}

/// Sample standard deviation (n - 1).
fn sd(values: &[f64]) -> Option<f64> {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (values.len() as f64 - 1.0)).sqrt())
}

/// 97.5th percentile of the standard normal distribution.
pub const Z: f64 = 1.959_963_984_540_054;

/// Wilson's score interval of a share, at 95 %.
pub fn wilson(part: u64, all: u64) -> Interval {
    let (n, share) = (all as f64, part as f64 / all as f64);
    let middle = share + Z * Z / (2.0 * n);
    let half = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z * Z / n;
    Interval { low: ((middle - half) / scale).max(0.0), high: ((middle + half) / scale).min(1.0) }
}

/// Sums the parts of each key; the largest sum comes first.
pub fn sums<K: Ord>(parts: impl Iterator<Item = (K, f64)>) -> Vec<(K, f64)> {
    let mut sums = BTreeMap::new();
    for (key, part) in parts {
        *sums.entry(key).or_insert(0.0) += part;
    }
    let mut sums: Vec<(K, f64)> = sums.into_iter().collect();
    order::largest_first(&mut sums, &|row| row.1);
    sums
}

/// 95 % interval of a value with this standard error, and the two-sided p-value of "it is 0".
/// Without any spread that is certain either way.
pub fn t_test(value: f64, standard_error: f64, df: f64) -> (Interval, f64) {
    let p_value = match value {
        value if standard_error > 0.0 => t_two_sided_p(value / standard_error, df),
        0.0 => 1.0,
        _ => 0.0,
    };
    (t_interval(value, standard_error, df), p_value)
}

/// The interval alone.
fn t_interval(value: f64, standard_error: f64, df: f64) -> Interval {
    Interval::around(value, t_quantile(0.025, df) * standard_error)
}

/// Number of blocks that makes the half width of every configuration's 95 % interval at most this
/// share of its mean (0.02: mean ± 2 %), from the values of a first stage. `None`: not computable.
///
/// The second stage of C. Stein, Annals of Mathematical Statistics 16 (1945): it is decided once,
/// and intervals use the spread of the first stage ([`Precision::first`]), which makes them and all
/// tests exact. Stopping as soon as an interval is narrow enough favours spreads that came out too
/// small.
///
/// A configuration without any value has failed every time: more repeats of the others do not help
/// it, so that it is left out.
pub fn blocks_needed(first_stage: &[Vec<f64>], until_relative_half_width: f64) -> Option<f64> {
    let measured = first_stage.iter().filter(|values| !values.is_empty());
    let needed: Option<Vec<f64>> = measured
        .map(|values| {
            let moments = Moments::from_values(values);
            let half = t_quantile(0.025, moments.df) * moments.sd?;
            let needed = (half / (until_relative_half_width * moments.mean.abs())).powi(2).ceil();
            (!needed.is_nan()).then_some(needed)
        })
        .collect();
    needed?.into_iter().reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_the_published_method() {
        // Newcombe 1998, Statistics in Medicine 17:857-872, table I, method 3 (Wilson's score).
        for (part, all, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let interval = wilson(part, all);
            let near = |a: f64, b: f64| (a - b).abs() < 0.000_06;
            assert!(
                near(interval.low, low) && near(interval.high, high),
                "{part}/{all}: {interval:?}"
            );
        }
    }

    #[test]
    fn says_only_what_the_values_carry() {
        let of = |values: &[f64]| Estimate::from_values(values, "s", Direction::LowerIsBetter);
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[f64::NAN, f64::INFINITY]), None);
        let partial = of(&[3.0, f64::NAN]).unwrap();
        assert_eq!((partial.n, partial.mean, partial.median), (1, 3.0, 3.0));
        assert_eq!((partial.interval, partial.sd, partial.cv()), (None, None, None));
        let even = of(&[4.0, 1.0, 2.0, 9.0]).unwrap();
        assert_eq!((even.median, even.min, even.max), (3.0, 1.0, 9.0));
        assert_eq!(of(&[-1.0, 1.0]).unwrap().cv(), None);
    }

    /// Expected by hand: (t(0.975, 3) x 0.8165 / (until x 100))^2, which is (0.025985 / until)^2.
    #[test]
    fn the_first_stage_says_how_many_blocks_are_needed() {
        let steady = vec![100.0, 101.0, 99.0, 100.0];
        let noisy = vec![100.0, 130.0, 70.0, 100.0];
        let of = |values: &[&Vec<f64>], until| {
            blocks_needed(&values.iter().map(|value| (*value).clone()).collect::<Vec<_>>(), until)
        };
        assert_eq!(of(&[&steady], 0.026), Some(1.0));
        assert_eq!(of(&[&steady], 0.013), Some(4.0));
        assert_eq!(of(&[&steady], 0.01), Some(7.0));
        assert!(of(&[&steady, &noisy], 0.02).unwrap() > 1_000.0);
        assert_eq!(of(&[&steady, &vec![5.0]], 0.02), None);
        assert_eq!(of(&[&steady, &vec![]], 0.013), Some(4.0));
        assert_eq!(of(&[&vec![2.0, 2.0]], 0.001), Some(0.0));
        assert_eq!(of(&[], 0.5), None);
        assert_eq!(of(&[&vec![], &vec![]], 0.5), None);
        assert_eq!(of(&[&vec![f64::NAN, 1.0]], 0.5), None);
        assert_eq!(of(&[&vec![-1.0, 1.0]], 0.5), Some(f64::INFINITY));
    }

    /// The interval of Stein's second stage: t with the degrees of freedom and the spread of the
    /// first.
    #[test]
    fn the_spread_is_that_of_the_first_stage() {
        let known = Precision { first: 3, ..Precision::default() };
        let moments = Moments::known(&[9.0, 10.0, 11.0, 10.0, 10.0], known);
        assert_eq!((moments.n, moments.mean, moments.df), (5, 10.0, 2.0));
        assert!((moments.error.unwrap() - 1.0 / 5_f64.sqrt()).abs() < 1e-12);
        assert!(moments.sd.unwrap() < 0.71);
    }

    #[test]
    fn rounding_is_the_least_error() {
        let known = Precision { rounding: 1.0 / 12.0, ..Precision::default() };
        let equal = Moments::known(&[10.0; 8], known);
        assert!((equal.error.unwrap() - 12_f64.sqrt().recip()).abs() < 1e-12);
        let spread = [8.0, 12.0, 9.0, 11.0];
        assert_eq!(Moments::known(&spread, known).error, Moments::from_values(&spread).error);
    }
}
