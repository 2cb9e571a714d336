//! Two configurations against each other, by paired blocks.
//!
//! A trial that `limits.trial_time` stopped is an observation of at least the time until then
//! (censored): to leave it out, or to take a faster retry in its place, would turn the verdict
//! round. What is known of such a trial enters means and comparisons in its place. A mean is then a
//! bound, a comparison holds in one direction only, and one of two sides that both have time-outs,
//! or of a response of which nothing is known (a latency), is not made.

use crate::estimate::{Moments, Precision, mean, t_test};
use crate::grid::{FactorLayout, Figures, Matched};
use crate::response::{Figure, resolution};
use crate::{Bound, Estimate, Interval, ResponseChoice};
use observations::Direction;
use serde::Serialize;
use statistics::{adjusted, correct};

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

/// The method of the interval and the p-value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// t interval over blocks that both have (of log ratios on the ratio scale).
    PairedT,
    /// Welch's t over all blocks of each, because fewer than two blocks have both.
    Welch,
    /// Only a point: too few blocks for an interval.
    Point,
}

/// The gain of one configuration over another.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Ratio or difference.
    pub scale: Scale,
    /// The factor (or difference); above 1 (0) is better than the other one.
    pub value: f64,
    /// The 95 % interval; in a family adjusted like the p-value ([`corrected`]), so that it
    /// excludes "no difference" if and only if a difference is claimed. An end next to "no
    /// difference" is open.
    pub interval: Option<Interval>,
    /// Two-sided p-value of "no difference".
    pub p_value: Option<f64>,
    /// The p-value after Holm's correction over the family of comparisons that it is shown with.
    pub adjusted_p: Option<f64>,
    /// The p-value of "they differ by the margin of the response or more", corrected likewise;
    /// `None` without a margin.
    pub equivalence_p: Option<f64>,
    /// With time-outs on one side: the true value lies on this side of `value`, and the interval
    /// is open there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<Bound>,
    /// Number of blocks behind it; of set-ups where the sides differ in what is hard to change.
    pub blocks: usize,
    /// Degrees of freedom of the t behind interval and p-value; `None` where there is none.
    pub df: Option<f64>,
    /// The method by which it was made.
    pub method: Method,
}

/// The standing of a configuration or level against the best one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// The best by its ratio to the baseline, or without a baseline to the first, over paired
    /// blocks.
    Best,
    /// Differs from the best by less than the margin, supported at a family level of 5 % (Holm).
    Equivalent,
    /// Not distinguished from the best: it may be as good, or blocks may be too few to tell.
    NotDistinguished,
    /// Worse than the best, supported at a family level of 5 %.
    Worse,
    /// Not testable: no values, a single block, or trials that timed out.
    Unknown,
}

/// A log ratio (or relative difference) smaller than this is rounding, not a difference: no clock
/// or counter that we read resolves a billionth of what it measures.
pub const RESOLUTION: f64 = 1e-9;
/// The values of one side of a comparison in each block (or set-up).
#[derive(Debug, Clone, Default)]
pub struct Values {
    /// The values of each block or set-up.
    pub blocks: Vec<Vec<f64>>,
    /// The number of them that the spread is estimated from: [`Precision::first`].
    pub first: usize,
    /// The step in which they were counted or rounded.
    pub resolution: f64,
}

impl Values {
    /// A value for each block, as exact as they are.
    pub fn each<'a>(values: impl IntoIterator<Item = &'a f64>) -> Self {
        let blocks = values.into_iter().map(|value| vec![*value]).collect();
        Self { blocks, first: usize::MAX, resolution: 0.0 }
    }

    fn from_blocks(side: &[Vec<Figure>], first: usize) -> Self {
        let values =
            side.iter().map(|block| block.iter().filter_map(|block| block.known).collect());
        Self {
            blocks: values.filter(|block: &Vec<f64>| !block.is_empty()).collect(),
            first,
            resolution: resolution(side.iter().flatten()),
        }
    }

    fn all(&self) -> impl Iterator<Item = &f64> + Clone {
        self.blocks.iter().flatten()
    }
}

/// The ends of the interval of a ratio that says how large it is are no further apart.
const WIDTH_MAX: f64 = 10.0;

