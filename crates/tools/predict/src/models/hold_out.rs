//! Errors of models on held-out levels, and their predictions for levels that were not measured.

use super::average::{self, Weights, noise};
use super::bounds::Bounds;
use super::curve::{Curve, Level, Model};
use observations::Interval;
use serde::Serialize;
use statistics::{median, t_quantile};

/// A prediction that differs from the measured range by more than this factor carries a warning.
pub const FAR: f64 = 4.0;
/// Levels that a model needs: with fewer, any curve goes through them.
pub const LEVELS_MIN: usize = 4;
/// An interval whose ends differ by more than this factor says nothing to plan by.
pub const FACTOR_MAX: f64 = 10.0;
/// Prior error of a model as a standard deviation, and its weight in levels.
const PRIOR: (f64, f64) = (0.04, 3.0);
/// Prior error of an average one octave beyond its levels, and its weight in levels.
const PRIOR_OCTAVE: (f64, f64) = (0.1, 2.0);

/// A model fitted to some levels, with what is known of its error.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedModel {
    /// The model.
    pub model: Model,
    /// The fit.
    pub curve: Curve,
    /// Fits without one of the levels each.
    without: Vec<Curve>,
    /// Variance of the logarithm of measured / predicted, with the prior, and its degrees of
    /// freedom.
    variance: f64,
    df: f64,
    /// Variance of the logarithm one octave beyond the levels.
    octave: f64,
    /// Logarithm by which it is off at the highest level.
    anchor: f64,
    /// Variance of the mean of a level that comes from its trials.
    noise: f64,
    /// Lowest and highest level.
    range: (f64, f64),
    bounds: Bounds,
}

/// A model's prediction for a level.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Prediction {
    /// The level.
    pub n: f64,
    /// Work a second.
    pub predicted: f64,
    /// 95 % interval for the mean of as many trials as the other levels have.
    pub interval: Interval,
    /// The distance as a multiple of anything that was measured; 1 inside.
    pub distance: f64,
}

impl Prediction {
    /// Factor between the ends of the interval.
    pub fn factor(&self) -> f64 {
        self.interval.high / self.interval.low
    }

    /// Returns whether the interval is narrow enough to plan by.
    pub fn is_useful(&self) -> bool {
        self.factor() <= FACTOR_MAX
    }
}

/// A level beside what a model says that has not seen it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HoldOut {
    /// The prediction.
    #[serde(flatten)]
    pub prediction: Prediction,
    /// Mean of the trials.
    pub measured: f64,
    /// The error of the prediction: 0.05 is 5 % too high.
    pub error: f64,
    /// True if the interval contains the measurement.
    pub covered: bool,
}

/// A model, or their average, tested on levels that it has not seen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Candidate {
    /// The model.
    pub model: Model,
    /// The held-out levels, in order.
    pub tested: Vec<HoldOut>,
    /// Median of their absolute errors.
    pub error_median: f64,
    /// Median factor between the ends of their intervals.
    pub factor_median: f64,
}

/// How well a model predicts the held-out levels that it can predict.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Accuracy {
    /// Levels within their intervals, and all of them: with an interval to plan by.
    pub covered: (usize, usize),
    /// Median of their absolute errors.
    pub error_median: f64,
    /// Median factor between the ends of their intervals.
    pub factor_median: f64,
}

impl Candidate {
    /// The accuracy; its medians are of all held-out levels where none can be predicted.
    pub fn accuracy(&self) -> Accuracy {
        let predicted: Vec<&HoldOut> =
            self.tested.iter().filter(|level| level.prediction.is_useful()).collect();
        let median_of = |of: fn(&HoldOut) -> f64| {
            median(&predicted.iter().map(|level| of(level)).collect::<Vec<_>>())
        };
        Accuracy {
            covered: (predicted.iter().filter(|level| level.covered).count(), predicted.len()),
            error_median: median_of(|level| level.error.abs()).unwrap_or(self.error_median),
            factor_median: median_of(|level| level.prediction.factor())
                .unwrap_or(self.factor_median),
        }
    }
}

