//! A predicted difference between two runs of a two-level design, and its confirmation by fresh
//! repeats of both.

use observations::Interval;
use serde::Serialize;
use statistics::{mean, t_quantile, t_two_sided_p};

/// The part of an interval's error on each side.
const TAIL: f64 = 0.025;

/// A difference that effects predict.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PredictedDifference {
    /// The difference.
    pub value: f64,
    /// The standard error.
    pub standard_error: f64,
    /// Degrees of freedom of the error.
    pub df: f64,
    /// The share of the effects of the design that were significant: predictions from few of many
    /// are too large, as the effects were selected by their size.
    pub selected: f64,
}

/// The answer of fresh repeats to a prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The difference is there, and agrees with the prediction.
    Confirmed,
    /// It is there, but smaller or larger than predicted.
    OtherSize,
    /// It agrees with the prediction and with no difference.
    Undecided,
    /// It is not what was predicted, and may be none.
    NotConfirmed,
    /// It goes the other way.
    Reversed,
}

/// A prediction with its confirmation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Confirmation {
    /// The 95 % interval in which the mean was expected.
    pub expected: Interval,
    /// Mean of the differences.
    pub measured: f64,
    /// The 95 % interval.
    pub interval: Interval,
    /// The p-value of "no difference", adjusted (Bonferroni) for the family.
    pub p_value: f64,
    /// The answer.
    pub verdict: Verdict,
}

impl Confirmation {
    /// Compares a prediction with the differences of several blocks, as one of `family`
    /// predictions (Bonferroni). `None` with fewer than two blocks.
    ///
    /// The interval of expectation adds the squares of the half widths of the prediction and of the
    /// measurement. That of the prediction has the level of false coverage over the selected
    /// effects (Y. Benjamini and D. Yekutieli, Journal of the American Statistical Association 100,
    /// 2005).
    pub fn new(
        predicted: &PredictedDifference,
        differences: &[f64],
        family: usize,
    ) -> Option<Self> {
        let blocks = differences.len() as f64;
        if blocks < 2.0 {
            return None;
        }
        let measured = mean(differences);
        let squares: f64 =
            differences.iter().map(|difference| (difference - measured).powi(2)).sum();
        let error = (squares / (blocks - 1.0) / blocks).sqrt();
        let tail = TAIL / family as f64;
        let half = t_quantile(tail, blocks - 1.0) * error;
        let of_prediction =
            t_quantile(tail * predicted.selected, predicted.df) * predicted.standard_error;
        let expected = Interval::around(predicted.value, half.hypot(of_prediction));
        let interval = Interval::around(measured, half);
        let p_value =
            if measured == 0.0 { 1.0 } else { t_two_sided_p(measured / error, blocks - 1.0) };
        let p_value = (p_value * family as f64).min(1.0);
        let is_there = !interval.contains(0.0);
        // Both sides without any noise (a scripted engine) differ by rounding.
        let rounding = 1e-9 * predicted.value.abs();
        let agrees = expected.low - rounding <= measured && measured <= expected.high + rounding;
        let verdict = match (is_there, measured * predicted.value > 0.0, agrees) {
            (true, true, true) => Verdict::Confirmed,
            (true, true, false) => Verdict::OtherSize,
            (true, false, _) => Verdict::Reversed,
            (false, _, true) => Verdict::Undecided,
            (false, _, false) => Verdict::NotConfirmed,
        };
        Some(Self { expected, measured, interval, p_value, verdict })
    }
}
