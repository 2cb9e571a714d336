//! Intervals of differences that were chosen by looking.
//!
//! Reports name the largest difference of several, and only if it is significant. Both selections
//! make it look larger than it is, so that an ordinary 95 % interval covers the truth too seldom.

use crate::{Comparison, Interval, Scale};
use statistics::{t_quantile, t_two_sided_p};

/// The probability on each side of a 95 % interval.
const TAIL: f64 = 0.025;
/// The share of it that the interval of the whole family takes; a tenth, as the authors recommend.
const TOGETHER: f64 = 0.1;

/// Tail probability for few degrees of freedom: significance is reached most easily where the error
/// is underestimated, which makes both ends too near. With these tails the interval of a
/// significant difference between two levels in 3 or 4 blocks covers the truth in 92 to 99 of 100
/// cases, for differences of 1 to 20 times the error; at 2.5 % in 74 to 95
/// (`tests/simulated_designs.rs`).
fn tail(df: f64) -> f64 {
    match df {
        df if df < 2.5 => 0.005,
        df if df < 3.5 => 0.01,
        _ => TAIL,
    }
}

/// A difference on the scale on which it is tested, upwards.
struct Chosen {
    value: f64,
    low: f64,
    error: f64,
    df: f64,
}

impl Comparison {
    /// Returns the comparison with an interval that covers the truth in 95 % of cases although it
    /// was selected: as the largest in its direction among `others`, and as significant within its
    /// family.
    ///
    /// Only the end near "no difference" moves, for a choice errs upwards; with [few blocks](tail)
    /// both do. It is the hybrid interval of I. Andrews, T. Kitagawa and others, Inference on
    /// Winners, Quarterly Journal of Economics 139 (2024). Its end is that of the interval
    /// conditional on the choice, bounded by that of the simultaneous interval of the family and
    /// by "no difference". A difference that stands out by far keeps its interval.
    pub(crate) fn selected<'a>(
        &self,
        others: impl Iterator<Item = &'a Self>,
        family: usize,
    ) -> Self {
        let sign = if self.is_better() { 1.0 } else { -1.0 };
        let on_scale =
            |value: f64| sign * if self.scale == Scale::Ratio { value.ln() } else { value };
        let (Some(plain), Some(df), None) = (self.interval, self.df, self.bound) else {
            return self.clone();
        };
        let interval = self.wider(plain, t_quantile(tail(df), df) / t_quantile(TAIL, df));
        let (a, b) = (on_scale(interval.low), on_scale(interval.high));
        let own = Chosen {
            value: on_scale(self.value),
            low: a.min(b),
            error: (a - b).abs() / 2.0 / t_quantile(tail(df), df),
            df,
        };
        let runner_up = others.map(|other| on_scale(other.value)).fold(0.0, f64::max);
        let multiple =
            self.adjusted_p.zip(self.p_value).map_or(1.0, |(adjusted, p)| (adjusted / p).max(1.0));
        let low = own.low(runner_up, if multiple.is_finite() { multiple } else { 1.0 }, family);
        let low = if self.scale == Scale::Ratio { (sign * low).exp() } else { sign * low };
        let interval = if sign > 0.0 {
            Interval { low, ..interval }
        } else {
            Interval { high: low, ..interval }
        };
        Self { interval: Some(interval), ..self.clone() }
    }

    /// Returns the comparison with a simultaneous interval (Bonferroni) that does not cross "no
    /// difference" where the difference is significant.
    pub(crate) fn simultaneous(&self, comparisons: usize) -> Self {
        let (Some(df), None) = (self.df, self.bound) else { return self.clone() };
        let wider = t_quantile(TAIL / comparisons.max(1) as f64, df) / t_quantile(TAIL, df);
        Self {
            interval: self.interval.map(|interval| {
                let Interval { low, high } = self.wider(interval, wider);
                // Holm's steps support more than this interval alone does.
                match self.scale.equal() {
                    equal if !self.supported() || !(low..=high).contains(&equal) => {
                        Interval { low, high }
                    }
                    equal if self.is_better() => Interval { low: equal, high },
                    equal => Interval { low, high: equal },
                }
            }),
            ..self.clone()
        }
    }

    /// Returns an interval whose ends are `times` as far from the value, on the scale of the test.
    fn wider(&self, interval: Interval, times: f64) -> Interval {
        interval.map(|end| match self.scale {
            Scale::Ratio => self.value * (end / self.value).powf(times),
            Scale::Difference => self.value + times * (end - self.value),
        })
    }
}

impl Chosen {
    fn low(&self, runner_up: f64, multiple: f64, family: usize) -> f64 {
        let together =
            self.value - t_quantile(TOGETHER * TAIL / family.max(1) as f64, self.df) * self.error;
        let floor = together.max(0.0).min(self.low);
        // Values below this would not have been chosen: not supported, or behind the runner-up.
        let least = (t_quantile(TAIL / multiple, self.df) * self.error).max(runner_up);
        let least = least.min(self.value);
        let upper = |from: f64, truth: f64| {
            let t = (from - truth) / self.error;
            let tail = t_two_sided_p(t, self.df) / 2.0;
            if t < 0.0 { 1.0 - tail } else { tail }
        };
        // Share of the selected values with this true value that are as high.
        let share = TAIL * (1.0 - TOGETHER) / (1.0 - 2.0 * TOGETHER * TAIL);
        let is_low = |truth: f64| upper(self.value, truth) < share * upper(least, truth);
        if self.error <= 0.0 || !is_low(floor) {
            return floor;
        }
        let (mut below, mut above) = (floor, self.low);
        for _ in 0..40 {
            let middle = f64::midpoint(below, above);
            if is_low(middle) { below = middle } else { above = middle }
        }
        above
    }
}