/// Result of testing the models.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// The average, then the models that could be fitted, the one that predicts best first.
    pub candidates: Vec<Candidate>,
    /// The average, fitted to the levels that were not held out.
    pub tested: FittedModel,
    /// The average fitted to all levels, which predicts others.
    pub best: FittedModel,
}

/// Why no model can be tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum JudgeError {
    /// Too few levels.
    #[error(
        "{levels} levels measured; a model needs at least {LEVELS_MIN}, because any curve fits \
         fewer: add levels"
    )]
    TooFewLevels {
        /// Number of measured levels.
        levels: usize,
    },
    /// Too few are left to fit.
    #[error(
        "{left} levels remain to fit when {held_out} are held out; a model needs at least 3: \
         hold out fewer, or add levels"
    )]
    TooFewLeft {
        /// Levels that are not held out.
        left: usize,
        /// Levels that are.
        held_out: usize,
    },
    /// Nothing to test on.
    #[error("no level is held out: no prediction can be tested")]
    NoneHeldOut,
    /// No throughput, or none that is above 0.
    #[error("a throughput is not above 0: no law can be fitted")]
    NotPositive,
}

impl FittedModel {
    /// A model fitted to these levels; `None` where it cannot be.
    pub fn fit(model: Model, levels: &[Level], cpus: Option<u32>) -> Option<Self> {
        Self::weighted(model, levels, cpus, &Weights::new(levels, cpus))
    }

    fn weighted(
        model: Model,
        levels: &[Level],
        cpus: Option<u32>,
        weights: &Weights,
    ) -> Option<Self> {
        let fit = |levels: &[Level]| match model {
            Model::Average => Curve::average(&weights.shares, levels, cpus),
            model => Curve::fit(model, levels, cpus),
        };
        let curve = fit(levels)?;
        let squares: f64 = levels
            .iter()
            .map(|level| Some((level.mean() / curve.throughput(level.n)?).ln().powi(2)))
            .sum::<Option<f64>>()?;
        let free = levels.len().saturating_sub(model.coefficients()) as f64;
        let df = PRIOR.1 + free;
        let ends = levels.iter().map(|level| level.n);
        let range = ends.fold((f64::MAX, 0.0_f64), |(low, high), n| (low.min(n), high.max(n)));
        let (prior, weight) = PRIOR_OCTAVE;
        let errors = weights.errors.iter().map(|error| error * error);
        let octave =
            (weight * prior * prior + errors.sum::<f64>()) / (weight + weights.errors.len() as f64);
        Some(Self {
            model,
            without: (0..levels.len())
                .filter_map(|at| {
                    let others = levels.iter().enumerate().filter(|(index, _)| *index != at);
                    fit(&others.map(|(_, level)| level.clone()).collect::<Vec<_>>())
                })
                .collect(),
            variance: (PRIOR.1 * PRIOR.0 * PRIOR.0 + squares) / df,
            df,
            octave,
            anchor: average::anchor(&curve, levels)?,
            noise: noise(levels),
            range,
            bounds: Bounds::new(levels, cpus),
            curve,
        })
    }

    /// Predicts a level; `None` where it cannot be computed.
    ///
    /// The error of the logarithm has these parts: the change of the fit when one level is left out
    /// (jackknife), the differences between models, their misses of levels, and the differences
    /// between trials. Beyond the levels, their misses of the highest levels, predicted from those
    /// below, are added for each octave. Nothing is predicted beyond physical [`Bounds`].
    pub fn predict(&self, n: f64) -> Option<Prediction> {
        let found = self
            .curve
            .throughput(n)
            .filter(|throughput| *throughput > 0.0 && throughput.is_finite())?;
        let anchor = if n > self.range.1 { self.anchor } else { 0.0 };
        let logs: Vec<f64> = self
            .without
            .iter()
            .filter_map(|curve| curve.throughput(n))
            .filter(|x| *x > 0.0)
            .map(f64::ln)
            .collect();
        let fits = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / fits.max(1.0);
        let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
        let jackknife = squares * (fits - 1.0).max(0.0) / fits.max(1.0);
        let distance = (n / self.range.1).max(self.range.0 / n).max(1.0);
        let beyond = self.octave * distance.log2().powi(2);
        let variance = jackknife + self.between(n) + self.variance + beyond + self.noise;
        let half = variance.sqrt() * t_quantile(0.025, self.df);
        let bounds = self.bounds.at(n);
        let within = |rate: f64| rate.clamp(bounds.low, bounds.high);
        let centre = found * anchor.exp();
        let interval = Interval { low: centre * (-half).exp(), high: centre * half.exp() };
        Some(Prediction { n, predicted: within(centre), interval: interval.map(within), distance })
    }