impl Comparison {
    /// Returns the gain of `to` over `from`; `None` when one of them has no value.
    ///
    /// The factor is always `> 1` when `to` is better: `from / to` where lower is better,
    /// `to / from` where higher is. Blocks count once: within a block the mean of its pairs is
    /// taken.
    pub fn from_trials(matched: &Matched<Figure>, response: &ResponseChoice) -> Option<Self> {
        let sides = [&matched.from, &matched.to];
        if sides.into_iter().flatten().flatten().any(|side| side.known.is_none()) {
            return None;
        }
        let [from, to] = [0, 1].map(|side| Values::from_blocks(sides[side], matched.first[side]));
        let (scale, test) = tested(matched.paired, &from, &to, response.direction)?;
        let equivalence_p = scale.equivalence(&test, response.equivalence_margin);
        let timed_out = sides.map(|side| side.iter().flatten().any(|side| side.timed_out));
        Self { equivalence_p, ..scale.comparison(&test) }.with_timeouts(timed_out)
    }

    /// A comparison from the values of both sides.
    pub fn of_values(
        is_paired: bool,
        from: &Values,
        to: &Values,
        direction: Direction,
    ) -> Option<Self> {
        tested(is_paired, from, to, direction).map(|(scale, test)| scale.comparison(&test))
    }

    /// A comparison of runs without common blocks, from a value for each block.
    pub fn unpaired<'a>(
        from: impl IntoIterator<Item = &'a f64>,
        to: impl IntoIterator<Item = &'a f64>,
        direction: Direction,
    ) -> Option<Self> {
        Self::of_values(false, &Values::each(from), &Values::each(to), direction)
    }

    /// Returns whether the point estimate is better than equal.
    pub fn is_better(&self) -> bool {
        self.value > self.scale.equal()
    }

    /// Returns whether a difference is significant at 95 %, adjusted where the comparison belongs
    /// to a family.
    pub fn supported(&self) -> bool {
        self.adjusted_p.or(self.p_value).is_some_and(|p| p < 0.05)
    }

    /// Returns whether the interval says how large the difference is: a ratio of which the ends are
    /// more than a factor of ten apart does not.
    pub fn is_bounded(&self) -> bool {
        let is_wide = |interval: Interval| interval.high > WIDTH_MAX * interval.low;
        self.scale == Scale::Difference || !self.interval.is_some_and(is_wide)
    }

    /// The comparison as a family of its own, chosen before the data was seen.
    #[must_use]
    pub fn alone(self) -> Self {
        self.reported(std::iter::empty(), 1)
    }

    /// Adjusts the comparison of sides with time-outs on the first, the second, or both.
    #[must_use]
    pub fn with_timeouts(self, timed_out: [bool; 2]) -> Option<Self> {
        match timed_out {
            [false, false] => Some(self),
            [true, false] => Some(self.bounded(Bound::AtLeast)),
            [false, true] => Some(self.bounded(Bound::AtMost)),
            [true, true] => None,
        }
    }

    /// With only one end of its interval, and a claim in that direction only.
    ///
    /// With each time-out at its bound the mean difference is a bound of the true one, so that a
    /// test which supports a difference beyond it supports the true one as well.
    fn bounded(self, bound: Bound) -> Self {
        let claims = self.is_better() == (bound == Bound::AtLeast);
        let lowest = if self.scale == Scale::Ratio { 0.0 } else { f64::NEG_INFINITY };
        Self {
            bound: Some(bound),
            interval: self.interval.map(|interval| match bound {
                Bound::AtLeast => Interval { high: f64::INFINITY, ..interval },
                Bound::AtMost => Interval { low: lowest, ..interval },
            }),
            p_value: self.p_value.map(|p| if claims { p } else { 1.0 }),
            equivalence_p: None,
            ..self
        }
    }

    /// Returns the supported end of a bounded comparison: the end of its interval, else its value.
    pub fn limit(&self) -> f64 {
        self.interval.map_or(self.value, |interval| match self.bound {
            Some(Bound::AtLeast) => interval.low,
            _ => interval.high,
        })
    }
}

impl Figures {
    /// Returns the gain of the configuration `to` over `from`.
    pub fn compare(&self, from: usize, to: usize) -> Option<Comparison> {
        Comparison::from_trials(&self.grid.matched(from, to), &self.response)
    }
}

