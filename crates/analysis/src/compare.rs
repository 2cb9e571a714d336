//! Two configurations against each other, by paired blocks.

use crate::bootstrap::Bootstrap;
use crate::estimate::{Moments, t_interval, t_test};
use crate::grid::Matched;
use crate::{Estimate, Interval, ResponseChoice, holm};
use observations::{Direction, Observations};
use serde::Serialize;

/// On which scale a [`Comparison`] is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// A factor; 1 means equal, above 1 better, whatever the direction of the response.
    Ratio,
    /// A difference in the unit of the response, used when a value is zero or negative and has no
    /// logarithm; 0 means equal, above 0 better, whatever the direction of the response.
    Difference,
}

impl Scale {
    /// The value that says "no difference".
    pub fn equal(self) -> f64 {
        if self == Self::Ratio { 1.0 } else { 0.0 }
    }
}

/// How the interval and the p-value were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// t interval over blocks that both have (of log ratios on the ratio scale).
    PairedT,
    /// `BCa` bootstrap over blocks that both have: many blocks, skewed.
    PairedBootstrap,
    /// Welch's t over all blocks of each, because fewer than two blocks have both.
    Welch,
    /// Only a point: too few blocks for an interval.
    Point,
}

/// How many times better one configuration is than another.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Ratio or difference.
    pub scale: Scale,
    /// The factor (or difference); above 1 (0) is better than the other one.
    pub value: f64,
    /// Its 95 % interval, not corrected for multiple comparisons.
    pub interval: Option<Interval>,
    /// Two-sided p-value of "no difference".
    pub p_value: Option<f64>,
    /// The p-value after Holm's correction over the family of comparisons that it is shown with.
    pub adjusted_p: Option<f64>,
    /// Number of blocks behind it.
    pub blocks: usize,
    /// How it was made.
    pub method: Method,
}

/// Where a configuration or level stands against the best one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// The best mean.
    Best,
    /// Not distinguishable from the best at a family level of 5 % (Holm).
    AsGoodAsBest,
    /// Worse than the best, supported at a family level of 5 %.
    Worse,
    /// Cannot be told: no values, or a single block.
    Unknown,
}

/// A log ratio (or relative difference) smaller than this is rounding, not a difference: no clock
/// or counter that we read resolves a billionth of what it measures.
pub(crate) const RESOLUTION: f64 = 1e-9;
/// From this many blocks the bootstrap may take over; with fewer its intervals are too narrow.
const BOOTSTRAP_BLOCKS: usize = 20;

impl Comparison {
    /// How much better `to` is than `from`; `None` when one of them has no value.
    ///
    /// The factor is always `> 1` when `to` is better: `from / to` where lower is better,
    /// `to / from` where higher is. Blocks count once: within a block the mean of its pairs is taken.
    pub(crate) fn of(matched: &Matched, response: &ResponseChoice) -> Option<Self> {
        let values = |blocks: &[Vec<&Observations>]| -> Vec<Vec<f64>> {
            blocks.iter().map(|b| b.iter().filter_map(|o| response.value(o)).collect()).collect()
        };
        let (from, to) = (values(&matched.from), values(&matched.to));
        let all = || from.iter().chain(&to).flatten().copied();
        let largest = all().map(f64::abs).fold(0.0, f64::max);
        let betterness = Betterness::of(all(), response.direction);
        let transform = |blocks: Vec<Vec<f64>>| -> Vec<f64> {
            blocks
                .into_iter()
                .filter(|block| !block.is_empty())
                .map(|block| block.iter().map(|v| betterness.of_value(*v)).sum::<f64>() / block.len() as f64)
                .collect()
        };
        let (from, to) = (transform(from), transform(to));
        if from.is_empty() || to.is_empty() {
            return None;
        }
        let scale = betterness.scale;
        let resolution = if scale == Scale::Ratio { RESOLUTION } else { RESOLUTION * largest };
        let test =
            if matched.paired { paired(&from, &to, resolution) } else { welch(&from, &to, resolution) };
        Some(test.into_comparison(scale))
    }

    /// Whether the point estimate is better than equal.
    pub fn is_better(&self) -> bool {
        self.value > self.scale.equal()
    }

    /// Whether a difference is supported at 95 %, after correction where the comparison is one of a family.
    pub fn supported(&self) -> bool {
        self.adjusted_p.or(self.p_value).is_some_and(|p| p < 0.05)
    }
}

/// The scale on which differences are taken: larger is better, logarithms where every value has one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Betterness {
    pub scale: Scale,
    sign: f64,
}

impl Betterness {
    pub fn of(mut values: impl Iterator<Item = f64>, direction: Direction) -> Self {
        let sign = match direction {
            Direction::HigherIsBetter => 1.0,
            Direction::LowerIsBetter => -1.0,
        };
        Self { scale: if values.all(|value| value > 0.0) { Scale::Ratio } else { Scale::Difference }, sign }
    }

    pub fn of_value(&self, value: f64) -> f64 {
        self.sign * if self.scale == Scale::Ratio { value.ln() } else { value }
    }
}

/// A difference of means before it is transformed back.
pub(crate) struct Test {
    pub value: f64,
    pub interval: Option<Interval>,
    pub p_value: Option<f64>,
    pub blocks: usize,
    pub method: Method,
}

