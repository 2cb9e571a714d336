//! The next points of a search: where a forest of the costs so far expects the largest improvement.
//!
//! A failed point has no cost. A second forest models where points fail, and the expected
//! improvement counts by the chance to succeed. Costs are noisy: the point to improve on is the one
//! with the lowest predicted cost, not the luckiest sample.

use crate::draw::Draw;
use crate::forest::{Forest, Prediction};
use crate::space::{Point, Space};
use statistics::{normal_density, normal_upper_p};

/// Random points among those that are compared.
const RANDOM: usize = 300;
/// Neighbours of each of the best points.
const NEIGHBOURS: usize = 60;
/// Best points that have neighbours compared.
const BEST: usize = 5;
/// Trees see mostly the same data and agree too much: their standard deviation counts by this
/// factor.
const SPREAD: f64 = 1.4;
/// A search ends when no point improves the best by what is worth it with this probability.
const CHANCE_MIN: f64 = 0.05;

/// A point that was tried.
#[derive(Debug, Clone, PartialEq)]
pub struct Tried {
    /// Its values.
    pub point: Point,
    /// Its cost, lower is better; `None`: it failed.
    pub cost: Option<f64>,
}

/// A search for the point of the lowest cost.
#[derive(Clone, Copy)]
pub struct Optimiser<'s> {
    /// Where it searches.
    pub space: Space<'s>,
    /// Seed of everything that is drawn.
    pub seed: u64,
    /// Points that fill the space before a model proposes any.
    pub first: usize,
    /// Difference of costs below which an improvement is not worth a trial.
    pub worth: f64,
}

/// Points to try next.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// The points, the most promising one first.
    pub points: Vec<Point>,
    /// True if no point is likely to be better by what is worth it.
    pub is_exhausted: bool,
}

/// A point that was tried, with its predicted cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// Its values.
    pub point: Point,
    /// Its predicted cost.
    pub cost: f64,
}

struct Models {
    cost: Forest,
    /// Chance of success; `None` as long as nothing failed.
    success: Option<Forest>,
    best: f64,
}

