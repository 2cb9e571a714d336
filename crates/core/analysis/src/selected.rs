//! The one interval of a comparison that belongs to a family.
//!
//! Reports name the largest difference of several, and only if it is significant. Both selections
//! make it look larger than it is, so that an ordinary 95 % interval covers the truth too seldom;
//! and an interval of another level than the test contradicts it.

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
struct Difference {
    value: f64,
    low: f64,
    error: f64,
    df: f64,
}

impl Comparison {
    /// Returns the comparison with the interval that reports show wherever they show it, in a
    /// family of this many tests.
    ///
    /// It agrees with the adjusted p-value: the interval of a claimed difference excludes "no
    /// difference", and that of any other one includes it.
    ///
    /// - Not claimed: the simultaneous interval of the family (Bonferroni), which is wider than
    ///   Holm's steps need.
    /// - Claimed: only the end near "no difference" moves, for a choice errs upwards; with [few
    ///   blocks](tail) both do. It is the hybrid interval of I. Andrews, T. Kitagawa and others,
    ///   Inference on Winners, Quarterly Journal of Economics 139 (2024). Its end is that of the
    ///   interval conditional on the choice, as significant and, if it is, as the largest among
    ///   `others`, bounded by that of the simultaneous interval of the family. A difference that
    ///   stands out by far keeps its interval.
    /// - Claimed, but this end crosses "no difference": the end is open there, because the test
    ///   excludes the other direction and no more (K. Strassburger and F. Bretz, Statistics in
    ///   Medicine 27, 2008).
    pub(crate) fn reported<'a>(
        &self,
        others: impl Iterator<Item = &'a Self>,
        family: usize,
    ) -> Self {
        let (Some(plain), Some(df)) = (self.interval, self.df) else { return self.clone() };
        let wider = |tail: f64| self.wider(plain, t_quantile(tail, df) / t_quantile(TAIL, df));
        let simultaneous = || wider(TAIL / family.max(1) as f64);
        let interval = match (self.supported(), self.bound) {
            (false, _) => simultaneous(),
            (true, Some(_)) => self.open(simultaneous()),
            (true, None) => self.open(self.selected(wider(tail(df)), df, others, family)),
        };
        Self { interval: Some(interval), ..self.clone() }
    }

    /// The interval of a claimed difference, from the one for so [few blocks](tail).
    fn selected<'a>(
        &self,
        interval: Interval,
        df: f64,
        others: impl Iterator<Item = &'a Self>,
        family: usize,
    ) -> Interval {
        let sign = if self.is_better() { 1.0 } else { -1.0 };
        let on_scale =
            |value: f64| sign * if self.scale == Scale::Ratio { value.ln() } else { value };
        let (a, b) = (on_scale(interval.low), on_scale(interval.high));
        let estimate = Difference {
            value: on_scale(self.value),
            low: a.min(b),
            error: (a - b).abs() / 2.0 / t_quantile(tail(df), df),
            df,
        };
        let runner_up = others.map(|other| on_scale(other.value)).fold(0.0, f64::max);
        // Of one that is not the largest only the significance was a choice.
        let runner_up = if runner_up > estimate.value { 0.0 } else { runner_up };
        let multiple =
            self.adjusted_p.zip(self.p_value).map_or(1.0, |(adjusted, p)| (adjusted / p).max(1.0));
        let low =
            estimate.low(runner_up, if multiple.is_finite() { multiple } else { 1.0 }, family);
        let low = if self.scale == Scale::Ratio { (sign * low).exp() } else { sign * low };
        if sign > 0.0 { Interval { low, ..interval } } else { Interval { high: low, ..interval } }
    }

    /// Opens the end of a claimed difference that crosses "no difference": the nearest number
    /// beyond it.
    fn open(&self, interval: Interval) -> Interval {
        let equal = self.scale.equal();
        match self.is_better() {
            true if interval.low <= equal => Interval { low: equal.next_up(), ..interval },
            false if interval.high >= equal => Interval { high: equal.next_down(), ..interval },
            _ => interval,
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

impl Difference {
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
