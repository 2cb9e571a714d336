//! The next points of a search: where a forest of the costs so far expects the largest improvement.
//!
//! A failed point has no cost. A second forest models where points fail, and the expected
//! improvement counts by the chance to succeed. Costs are noisy: the point to improve on is the one
//! with the lowest predicted cost, not the luckiest sample.
//!
//! Trees agree where no value was measured, although they know least there. The distance to the
//! nearest point that was tried adds to their variance: that of a Gaussian process that knows this
//! point alone (C. Rasmussen and C. Williams, Gaussian Processes for Machine Learning, 2006,
//! equation 2.26).
//!
//! The cost of a trial that was stopped early is at least its bound. The forest is fitted to the
//! mean of the predicted costs beyond that bound instead, and fitted again with these (J. Schmee
//! and G. Hahn, Technometrics 21, 1979; for forests F. Hutter, H. Hoos and K. Leyton-Brown, arXiv
//! 1310.1947).

mod draw;
mod forest;
mod futility;
mod space;

pub use draw::Draw;
pub use futility::{Courses, RateBound, RateWatch};
pub use space::{Domain, Point, Rules, Space};

use forest::{Forest, Prediction};
use space::squared_distance;
use statistics::{mean, normal_density, normal_upper_p, t_quantile};

/// Random points among those that are compared.
const RANDOM: usize = 300;
/// Neighbours of each of the best points.
const NEIGHBOURS: usize = 30;
/// Best points that have neighbours compared. Twice as many neighbours of more points make a search
/// local too early: half a percent of the best time of recorded tuning data.
const BEST: usize = 3;
/// Distance of features at which 63 % of the variance of a point's cost is not known from another.
const REACH: f64 = 0.4;
/// Standard deviation of a prediction far from all points, in standard deviations of the costs.
const UNKNOWN: f64 = 0.4;
/// Trees see mostly the same data and agree too much: their standard deviation counts by this
/// factor.
const SPREAD: f64 = 1.4;
/// A candidate is ranked by the mean of its predicted and its measured cost: the model shares what
/// neighbours know, and misses what is special about one point.
const MEASURED_SHARE: f64 = 0.5;
/// Times that a forest is fitted to the expected costs of trials that were stopped early.
const FITS: usize = 3;
/// Share of trials that are stopped although their point is as good as the best one, with normal
/// noise; half of what other noise may reach.
const WRONGLY_STOPPED: f64 = 0.025;

/// Fewest degrees of freedom of a noise that a lead is compared with.
const LEAD_DF_MIN: f64 = 3.0;

/// A point that was tried.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// The values.
    pub point: Point,
    /// The outcome.
    pub outcome: Outcome,
}

/// The outcome of a trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Outcome {
    /// The cost; lower is better.
    Cost(f64),
    /// Stopped early: its cost is this or more.
    AtLeast(f64),
    /// It failed.
    Failed,
}

impl Outcome {
    /// The cost, if it was measured.
    pub fn cost(self) -> Option<f64> {
        match self {
            Self::Cost(cost) => Some(cost),
            Self::AtLeast(_) | Self::Failed => None,
        }
    }
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
}

/// A point that was tried, with its predicted cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The values.
    pub point: Point,
    /// The predicted cost.
    pub cost: f64,
}

/// How far the best point is ahead of another one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lead {
    /// The cost of the other one less the lowest predicted cost.
    pub cost: f64,
    /// Standard deviation of a measured cost, from points that were measured repeatedly.
    pub noise: f64,
}

struct Models {
    cost: Forest,
    /// Features of the points that were tried.
    tried: Vec<Vec<f64>>,
    /// Variance of their costs.
    variance: f64,
    /// Chance of success; `None` as long as nothing failed.
    success: Option<Forest>,
    best: f64,
}