impl Optimiser<'_> {
    /// Proposes this number of points after those that were tried. The same trials give the same
    /// proposal.
    pub fn propose(&self, tried: &[Tried], number: usize) -> Proposal {
        let proposed = tried.len();
        let mut draw = Draw::new(self.seed.wrapping_add(proposed as u64).wrapping_mul(0x9e37_79b9));
        if proposed < self.first {
            let all = self.space.filling(self.first, &mut Draw::new(self.seed));
            let points = all.into_iter().skip(proposed).take(number).collect();
            return Proposal { points, is_exhausted: false };
        }
        if tried.iter().all(|own| own.cost.is_none()) {
            let points = (0..number).filter_map(|_| self.space.random(&mut draw)).collect();
            return Proposal { points, is_exhausted: false };
        }
        let (mut known, mut points) = (tried.to_vec(), Vec::new());
        let mut is_exhausted = true;
        while points.len() < number {
            let models = self.models(&known, &mut draw);
            let Some((point, prediction)) = self.most_promising(&models, &known, &mut draw) else {
                break;
            };
            is_exhausted &= chance(prediction, models.best - self.worth) < CHANCE_MIN;
            // The next point of this round takes the prediction for a result.
            known.push(Tried { point: point.clone(), cost: Some(prediction.mean) });
            points.push(point);
        }
        Proposal { points, is_exhausted }
    }

    /// The points that succeeded, each once, the lowest predicted cost first.
    pub fn ranked(&self, tried: &[Tried]) -> Vec<Ranked> {
        if tried.iter().all(|own| own.cost.is_none()) {
            return Vec::new();
        }
        let models = self.models(tried, &mut Draw::new(self.seed));
        let mut ranked: Vec<Ranked> = Vec::new();
        for own in tried.iter().filter(|own| own.cost.is_some()) {
            let failed = tried.iter().any(|it| it.cost.is_none() && it.point == own.point);
            if failed || ranked.iter().any(|it| it.point == own.point) {
                continue;
            }
            let cost = models.cost.predict(&self.space.features(&own.point)).mean;
            ranked.push(Ranked { point: own.point.clone(), cost });
        }
        ranked.sort_by(|left, right| left.cost.total_cmp(&right.cost));
        ranked
    }

    /// The predicted cost of points; without a success before, 0.
    pub fn predict(&self, tried: &[Tried], points: &[Point]) -> Vec<f64> {
        if tried.iter().all(|own| own.cost.is_none()) {
            return vec![0.0; points.len()];
        }
        let models = self.models(tried, &mut Draw::new(self.seed));
        points.iter().map(|point| models.cost.predict(&self.space.features(point)).mean).collect()
    }

    fn models(&self, tried: &[Tried], draw: &mut Draw) -> Models {
        let features: Vec<Vec<f64>> =
            tried.iter().map(|own| self.space.features(&own.point)).collect();
        let (mut points, mut costs) = (Vec::new(), Vec::new());
        for (own, features) in tried.iter().zip(&features) {
            if let Some(cost) = own.cost {
                points.push(features.clone());
                costs.push(cost);
            }
        }
        let cost = Forest::fit(&points, &costs, draw);
        let has_failed = points.len() < tried.len();
        let success = has_failed.then(|| {
            let succeeded: Vec<f64> =
                tried.iter().map(|own| f64::from(own.cost.is_some())).collect();
            Forest::fit(&features, &succeeded, draw)
        });
        let predicted = points.iter().map(|own| cost.predict(own).mean);
        let best = predicted.fold(f64::INFINITY, f64::min);
        Models { cost, success, best }
    }

    /// The point of the largest expected improvement among random ones and neighbours of the best.
    fn most_promising(
        &self,
        models: &Models,
        tried: &[Tried],
        draw: &mut Draw,
    ) -> Option<(Point, Prediction)> {
        let mut pool: Vec<Point> = (0..RANDOM).filter_map(|_| self.space.random(draw)).collect();
        let mut known: Vec<(f64, &Point)> = tried
            .iter()
            .filter(|own| own.cost.is_some())
            .map(|own| (models.cost.predict(&self.space.features(&own.point)).mean, &own.point))
            .collect();
        known.sort_by(|left, right| left.0.total_cmp(&right.0));
        for (_, point) in known.iter().take(BEST) {
            pool.extend((0..NEIGHBOURS).filter_map(|_| self.space.neighbour(point, draw)));
        }
        pool.retain(|point| tried.iter().all(|own| own.point != *point));
        let mut best: Option<(f64, Point, Prediction)> = None;
        for point in pool {
            let features = self.space.features(&point);
            let prediction = models.cost.predict(&features);
            let success = models.success.as_ref().map_or(1.0, |own| own.predict(&features).mean);
            let gain = success * expected_improvement(prediction, models.best);
            if best.as_ref().is_none_or(|(most, ..)| gain > *most) {
                best = Some((gain, point, prediction));
            }
        }
        best.map(|(_, point, prediction)| (point, prediction))
    }
}

/// The mean by which a normal cost lies below a bound, where it does (J. Mockus, 1978).
fn expected_improvement(prediction: Prediction, bound: f64) -> f64 {
    let sd = SPREAD * prediction.variance.sqrt();
    let gain = bound - prediction.mean;
    if sd <= 0.0 {
        return gain.max(0.0);
    }
    gain * normal_upper_p(-gain / sd) + sd * normal_density(gain / sd)
}

/// The probability that a cost lies below a bound.
fn chance(prediction: Prediction, bound: f64) -> f64 {
    let sd = SPREAD * prediction.variance.sqrt();
    let gain = bound - prediction.mean;
    if sd <= 0.0 { f64::from(gain > 0.0) } else { normal_upper_p(-gain / sd) }
}