impl FactorLayout {
    /// Returns the gain of the level `to` over `from`, over the levels of all other factors.
    pub fn compare(&self, figures: &Figures, from: usize, to: usize) -> Option<Comparison> {
        Comparison::from_trials(&self.matched(&figures.grid, from, to), &figures.response)
    }
}

/// The scale on which differences are taken: larger is better, logarithms where every value has
/// one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Betterness {
    pub scale: Scale,
    sign: f64,
    /// A difference on this scale that is smaller is rounding.
    pub resolution: f64,
}

impl Betterness {
    pub fn for_values<'v>(
        values: impl Iterator<Item = &'v f64> + Clone,
        direction: Direction,
    ) -> Self {
        let sign = if direction == Direction::HigherIsBetter { 1.0 } else { -1.0 };
        if values.clone().all(|value| *value > 0.0) {
            return Self { scale: Scale::Ratio, sign, resolution: RESOLUTION };
        }
        let largest = values.map(|value| value.abs()).fold(0.0, f64::max);
        Self { scale: Scale::Difference, sign, resolution: RESOLUTION * largest }
    }

    pub fn of_value(&self, value: f64) -> f64 {
        self.sign * if self.scale == Scale::Ratio { value.ln() } else { value }
    }

    /// Variance on this scale of rounding values of this mean to steps of this size: those of a
    /// uniform distribution.
    pub fn rounding(&self, resolution: f64, mean: f64) -> f64 {
        let step = if self.scale == Scale::Ratio { resolution / mean } else { resolution };
        step * step / 12.0
    }

    /// The means of blocks on this scale.
    fn sample(&self, values: &Values) -> Sample {
        let blocks = values.blocks.iter();
        let means = blocks.map(|block| mean(block.iter().map(|value| self.of_value(*value))));
        let rounding = self.rounding(values.resolution, mean(values.all()));
        Sample { values: means.collect(), precision: Precision { first: values.first, rounding } }
    }

    /// A test on this scale as what it says of the values.
    pub fn comparison(&self, test: &Test) -> Comparison {
        let back = |value: f64| if self.scale == Scale::Ratio { value.exp() } else { value };
        Comparison {
            scale: self.scale,
            value: back(test.value),
            interval: test.interval.map(|interval| interval.map(back)),
            p_value: test.p_value,
            adjusted_p: None,
            equivalence_p: None,
            bound: None,
            blocks: test.blocks,
            df: test.df,
            method: test.method,
        }
    }
}

/// A test of the values of both sides, on the scale that fits them; `None` when a side has none.
fn tested(
    is_paired: bool,
    from: &Values,
    to: &Values,
    direction: Direction,
) -> Option<(Betterness, Test)> {
    let scale = Betterness::for_values(from.all().chain(to.all()), direction);
    (!from.blocks.is_empty() && !to.blocks.is_empty()).then(|| {
        (scale, Test::run(is_paired, &scale.sample(from), &scale.sample(to), scale.resolution))
    })
}

/// A side of a test: a value for each block.
#[derive(Debug, Clone)]
pub struct Sample {
    /// Means of blocks or set-ups.
    pub values: Vec<f64>,
    /// Knowledge of their spread.
    pub precision: Precision,
}

impl Sample {
    /// Values without a known rounding error, of which the first `first` belong to a first stage
    /// ([`Precision::first`]).
    pub fn new(values: Vec<f64>, first: usize) -> Self {
        Self { values, precision: Precision { first, ..Precision::default() } }
    }
}

/// A difference of means before it is transformed back.
pub struct Test {
    /// The difference.
    pub value: f64,
    /// The 95 % interval.
    pub interval: Option<Interval>,
    /// The p-value of "there is no difference".
    pub p_value: Option<f64>,
    /// Blocks or set-ups behind it.
    pub blocks: usize,
    /// Degrees of freedom.
    pub df: Option<f64>,
    /// The method of its test.
    pub method: Method,
    spread: Option<Spread>,
}

/// Standard error of a difference, with its degrees of freedom.
struct Spread {
    error: f64,
    df: f64,
}

impl Test {
    /// Tests `to` against `from`; paired: the same blocks. Differences below `resolution` are
    /// rounding.
    pub fn run(is_paired: bool, from: &Sample, to: &Sample, resolution: f64) -> Self {
        if is_paired { paired(from, to, resolution) } else { welch(from, to, resolution) }
    }

