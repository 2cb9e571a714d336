//! Weights of models by how they predict the highest levels from those below, and how far the
//! average then is off.

use super::curve::{Curve, Level, Member, Model};

/// Error of the logarithm that a model is taken to have at least: two models that are this good
/// have the same weight.
const ERROR_MIN: f64 = 0.02;
/// Error of a model that needs more levels than a test leaves.
const ERROR_UNTESTED: f64 = 0.15;
/// Levels that are predicted from those below them, one after the other.
const ORIGINS_MAX: usize = 2;
/// Levels that a model is fitted to at least.
const FITTED_MIN: usize = 3;

/// How models are averaged.
#[derive(Debug, Clone)]
pub struct Weights {
    /// The share of each model.
    pub shares: Vec<(Model, f64)>,
    /// Errors of the logarithm of the average for an octave, at levels that are predicted from
    /// those below.
    pub errors: Vec<f64>,
}

impl Weights {
    /// Weights for these levels.
    pub fn new(levels: &[Level], cpus: Option<u32>) -> Self {
        let shares = shares(levels, cpus);
        let errors = origins(levels).filter_map(|origin| {
            let curve = Curve::average(&shares, origin.levels, cpus)?;
            Some(origin.error_of(&curve)? / origin.octaves().max(1.0))
        });
        Self { errors: errors.collect(), shares }
    }
}

impl Curve {
    /// A model fitted to these levels by its relative errors; `None` where there are too few, and
    /// without what it needs.
    pub fn fit(model: Model, levels: &[Level], cpus: Option<u32>) -> Option<Self> {
        match model {
            Model::Average => Self::average(&Weights::new(levels, cpus).shares, levels, cpus),
            model => Self::alone(model, levels, cpus),
        }
    }

    /// The geometric mean of models with these weights, fitted to these levels; of those that
    /// cannot be fitted the others take the share.
    pub fn average(weights: &[(Model, f64)], levels: &[Level], cpus: Option<u32>) -> Option<Self> {
        let mut members: Vec<Member> = weights
            .iter()
            .filter_map(|(model, weight)| {
                let curve = Self::fit(*model, levels, cpus)?;
                Some(Member { model: *model, weight: *weight, curve })
            })
            .collect();
        let all: f64 = members.iter().map(|member| member.weight).sum();
        for member in &mut members {
            member.weight /= all;
        }
        (all > 0.0).then_some(Self::Average(members))
    }
}

/// By the inverse of the fourth power of a model's error: one that is off twice as far has a
/// sixteenth.
fn shares(levels: &[Level], cpus: Option<u32>) -> Vec<(Model, f64)> {
    let noise = noise(levels);
    Model::ALL
        .into_iter()
        .map(|model| {
            let errors: Vec<f64> =
                origins(levels).filter_map(|origin| origin.error(model, cpus)).collect();
            let square = if errors.is_empty() {
                ERROR_UNTESTED.powi(2)
            } else {
                errors.iter().map(|error| error * error).sum::<f64>() / errors.len() as f64
            };
            (model, (square + ERROR_MIN.powi(2) + noise).powi(-2))
        })
        .collect()
}

/// Levels in order, and the next one.
struct Origin<'l> {
    levels: &'l [Level],
    next: &'l Level,
}

fn origins(levels: &[Level]) -> impl Iterator<Item = Origin<'_>> {
    (FITTED_MIN..levels.len())
        .rev()
        .take(ORIGINS_MAX)
        .map(|at| Origin { levels: &levels[..at], next: &levels[at] })
}

impl Origin<'_> {
    fn error(&self, model: Model, cpus: Option<u32>) -> Option<f64> {
        self.error_of(&Curve::fit(model, self.levels, cpus)?)
    }

    fn error_of(&self, curve: &Curve) -> Option<f64> {
        let off = (self.next.mean() / curve.throughput(self.next.n)?).ln();
        let anchor = anchor(curve, self.levels)?;
        (off - anchor).is_finite().then_some(off - anchor)
    }

    fn octaves(&self) -> f64 {
        self.levels.last().map_or(1.0, |last| (self.next.n / last.n).log2())
    }
}

/// Logarithm by which a curve is off at the highest level, without the part that the noise of its
/// trials explains: beyond that level the curve continues from there.
pub fn anchor(curve: &Curve, levels: &[Level]) -> Option<f64> {
    let last = levels.last()?;
    let off = (last.mean() / curve.throughput(last.n)?).ln();
    let real = off * off - noise(levels);
    Some(if real > 0.0 { off * real / (off * off) } else { 0.0 })
}

/// Variance of the logarithm of a level's mean that comes from its trials, over all levels.
pub fn noise(levels: &[Level]) -> f64 {
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