impl Optimiser<'_> {
    /// Proposes this number of points after those that were tried, the most promising one first.
    /// The same trials give the same proposal.
    pub fn propose(&self, tried: &[Trial], number: usize) -> Vec<Point> {
        let proposed = tried.len();
        let mut draw = Draw::new(self.seed.wrapping_add(proposed as u64).wrapping_mul(0x9e37_79b9));
        if proposed < self.first {
            let all = self.space.filling(self.first, &mut Draw::new(self.seed));
            return all.into_iter().skip(proposed).take(number).collect();
        }
        if !has_cost(tried) {
            return (0..number).filter_map(|_| self.space.random(&mut draw)).collect();
        }
        let (mut known, mut points) = (tried.to_vec(), Vec::new());
        while points.len() < number {
            let models = self.models(&known, &mut draw);
            let Some((point, prediction)) = self.most_promising(&models, &known, &mut draw) else {
                break;
            };
            // The next point of this round takes the prediction for a result.
            known.push(Trial { point: point.clone(), outcome: Outcome::Cost(prediction.mean) });
            points.push(point);
        }
        points
    }

    /// The improvement of the best point by the trials from this one on, by the model of all of
    /// them; without a success before, infinite.
    pub fn improvement(&self, tried: &[Trial], since: usize) -> f64 {
        if !has_cost(&tried[..since]) {
            return f64::INFINITY;
        }
        let models = self.models(tried, &mut Draw::new(self.seed));
        self.lowest(&models.cost, &tried[..since]) - self.lowest(&models.cost, tried)
    }

    /// The lead of the best point over one that was measured repeatedly; else `None`.
    pub fn lead(&self, tried: &[Trial], over: &Point) -> Option<Lead> {
        let noise = Noise::from_repeats(tried).filter(|repeat| repeat.df >= LEAD_DF_MIN)?.sd;
        let same = measured(tried).filter(|(point, _)| *point == over);
        let costs: Vec<f64> = same.map(|(_, cost)| cost).collect();
        let models = self.models(tried, &mut Draw::new(self.seed));
        (costs.len() > 1).then(|| Lead { cost: mean(&costs) - models.best, noise })
    }

    /// The lowest predicted cost of the points that were measured.
    fn lowest(&self, cost: &Forest, tried: &[Trial]) -> f64 {
        let costs = measured(tried).map(|(point, _)| self.expected(cost, point));
        costs.fold(f64::INFINITY, f64::min)
    }

    /// The predicted cost of a point.
    fn expected(&self, cost: &Forest, point: &[Option<f64>]) -> f64 {
        cost.predict(&self.space.features(point)).mean
    }

    /// The points that were measured and never failed, each once, the lowest cost first: the mean
    /// of prediction and measurement.
    pub fn ranked(&self, tried: &[Trial]) -> Vec<Candidate> {
        if !has_cost(tried) {
            return Vec::new();
        }
        let models = self.models(tried, &mut Draw::new(self.seed));
        let mut ranked: Vec<Candidate> = Vec::new();
        for (point, _) in measured(tried) {
            let same = tried.iter().filter(|trial| trial.point == *point);
            let costs: Option<Vec<f64>> = same.map(|trial| trial.outcome.cost()).collect();
            let Some(costs) = costs else { continue };
            if ranked.iter().all(|entry| entry.point != *point) {
                let predicted = self.expected(&models.cost, point);
                let cost = predicted + MEASURED_SHARE * (mean(&costs) - predicted);
                ranked.push(Candidate { point: point.clone(), cost });
            }
        }
        ranked.sort_by(|left, right| left.cost.total_cmp(&right.cost));
        ranked
    }

    /// The cost beyond which a trial may be stopped, as its point is worse than the best one.
    ///
    /// It lies above the lowest predicted cost by the upper end of the 95 % interval of the
    /// difference of two measurements. Their noise is that of points measured repeatedly; `None`
    /// without any.
    pub fn stop_beyond(&self, tried: &[Trial]) -> Option<f64> {
        let noise = Noise::from_repeats(tried)?;
        let models = self.models(tried, &mut Draw::new(self.seed));
        let margin = t_quantile(WRONGLY_STOPPED, noise.df) * noise.sd * 2.0_f64.sqrt();
        Some(models.best + margin)
    }

    /// The predicted cost of points; without a success before, 0.
    pub fn predict(&self, tried: &[Trial], points: &[Point]) -> Vec<f64> {
        if !has_cost(tried) {
            return vec![0.0; points.len()];
        }
        let models = self.models(tried, &mut Draw::new(self.seed));
        points.iter().map(|point| self.expected(&models.cost, point)).collect()
    }

    fn models(&self, tried: &[Trial], draw: &mut Draw) -> Models {
        let features: Vec<Vec<f64>> =
            tried.iter().map(|attempt| self.space.features(&attempt.point)).collect();
        let (mut points, mut costs, mut stopped) = (Vec::new(), Vec::new(), Vec::new());
        for (attempt, features) in tried.iter().zip(&features) {
            match attempt.outcome {
                Outcome::Failed => continue,
                Outcome::Cost(cost) => costs.push(cost),
                Outcome::AtLeast(bound) => {
                    stopped.push((costs.len(), bound));
                    costs.push(bound);
                }
            }
            points.push(features.clone());
        }
        let mut cost = Forest::fit(&points, &costs, draw);
        for _ in 0..if stopped.is_empty() { 0 } else { FITS } {
            for (at, bound) in &stopped {
                costs[*at] = mean_beyond(cost.predict(&points[*at]), *bound);
            }
            cost = Forest::fit(&points, &costs, draw);
        }
        let has_failed = points.len() < tried.len();
        let success = has_failed.then(|| {
            let succeeded: Vec<f64> =
                tried.iter().map(|attempt| f64::from(attempt.outcome != Outcome::Failed)).collect();
            Forest::fit(&features, &succeeded, draw)
        });
        let best = self.lowest(&cost, tried);
        let centre = mean(&costs);
        let variance =
            costs.iter().map(|cost| (cost - centre).powi(2)).sum::<f64>() / costs.len() as f64;
        Models { cost, tried: features, variance, success, best }
    }

    /// The point of the largest expected improvement among random ones and neighbours of the best.
    fn most_promising(
        &self,
        models: &Models,
        tried: &[Trial],
        draw: &mut Draw,
    ) -> Option<(Point, Prediction)> {
        let mut pool: Vec<Point> = (0..RANDOM).filter_map(|_| self.space.random(draw)).collect();
        let known = measured(tried).map(|(point, _)| (self.expected(&models.cost, point), point));
        let mut known: Vec<(f64, &Point)> = known.collect();
        known.sort_by(|left, right| left.0.total_cmp(&right.0));
        for (_, point) in known.iter().take(BEST) {
            pool.extend((0..NEIGHBOURS).filter_map(|_| self.space.neighbour(point, draw)));
        }
        pool.retain(|point| tried.iter().all(|attempt| attempt.point != *point));
        let mut best: Option<(f64, Point, Prediction)> = None;
        for point in pool {
            let features = self.space.features(&point);
            let prediction = models.predict(&features);
            let success =
                models.success.as_ref().map_or(1.0, |success| success.predict(&features).mean);
            let gain = success * expected_improvement(prediction, models.best);
            if best.as_ref().is_none_or(|(most, ..)| gain > *most) {
                best = Some((gain, point, prediction));
            }
        }
        best.map(|(_, point, prediction)| (point, prediction))
    }
}

