//! A mean with what is known about its precision.

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

impl Interval {
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
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        let moments = Moments::of(&sorted);
        Some(Self {
            n: sorted.len(),
            mean: moments.mean,
            interval: moments.interval(),
            sd: moments.sd,
            median: median(&sorted),
            min,
            max,
            unit: unit.to_owned(),
            direction,
        })
    }

    /// The mean in seconds, where the unit is one of time.
    pub fn mean_s(&self) -> Option<f64> {
        crate::response::seconds(&self.unit).map(|unit_s| self.mean * unit_s)
    }

    /// The same in seconds, where the unit is one of time.
    pub fn in_seconds(&self) -> Option<Self> {
        let unit_s = crate::response::seconds(&self.unit)?;
        let interval = |i: Interval| Interval { low: i.low * unit_s, high: i.high * unit_s };
        Some(Self {
            n: self.n,
            mean: self.mean * unit_s,
            interval: self.interval.map(interval),
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
        let n = values.len();
        let mean = values.iter().sum::<f64>() / n as f64;
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

    /// 95 % t interval of the mean.
    pub fn interval(&self) -> Option<Interval> {
        self.standard_error().map(|error| t_interval(self.mean, error, self.n as f64 - 1.0))
    }

    /// Two-sided p-value of "the mean is 0" by Student's t.
    pub fn p_value(&self) -> Option<f64> {
        self.standard_error().map(|error| t_test(self.mean, error, self.n as f64 - 1.0))
    }
}

/// 95 % interval of a value with this standard error.
pub(crate) fn t_interval(value: f64, standard_error: f64, df: f64) -> Interval {
    let half = t_quantile(0.025, df) * standard_error;
    Interval { low: value - half, high: value + half }
}

/// Two-sided p-value of "the value is 0". Without any spread it is certain either way.
pub(crate) fn t_test(value: f64, standard_error: f64, df: f64) -> f64 {
    if standard_error > 0.0 {
        t_two_sided_p(value / standard_error, df)
    } else if value == 0.0 {
        1.0
    } else {
        0.0
    }
}

/// Median of sorted values, which must not be empty.
pub(crate) fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { f64::midpoint(sorted[middle - 1], sorted[middle]) }
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
}