    fn new(value: f64, spread: Option<Spread>, blocks: usize, method: Method) -> Self {
        let interval = spread.as_ref().map(|spread| t_test(value, spread.error, spread.df).0);
        let method = if spread.is_some() { method } else { Method::Point };
        let df = spread.as_ref().map(|spread| spread.df);
        let test = Self { value, interval, p_value: None, blocks, df, method, spread };
        Self { p_value: test.p_value_of(0.0), ..test }
    }

    /// The standard error of the difference and its degrees of freedom.
    pub(crate) fn error_and_df(&self) -> Option<(f64, f64)> {
        self.spread.as_ref().map(|spread| (spread.error, spread.df))
    }

    /// The two-sided p-value of "the true difference is this".
    pub fn p_value_of(&self, difference: f64) -> Option<f64> {
        let spread = self.spread.as_ref()?;
        Some(t_test(self.value - difference, spread.error, spread.df).1)
    }
}

/// Mean of `to - from` over blocks that have both: a paired t test at any number of blocks.
///
/// Differences of two equal distributions are symmetric, however skewed these are, which keeps the
/// error rate of t: `tests/simulated_noise.rs`.
pub(crate) fn paired(from: &Sample, to: &Sample, resolution: f64) -> Test {
    let differences = from.values.iter().zip(&to.values).map(|(from, to)| to - from);
    let differences: Vec<f64> = differences
        .map(|difference| if difference.abs() < resolution { 0.0 } else { difference })
        .collect();
    let rounding = from.precision.rounding + to.precision.rounding;
    let moments = Moments::known(&differences, Precision { rounding, ..from.precision });
    let spread = moments.error.map(|error| Spread { error, df: moments.df });
    Test::new(moments.mean, spread, moments.n, Method::PairedT)
}

/// Difference of the means of two independent samples with unequal variances.
pub(crate) fn welch(from: &Sample, to: &Sample, resolution: f64) -> Test {
    let [a, b] = [from, to].map(|side| Moments::known(&side.values, side.precision));
    let value = if (b.mean - a.mean).abs() < resolution { 0.0 } else { b.mean - a.mean };
    let spread = welch_error(&a, &b).map(|(error, df)| Spread { error, df });
    Test::new(value, spread, a.n.min(b.n), Method::Welch)
}

/// Standard error of such a difference, and its degrees of freedom.
pub fn welch_error(a: &Moments, b: &Moments) -> Option<(f64, f64)> {
    let (square_a, square_b) = (a.error?.powi(2), b.error?.powi(2));
    let square = square_a + square_b;
    let df = square.powi(2) / (square_a.powi(2) / a.df + square_b.powi(2) / b.df);
    Some((square.sqrt(), if square > 0.0 { df } else { a.df + b.df }))
}

/// Positions of those that can be the best: without time-outs, if there are any such, and of these
/// with at least two blocks, if there are any.
pub(crate) fn candidates(estimates: &[Option<&Estimate>]) -> Vec<usize> {
    let some = |usable: &dyn Fn(&Estimate) -> bool| {
        estimates.iter().flatten().any(|estimate| usable(estimate))
    };
    let is_complete =
        |estimate: &Estimate| estimate.timeouts == 0 || !some(&|estimate| estimate.timeouts == 0);
    (0..estimates.len())
        .filter(|at| {
            estimates[*at].is_some_and(|estimate| {
                is_complete(estimate)
                    && (estimate.n >= 2 || !some(&|other| is_complete(other) && other.n >= 2))
            })
        })
        .collect()
}

/// Position of the best of several, which are ranked by their comparisons with one of them, the
/// reference: on its scale and over the blocks that both have. So one that failed where all are
/// slow does not look fast. If some candidate cannot be compared with the reference, they are
/// ranked by their means.
pub(crate) fn best(
    estimates: &[Option<Estimate>],
    comparisons: &[Option<Comparison>],
    reference: usize,
) -> Option<usize> {
    let estimates: Vec<Option<&Estimate>> = estimates.iter().map(Option::as_ref).collect();
    let measured = candidates(&estimates).into_iter();
    let scale = comparisons.iter().flatten().map(|comparison| comparison.scale).next();
    let gains = measured.map(|measurement| match &comparisons[measurement] {
        _ if measurement == reference => Some((measurement, scale?.equal())),
        Some(comparison) if Some(comparison.scale) == scale => {
            Some((measurement, comparison.value))
        }
        _ => None,
    });
    let ranked: Option<Vec<(usize, f64)>> = gains.collect();
    let Some(ranked) = ranked.filter(|_| scale.is_some()) else { return best_mean(&estimates) };
    ranked
        .into_iter()
        .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))
        .map(|(index, _)| index)
}

