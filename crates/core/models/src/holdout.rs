//! Errors of models on held-out levels, and their predictions for levels that were not measured.

use crate::curve::{Curve, Level, Machine, Model};
use serde::Serialize;
use statistics::{Interval, t_quantile};

/// A prediction that differs from the measured range by more than this factor carries a warning.
pub const FAR: f64 = 4.0;
/// Levels that a model needs: with fewer, any curve goes through them.
pub const LEVELS_MIN: usize = 4;
/// Prior error of a model as a standard deviation, and its weight in levels.
const PRIOR: (f64, f64) = (0.08, 3.0);

/// A model fitted to some levels, with what is known of its error.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// Which.
    pub model: Model,
    /// The fit.
    pub curve: Curve,
    /// Fits without one of the levels each.
    without: Vec<Curve>,
    /// Variance of the logarithm of measured / predicted, with the prior, and its degrees of
    /// freedom.
    variance: f64,
    df: f64,
    /// Variance of the mean of a level that comes from its trials.
    noise: f64,
    /// Lowest and highest level.
    range: (f64, f64),
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
    /// How many times as far as anything that was measured; 1 inside.
    pub distance: f64,
}

/// A level beside what a model says that has not seen it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tested {
    /// The prediction.
    #[serde(flatten)]
    pub prediction: Prediction,
    /// Mean of the trials.
    pub measured: f64,
    /// How far the prediction is off: 0.05 is 5 % too high.
    pub error: f64,
    /// True if the interval contains the measurement.
    pub covered: bool,
}

/// A model that was tested on levels that it has not seen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Candidate {
    /// Which.
    pub model: Model,
    /// The held-out levels, in order.
    pub tested: Vec<Tested>,
    /// Median of their absolute errors.
    pub error_median: f64,
}

/// Result of testing the models.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The models that could be fitted, the one that predicts best first.
    pub candidates: Vec<Candidate>,
    /// This model, fitted to the levels that were not held out.
    pub tested: Fitted,
    /// The model fitted to all levels, which predicts others.
    pub best: Fitted,
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

impl Fitted {
    /// A model fitted to these levels; `None` where it cannot be.
    pub fn fit(model: Model, levels: &[Level], machine: &Machine) -> Option<Self> {
        let curve = Curve::fit(model, levels, machine)?;
        let squares: f64 = levels
            .iter()
            .map(|level| Some((level.mean() / curve.throughput(level.n)?).ln().powi(2)))
            .sum::<Option<f64>>()?;
        let free = levels.len().saturating_sub(model.coefficients()) as f64;
        let df = PRIOR.1 + free;
        let ends = levels.iter().map(|level| level.n);
        let range = ends.fold((f64::MAX, 0.0_f64), |(low, high), n| (low.min(n), high.max(n)));
        Some(Self {
            model,
            without: (0..levels.len())
                .filter_map(|at| {
                    let others: Vec<Level> = levels
                        .iter()
                        .enumerate()
                        .filter(|(own, _)| *own != at)
                        .map(|(_, level)| level.clone())
                        .collect();
                    Curve::fit(model, &others, machine)
                })
                .collect(),
            variance: (PRIOR.1 * PRIOR.0 * PRIOR.0 + squares) / df,
            df,
            noise: noise(levels),
            range,
            curve,
        })
    }

    /// Predicts a level; `None` where it cannot be computed.
    ///
    /// The error of the logarithm has three parts: what the fit changes by when one level is left
    /// out (jackknife), by how much the model misses levels, and what trials differ by. The
    /// second grows with each doubling beyond what was measured.
    pub fn predict(&self, n: f64) -> Option<Prediction> {
        let predicted = self.curve.throughput(n).filter(|own| *own > 0.0 && own.is_finite())?;
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
        let misses = self.variance * (1.0 + distance.log2()).powi(2);
        let half = (jackknife + misses + self.noise).sqrt() * t_quantile(0.025, self.df);
        let interval = Interval { low: predicted * (-half).exp(), high: predicted * half.exp() };
        Some(Prediction { n, predicted, interval, distance })
    }

    fn test(&self, level: &Level) -> Option<Tested> {
        let (prediction, measured) = (self.predict(level.n)?, level.mean());
        Some(Tested {
            measured,
            error: prediction.predicted / measured - 1.0,
            covered: prediction.interval.contains(measured),
            prediction,
        })
    }
}

/// Variance of the logarithm of a level's mean that comes from its trials, over all levels.
fn noise(levels: &[Level]) -> f64 {
    let (mut squares, mut df) = (0.0, 0.0);
    for level in levels {
        let mean = level.mean();
        squares += level.trials.iter().map(|trial| (trial / mean - 1.0).powi(2)).sum::<f64>();
        df += level.trials.len() as f64 - 1.0;
    }
    let trials =
        levels.iter().map(|level| level.trials.len()).sum::<usize>() as f64 / levels.len() as f64;
    if df > 0.0 { squares / df / trials } else { 0.0 }
}

/// Number of levels to hold out by default: the highest third, whose prediction is the hardest and
/// the most wanted. At least three levels are left.
pub fn automatic(levels: usize) -> usize {
    (levels / 3).max(1).min(levels.saturating_sub(3))
}

/// Fits each model to the levels that are not held out, predicts the others, and takes the one that
/// misses them least.
///
/// # Errors
/// With too few levels to fit or to test.
pub fn judge(levels: &[Level], machine: &Machine, held_out: &[bool]) -> Result<Judged, JudgeError> {
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
    let of = |wanted: bool| -> Vec<Level> {
        let chosen = levels.iter().zip(held_out).filter(|(_, held)| **held == wanted);
        chosen.map(|(level, _)| level.clone()).collect()
    };
    let (seen, unseen) = (of(false), of(true));
    if unseen.is_empty() {
        return Err(JudgeError::NoneHeldOut);
    }
    if seen.len() < 3 {
        return Err(JudgeError::TooFewLeft { left: seen.len(), held_out: unseen.len() });
    }
    let mut found: Vec<(Candidate, Fitted)> = Model::ALL
        .iter()
        .filter_map(|model| {
            let fitted = Fitted::fit(*model, &seen, machine)?;
            let tested: Vec<Tested> =
                unseen.iter().map(|level| fitted.test(level)).collect::<Option<_>>()?;
            let error_median = median(tested.iter().map(|own| own.error.abs()).collect());
            Some((Candidate { model: *model, tested, error_median }, fitted))
        })
        .collect();
    // Stable: of equals the simpler one.
    found.sort_by(|(a, _), (b, _)| a.error_median.total_cmp(&b.error_median));
    let best = found.iter().find_map(|(candidate, tested)| {
        Some((tested.clone(), Fitted::fit(candidate.model, levels, machine)?))
    });
    let (tested, best) = best.ok_or(JudgeError::NotPositive)?;
    Ok(Judged {
        candidates: found.into_iter().map(|(candidate, _)| candidate).collect(),
        tested,
        best,
    })
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len().is_multiple_of(2) {
        f64::midpoint(values[middle - 1], values[middle])
    } else {
        values[middle]
    }
}