impl Models {
    /// Predicts a cost; its variance grows with the distance to the nearest point.
    fn predict(&self, point: &[f64]) -> Prediction {
        let squares = self.tried.iter().map(|attempt| squared_distance(attempt, point));
        let nearest = squares.fold(f64::INFINITY, f64::min);
        let unknown = 1.0 - (-nearest / REACH.powi(2)).exp();
        let Prediction { mean, variance } = self.cost.predict(point);
        Prediction { mean, variance: variance + UNKNOWN.powi(2) * self.variance * unknown }
    }
}

/// The points that were measured, with their costs.
fn measured(tried: &[Trial]) -> impl Iterator<Item = (&Point, f64)> {
    tried.iter().filter_map(|trial| Some((&trial.point, trial.outcome.cost()?)))
}

fn has_cost(tried: &[Trial]) -> bool {
    measured(tried).next().is_some()
}

/// The noise of costs.
struct Noise {
    sd: f64,
    /// Degrees of freedom.
    df: f64,
}

impl Noise {
    /// Pools the variances of points that were measured repeatedly; `None` without one.
    fn from_repeats(tried: &[Trial]) -> Option<Self> {
        let known: Vec<(&Point, f64)> = measured(tried).collect();
        let (mut squares, mut df) = (0.0, 0.0);
        for (at, (point, _)) in known.iter().enumerate() {
            if known[..at].iter().any(|(earlier, _)| earlier == point) {
                continue;
            }
            let same = known[at..].iter().filter(|(repeat, _)| repeat == point);
            let costs: Vec<f64> = same.map(|(_, cost)| *cost).collect();
            let centre = mean(&costs);
            squares += costs.iter().map(|cost| (cost - centre).powi(2)).sum::<f64>();
            df += costs.len() as f64 - 1.0;
        }
        (df > 0.0).then(|| Self { sd: (squares / df).sqrt(), df })
    }
}

/// The mean of a normal cost where it lies beyond a bound.
fn mean_beyond(prediction: Prediction, bound: f64) -> f64 {
    let sd = SPREAD * prediction.variance.sqrt();
    let z = (bound - prediction.mean) / sd;
    let beyond = normal_upper_p(z);
    // So far below the bound that hardly any cost lies beyond it, the mean is near the bound.
    if beyond > 1e-9 {
        (prediction.mean + sd * normal_density(z) / beyond).max(bound)
    } else {
        bound.max(prediction.mean)
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
