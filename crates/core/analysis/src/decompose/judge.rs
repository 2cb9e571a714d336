//! The parts of a difference that changed: intervals that stay true for the parts that are picked.

use super::{Part, PartKind};
use crate::Interval;
use crate::compare::welch_error;
use crate::estimate::{Moments, Precision, mean, t_test};
use crate::grid::Matched;
use observations::Observations;
use statistics::t_quantile;
use std::cmp::Ordering;

/// Expected share of false discoveries, at most, among the parts whose change is called supported.
const FALSE_SHARE: f64 = 0.05;
/// A part that contributes at most this share of the total change is not named as a cause.
pub(crate) const SHARE_MIN: f64 = 0.05;
/// Seconds for each unit of work below this are rounding.
const RESOLUTION_S: f64 = 1e-15;

/// A part for each unit of work, in each block of both sides.
#[derive(Clone)]
pub(super) struct Seconds {
    pub kind: PartKind,
    from: Vec<f64>,
    to: Vec<f64>,
    is_paired: bool,
    /// The number of blocks of each side that its spread is estimated from: [`Precision::first`].
    first: [usize; 2],
    /// The least standard error of the change, whatever its spread over blocks.
    error_min: f64,
}

impl Seconds {
    /// Compares the seconds of trials; each block counts with the mean over its trials.
    pub fn from_trials(
        matched: &Matched<&Observations>,
        kind: PartKind,
        seconds: impl Fn(&Observations) -> f64,
    ) -> Self {
        let side = |blocks: &[Vec<&Observations>]| {
            blocks
                .iter()
                .map(|block| {
                    mean(block.iter().map(|block| seconds(block) / block.work.amount as f64))
                })
                .collect()
        };
        Self::new(matched, kind, side(&matched.from), side(&matched.to))
    }

    /// Compares values, one for each block of each side.
    pub fn new(
        matched: &Matched<&Observations>,
        kind: PartKind,
        from: Vec<f64>,
        to: Vec<f64>,
    ) -> Self {
        Self { kind, from, to, is_paired: matched.paired, first: matched.first, error_min: 0.0 }
    }

    /// Sets the error of sampled times; `each_s` are the seconds that a sample represents on either
    /// side. Few samples may agree in all blocks by chance, so the error is at least that of
    /// Poisson counts; one more sample on each side makes that hold for small counts too.
    pub fn sampled(self, each_s: [f64; 2]) -> Self {
        let sides = [&self.from, &self.to].into_iter().zip(each_s);
        let error_min = sides
            .map(|(of_blocks, each_s)| each_s * (mean(of_blocks) + each_s))
            .sum::<f64>()
            .sqrt();
        Self { error_min, ..self }
    }

    pub fn is_nothing(&self) -> bool {
        self.from.iter().chain(&self.to).all(|seconds| *seconds == 0.0)
    }

    /// For sorting.
    pub fn largest_first(&self, other: &Self) -> Ordering {
        other.change().abs().total_cmp(&self.change().abs())
    }

    fn change(&self) -> f64 {
        mean(&self.to) - mean(&self.from)
    }

    /// Changes block by block, or both sides where blocks have nothing in common.
    fn samples(&self) -> Vec<Vec<f64>> {
        if self.is_paired {
            return vec![self.from.iter().zip(&self.to).map(|(from, to)| to - from).collect()];
        }
        vec![self.from.clone(), self.to.clone()]
    }

    /// Covariance of two changes: of their means over blocks.
    fn covariance(&self, other: &Self) -> f64 {
        self.samples()
            .iter()
            .zip(&other.samples())
            .zip(self.first)
            .map(|((a, b), first)| {
                let n = a.len() as f64;
                let first = Precision { first, ..Precision::default() }.first_stage(a.len());
                let (a, b) = (&a[..first], &b[..first]);
                let (mean_a, mean_b) = (mean(a), mean(b));
                a.iter().zip(b).map(|(a, b)| (a - mean_a) * (b - mean_b)).sum::<f64>()
                    / (first as f64 - 1.0)
                    / n
            })
            .sum()
    }