/// Position of the best mean among the candidates.
pub(crate) fn best_mean(estimates: &[Option<&Estimate>]) -> Option<usize> {
    let measured = candidates(estimates).into_iter().filter_map(|i| Some((i, estimates[i]?)));
    let best = measured.min_by(|(_, left), (_, right)| match left.direction {
        Direction::LowerIsBetter => left.mean.total_cmp(&right.mean),
        Direction::HigherIsBetter => right.mean.total_cmp(&left.mean),
    });
    best.map(|(i, _)| i)
}

/// Each of `n` against one of them, corrected (Holm) over all; `None` for that one itself, and for
/// all where there is none.
pub(crate) fn against(
    baseline: Option<usize>,
    n: usize,
    compare: &dyn Fn(usize, usize) -> Option<Comparison>,
) -> Vec<Option<Comparison>> {
    corrected(each_against(baseline, n, compare))
}

/// Each of `n` against one of them, not corrected.
pub(crate) fn each_against(
    baseline: Option<usize>,
    n: usize,
    compare: &dyn Fn(usize, usize) -> Option<Comparison>,
) -> Vec<Option<Comparison>> {
    (0..n).map(|to: usize| compare(baseline.filter(|from| *from != to)?, to)).collect()
}

/// Standing of each against the best one, from the comparisons with it.
///
/// A configuration that truly is the best is called worse with a probability of at most 5 %: the
/// set of those not called worse is a confidence set for the best one.
pub(crate) fn standings(best: Option<usize>, against_best: &[Option<Comparison>]) -> Vec<Standing> {
    let standings = against_best.iter().enumerate().map(|(i, comparison)| match comparison {
        _ if best == Some(i) => Standing::Best,
        Some(comparison) if comparison.p_value.is_some() => {
            // The best mean may be the worse one on the scale of ratios.
            match comparison.supported() && !comparison.is_better() {
                true => Standing::Worse,
                false if comparison.bound.is_some() => Standing::Unknown,
                false if comparison.is_equivalent() => Standing::Equivalent,
                false => Standing::NotDistinguished,
            }
        }
        _ => Standing::Unknown,
    });
    standings.collect()
}

/// A family with its corrected p-values, and the intervals that agree with them.
pub fn corrected(family: Vec<Option<Comparison>>) -> Vec<Option<Comparison>> {
    let tests = family.iter().flatten().filter(|family| family.p_value.is_some()).count();
    corrected_of(family, tests)
}

/// A family of which the most telling members were chosen among this many comparisons.
pub(crate) fn corrected_of(
    family: Vec<Option<Comparison>>,
    chosen_among: usize,
) -> Vec<Option<Comparison>> {
    reported(&with_adjusted_p(family), chosen_among)
}

/// A family with its corrected p-values, its intervals not adjusted.
pub(crate) fn with_adjusted_p(mut family: Vec<Option<Comparison>>) -> Vec<Option<Comparison>> {
    correct(family.iter_mut().flatten().map(|c| (c.p_value, &mut c.adjusted_p)).collect());
    let equivalence: Vec<Option<f64>> = family.iter().map(|c| c.as_ref()?.equivalence_p).collect();
    for (comparison, p) in family.iter_mut().zip(adjusted(&equivalence)) {
        if let Some(comparison) = comparison {
            comparison.equivalence_p = p;
        }
    }
    family
}

/// The members of a family of this many tests, whose p-values are adjusted, with their intervals.
pub(crate) fn reported(family: &[Option<Comparison>], tests: usize) -> Vec<Option<Comparison>> {
    let reported = family.iter().enumerate().map(|(at, comparison)| {
        let others = family.iter().enumerate().filter(|(other, _)| *other != at);
        Some(comparison.as_ref()?.reported(others.filter_map(|(_, other)| other.as_ref()), tests))
    });
    reported.collect()
}
