//! A mean with what is known about its precision.

use crate::Bound;
use crate::distribution::{t_quantile, t_two_sided_p};
use observations::Direction;
use serde::Serialize;

/// A 95 % confidence interval, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A figure over blocks: never a value without its unit, its interval and its n.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Estimate {
    /// Number of blocks (trials) behind it; non-finite values are left out.
    pub n: usize,
    /// Trials that timed out.
    #[serde(skip_serializing_if = "is_zero")]
    pub timeouts: usize,
    /// With time-outs: mean, median and largest value are bounds, because a bound is known of each time-out and takes
    /// its place; `None`: the figures are those of the other trials.
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
    /// Which way is better.
    pub direction: Direction,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields so")]
fn is_zero(timeouts: &usize) -> bool {
    *timeouts == 0
}

impl Interval {
    pub(crate) fn around(value: f64, half: f64) -> Self {
        Self { low: value - half, high: value + half }
    }

    /// Both ends on another scale that rises with this one.
    pub(crate) fn map(self, to: impl Fn(f64) -> f64) -> Self {
        Self { low: to(self.low), high: to(self.high) }
    }

    /// Whether a value lies inside.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

impl Estimate {
    /// Summarises values of independent blocks; `None` when none is finite.
    pub fn of(values: &[f64], unit: &str, direction: Direction) -> Option<Self> {
        let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let moments = Moments::of(&sorted);
        Some(Self {
            n: sorted.len(),
            timeouts: 0,
            bound: None,
            mean: moments.mean,
            interval: moments.test().map(|(interval, _)| interval),
            sd: moments.sd,
            median: median(&sorted)?,
            min,
            max,
            unit: unit.to_owned(),
            direction,
        })
    }

    /// The mean in seconds, where the unit is one of time.
    pub fn mean_s(&self) -> Option<f64> {
        Some(self.in_seconds()?.mean)
    }

    /// The same in seconds, where the unit is one of time.
    pub fn in_seconds(&self) -> Option<Self> {
        let unit_s = crate::response::seconds(&self.unit)?;
        Some(Self {
            n: self.n,
            timeouts: self.timeouts,
            bound: self.bound,
            mean: self.mean * unit_s,
            interval: self.interval.map(|interval| interval.map(|end| end * unit_s)),
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

    /// Half the width of the interval relative to the mean: the "± 2 %" of a table.
    pub fn relative_half_width(&self) -> Option<f64> {
        let interval = self.interval.filter(|_| self.mean != 0.0)?;
        Some((interval.high - interval.low) / 2.0 / self.mean.abs())
    }
}

/// Mean and standard deviation of a sample.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moments {
    pub n: usize,
    pub mean: f64,
    pub sd: Option<f64>,
}

impl Moments {
    pub fn of(values: &[f64]) -> Self {
        let (n, mean) = (values.len(), mean(values));
        let sd = (n > 1).then(|| {
            let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
            (squares / (n as f64 - 1.0)).sqrt()
        });
        Self { n, mean, sd }
    }

    /// Standard error of the mean.
    pub fn standard_error(&self) -> Option<f64> {
        self.sd.map(|sd| sd / (self.n as f64).sqrt())
    }

    /// [`t_test`] of the mean.
    pub fn test(&self) -> Option<(Interval, f64)> {
        self.standard_error().map(|error| t_test(self.mean, error, self.n as f64 - 1.0))
    }
}

/// 95 % interval of a value with this standard error, and the two-sided p-value of "it is 0". Without any spread
/// that is certain either way.
pub(crate) fn t_test(value: f64, standard_error: f64, df: f64) -> (Interval, f64) {
    let p_value = match value {
        value if standard_error > 0.0 => t_two_sided_p(value / standard_error, df),
        0.0 => 1.0,
        _ => 0.0,
    };
    (Interval::around(value, t_quantile(0.025, df) * standard_error), p_value)
}

/// Arithmetic mean; not a number of none.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Median, in whatever order the values are.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    Some(if sorted.len() % 2 == 1 { upper } else { f64::midpoint(sorted[middle - 1], upper) })
}

/// Whether the 95 % interval of every configuration's mean is at most this narrow (0.02: mean ± 2 %), so that
/// adaptive repeats are enough.
///
/// A configuration without any value has failed every time: more repeats of the others do not
/// help it, so that it is left out. Without any value at all the answer is no.
pub fn narrow_enough(values_by_configuration: &[Vec<f64>], until_relative_half_width: f64) -> bool {
    // Unit and direction have no part in a relative width.
    let estimate = |values: &Vec<f64>| Estimate::of(values, "", Direction::LowerIsBetter);
    let estimates: Vec<Estimate> = values_by_configuration.iter().filter_map(estimate).collect();
    let narrow = |one: &Estimate| one.relative_half_width().is_some_and(|it| it <= until_relative_half_width);
    !estimates.is_empty() && estimates.iter().all(narrow)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_only_what_the_values_carry() {
        let of = |values: &[f64]| Estimate::of(values, "s", Direction::LowerIsBetter);
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[f64::NAN, f64::INFINITY]), None);
        let one = of(&[3.0, f64::NAN]).unwrap();
        assert_eq!((one.n, one.mean, one.median), (1, 3.0, 3.0));
        assert_eq!((one.interval, one.sd, one.cv()), (None, None, None));
        let even = of(&[4.0, 1.0, 2.0, 9.0]).unwrap();
        assert_eq!((even.median, even.min, even.max), (3.0, 1.0, 9.0));
        let zero = of(&[-1.0, 1.0]).unwrap();
        assert_eq!((zero.cv(), zero.relative_half_width()), (None, None));
    }

    #[test]
    fn stops_when_all_are_narrow() {
        let steady = vec![100.0, 101.0, 99.0, 100.0];
        let noisy = vec![100.0, 130.0, 70.0, 100.0];
        // Half width of the steady one: t(0.975, 3) x 0.8165 / 2 = 1.299.
        let width = Estimate::of(&steady, "", Direction::LowerIsBetter).unwrap().relative_half_width();
        assert!((width.unwrap() - 0.012_992).abs() < 1e-5);
        assert!(narrow_enough(std::slice::from_ref(&steady), 0.013));
        assert!(!narrow_enough(std::slice::from_ref(&steady), 0.0129));
        assert!(!narrow_enough(&[steady.clone(), noisy], 0.02));
        assert!(!narrow_enough(&[steady.clone(), vec![5.0]], 0.02));
        assert!(narrow_enough(&[steady, vec![]], 0.02));
        assert!(narrow_enough(&[vec![2.0, 2.0]], 0.001));
    }

    #[test]
    fn never_stops_on_nothing() {
        assert!(!narrow_enough(&[], 0.5));
        assert!(!narrow_enough(&[vec![], vec![]], 0.5));
        assert!(!narrow_enough(&[vec![f64::NAN]], 0.5));
        assert!(!narrow_enough(&[vec![-1.0, 1.0]], 0.5));
    }
}