    /// Variance of the logarithm between the models of an average.
    fn between(&self, n: f64) -> f64 {
        let Curve::Average(members) = &self.curve else { return 0.0 };
        let logs = members
            .iter()
            .filter_map(|member| Some((member.weight, member.curve.throughput(n)?.ln())));
        let logs: Vec<(f64, f64)> = logs.filter(|(_, log)| log.is_finite()).collect();
        let mean: f64 = logs.iter().map(|(weight, log)| weight * log).sum();
        logs.iter().map(|(weight, log)| weight * (log - mean).powi(2)).sum()
    }

    fn test(&self, level: &Level) -> Option<HoldOut> {
        let (prediction, measured) = (self.predict(level.n)?, level.mean());
        Some(HoldOut {
            measured,
            error: prediction.predicted / measured - 1.0,
            covered: prediction.interval.contains(measured),
            prediction,
        })
    }
}

/// Number of levels to hold out by default: the highest third, whose prediction is the hardest and
/// the most wanted. At least three levels are left.
pub fn automatic(levels: usize) -> usize {
    (levels / 3).max(1).min(levels.saturating_sub(3))
}

/// Fits each model, and their average, to the levels that are not held out; predicts the others.
///
/// # Errors
/// With too few levels to fit or to test.
pub fn judge(
    levels: &[Level],
    cpus: Option<u32>,
    held_out: &[bool],
) -> Result<Judgement, JudgeError> {
    if levels.len() < LEVELS_MIN {
        return Err(JudgeError::TooFewLevels { levels: levels.len() });
    }
    if levels
        .iter()
        .flat_map(|level| &level.trials)
        .any(|trial| *trial <= 0.0 || !trial.is_finite())
    {
        return Err(JudgeError::NotPositive);
    }
    let of = |is_held: bool| -> Vec<Level> {
        let chosen = levels.iter().zip(held_out).filter(|(_, held)| **held == is_held);
        chosen.map(|(level, _)| level.clone()).collect()
    };
    let (fitted, unseen) = (of(false), of(true));
    if unseen.is_empty() {
        return Err(JudgeError::NoneHeldOut);
    }
    if fitted.len() < 3 {
        return Err(JudgeError::TooFewLeft { left: fitted.len(), held_out: unseen.len() });
    }
    let weights = Weights::new(&fitted, cpus);
    let candidate = |model: Model| {
        let fitted = FittedModel::weighted(model, &fitted, cpus, &weights)?;
        let tested: Vec<HoldOut> =
            unseen.iter().map(|level| fitted.test(level)).collect::<Option<_>>()?;
        let error_median =
            median(&tested.iter().map(|level| level.error.abs()).collect::<Vec<_>>())?;
        let factor_median =
            median(&tested.iter().map(|level| level.prediction.factor()).collect::<Vec<_>>())?;
        Some((Candidate { model, tested, error_median, factor_median }, fitted))
    };
    let (average, tested) = candidate(Model::Average).ok_or(JudgeError::NotPositive)?;
    let mut candidates: Vec<Candidate> =
        Model::ALL.into_iter().filter_map(|model| Some(candidate(model)?.0)).collect();
    // Stable: of equals the simpler one.
    candidates.sort_by(|a, b| a.error_median.total_cmp(&b.error_median));
    candidates.insert(0, average);
    let best = FittedModel::fit(Model::Average, levels, cpus).ok_or(JudgeError::NotPositive)?;
    Ok(Judgement { candidates, tested, best })
}