    /// Standard error of the change and its degrees of freedom; `None` of single blocks.
    fn error(&self) -> Option<(f64, f64)> {
        let samples = self.samples().into_iter().zip(self.first);
        let moments = samples.map(|(sample, first)| {
            Moments::known(&sample, Precision { first, ..Precision::default() })
        });
        let (error, df) = match &moments.collect::<Vec<_>>()[..] {
            [single] => (single.error?, single.df),
            [from, to] => welch_error(from, to)?,
            _ => return None,
        };
        Some((if error < RESOLUTION_S { self.error_min } else { error.max(self.error_min) }, df))
    }

    /// Two-sided p-value of "no change".
    fn p_value(&self) -> Option<f64> {
        let change =
            Some(self.change()).filter(|change| change.abs() >= RESOLUTION_S).unwrap_or(0.0);
        self.error().map(|(error, df)| t_test(change, error, df).1)
    }

    /// By itself, with a 95 % interval.
    pub fn part(self) -> Part {
        self.at(0.05, None)
    }

    /// With an interval that misses the truth with probability `alpha`, as a share of the change of
    /// `total`.
    fn at(self, alpha: f64, total: Option<&Self>) -> Part {
        let (from_s, to_s, change_s) = (mean(&self.from), mean(&self.to), self.change());
        let interval = self.error().map(|(error, df)| {
            let half = if error > 0.0 { t_quantile(alpha / 2.0, df) * error } else { 0.0 };
            Interval::around(change_s, half)
        });
        let known = total.filter(|total| total.change().abs() > RESOLUTION_S);
        let share_interval = known.and_then(|total| self.share_interval(alpha, total));
        let (p_value, share) = (self.p_value(), known.map(|total| change_s / total.change()));
        Part { kind: self.kind, from_s, to_s, change_s, interval, p_value, share, share_interval }
    }

    /// All shares s for which "change - s x total change is 0" is not rejected; `None` where the
    /// total may be 0.
    ///
    /// It holds 0 where the interval of the change does. Source: E. C. Fieller, Journal of the
    /// Royal Statistical Society B 16 (1954).
    fn share_interval(&self, alpha: f64, total: &Self) -> Option<Interval> {
        let (error, df) = self.error()?;
        let (change, all) = (self.change(), total.change());
        let t_squared = t_quantile(alpha / 2.0, df).powi(2);
        let a = all * all - t_squared * total.covariance(total);
        let b = change * all - t_squared * self.covariance(total);
        let c = change * change - t_squared * error * error;
        let root = (b * b - a * c).max(0.0).sqrt();
        (a > 0.0).then(|| Interval { low: (b - root) / a, high: (b + root) / a })
    }
}

/// Parts of a total, with intervals of one level, so that a change is supported where its interval
/// does not hold 0.
///
/// The level is Benjamini and Hochberg's (Journal of the Royal Statistical Society B 57, 1995) over
/// the parts that may be a cause, and the intervals are those that keep their coverage for the
/// parts that it picks (Y. Benjamini and D. Yekutieli, Journal of the American Statistical
/// Association 100, 2005): of what is called supported at most 5 % is expected to be wrong, be it
/// the sign.
///
/// A part can change by no more than twice its mean, so parts whose mean over both sides is small
/// against the total change are not tested: the choice does not look at the part's own change (R.
/// Bourgon, R. Gentleman and W. Huber, PNAS 107, 2010). Time in which a session waits for its
/// client is not a cause.
pub(super) fn judged(parts: Vec<Seconds>, total: &Seconds) -> Vec<Part> {
    let least = SHARE_MIN * total.change().abs() / 2.0;
    let mut p_values: Vec<f64> = parts
        .iter()
        .filter(|part| {
            let is_cause = !part.kind.is_client() && part.kind != PartKind::OtherCode;
            is_cause && f64::midpoint(mean(&part.from), mean(&part.to)).abs() >= least
        })
        .filter_map(Seconds::p_value)
        .collect();
    p_values.sort_by(f64::total_cmp);
    let step = FALSE_SHARE / p_values.len().max(1) as f64;
    let picked = (1..=p_values.len()).rev().find(|rank| p_values[rank - 1] <= step * *rank as f64);
    let alpha = step * picked.unwrap_or(1) as f64;
    parts.into_iter().map(|part| part.at(alpha, Some(total))).collect()
}