impl Test {
    pub fn into_comparison(self, scale: Scale) -> Comparison {
        let back = |value: f64| if scale == Scale::Ratio { value.exp() } else { value };
        Comparison {
            scale,
            value: back(self.value),
            interval: self.interval.map(|i| Interval { low: back(i.low), high: back(i.high) }),
            p_value: self.p_value,
            adjusted_p: None,
            blocks: self.blocks,
            method: self.method,
        }
    }
}

/// Mean of `to - from` over blocks that have both.
pub(crate) fn paired(from: &[f64], to: &[f64], resolution: f64) -> Test {
    let differences: Vec<f64> = from
        .iter()
        .zip(to)
        .map(|(from, to)| to - from)
        .map(|difference| if difference.abs() < resolution { 0.0 } else { difference })
        .collect();
    let moments = Moments::of(&differences);
    let test = Test {
        value: moments.mean,
        interval: moments.interval(),
        p_value: moments.p_value(),
        blocks: moments.n,
        method: if moments.n > 1 { Method::PairedT } else { Method::Point },
    };
    if !is_skewed(&differences, &moments) {
        return test;
    }
    match Bootstrap::of_mean(&differences) {
        Some(bootstrap) => Test {
            interval: Some(bootstrap.interval),
            p_value: Some(bootstrap.p_value),
            method: Method::PairedBootstrap,
            ..test
        },
        None => test,
    }
}

/// Enough blocks, and a sample skewness beyond twice its standard error under normality.
fn is_skewed(differences: &[f64], moments: &Moments) -> bool {
    let n = differences.len() as f64;
    let Some(sd) = moments.sd.filter(|sd| *sd > 0.0 && differences.len() >= BOOTSTRAP_BLOCKS) else {
        return false;
    };
    let skewness = differences.iter().map(|d| ((d - moments.mean) / sd).powi(3)).sum::<f64>() / n;
    skewness.abs() > 2.0 * (6.0 / n).sqrt()
}

/// Difference of the means of two independent samples with unequal variances.
pub(crate) fn welch(from: &[f64], to: &[f64], resolution: f64) -> Test {
    let (a, b) = (Moments::of(from), Moments::of(to));
    let value = if (b.mean - a.mean).abs() < resolution { 0.0 } else { b.mean - a.mean };
    let blocks = a.n.min(b.n);
    let (Some(error_a), Some(error_b)) = (a.standard_error(), b.standard_error()) else {
        return Test { value, interval: None, p_value: None, blocks, method: Method::Point };
    };
    let (square_a, square_b) = (error_a.powi(2), error_b.powi(2));
    let error = (square_a + square_b).sqrt();
    let df = if error > 0.0 {
        let (n_a, n_b) = (a.n as f64 - 1.0, b.n as f64 - 1.0);
        (square_a + square_b).powi(2) / (square_a.powi(2) / n_a + square_b.powi(2) / n_b)
    } else {
        (a.n + b.n) as f64 - 2.0
    };
    Test {
        value,
        interval: Some(t_interval(value, error, df)),
        p_value: Some(t_test(value, error, df)),
        blocks,
        method: Method::Welch,
    }
}

/// Position of the best mean: among those with at least two blocks, if there are any.
pub(crate) fn best(estimates: &[Option<&Estimate>]) -> Option<usize> {
    let enough = if estimates.iter().flatten().any(|e| e.n >= 2) { 2 } else { 1 };
    let candidates =
        estimates.iter().enumerate().filter_map(|(i, e)| e.filter(|e| e.n >= enough).map(|e| (i, e)));
    candidates
        .min_by(|(_, left), (_, right)| match left.direction {
            Direction::LowerIsBetter => left.mean.total_cmp(&right.mean),
            Direction::HigherIsBetter => right.mean.total_cmp(&left.mean),
        })
        .map(|(i, _)| i)
}

/// Standing of each against the best one, from the comparisons with it.
///
/// A configuration that truly is the best is called worse with a probability of at most 5 %: the set
/// of those not called worse is a confidence set for the best one.
pub(crate) fn standings(best: Option<usize>, against_best: &[Option<Comparison>]) -> Vec<Standing> {
    let p_values: Vec<_> = against_best.iter().map(|c| c.as_ref().and_then(|c| c.p_value)).collect();
    let adjusted = holm::adjust(&p_values);
    // The best mean may be the worse one on the scale of ratios.
    let worse = |i: usize| against_best[i].as_ref().is_some_and(|comparison| !comparison.is_better());
    (0..against_best.len())
        .map(|i| match adjusted[i] {
            _ if best == Some(i) => Standing::Best,
            None => Standing::Unknown,
            Some(p) if p < 0.05 && worse(i) => Standing::Worse,
            Some(_) => Standing::AsGoodAsBest,
        })
        .collect()
}

/// Fills in the corrected p-values of a family.
pub(crate) fn correct(family: &mut [Option<Comparison>]) {
    let p_values: Vec<_> = family.iter().map(|c| c.as_ref().and_then(|c| c.p_value)).collect();
    for (comparison, adjusted) in family.iter_mut().zip(holm::adjust(&p_values)) {
        if let Some(comparison) = comparison {
            comparison.adjusted_p = adjusted;
        }
    }
}
