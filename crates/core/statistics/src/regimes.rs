//! Do repeats of one configuration fall into two or three groups, and where are these divided?
//!
//! The statistic is that of L. Engelman and J. A. Hartigan ("Percentage Points of a Test for
//! Clusters", Journal of the American Statistical Association 64, 1969): how much smaller squared
//! deviations become around the means of the best groups. The likelihood ratio of a mixture of two
//! normal distributions finds more, but one repeat in twenty that is slower by any amount makes it
//! find groups in a third to nine tenths of series.
//!
//! - Groups of one value are outliers: a group has two values at least, and a tenth of all.
//! - Two and three groups are tried; the smaller p-value counts, against the smaller one of series
//!   without groups.
//! - Between groups is a gap, as large as in one of five series without groups at most. Without
//!   this, evenly spread values would pass for groups.
//! - Values that depend on the one before wander and seem to gather. The series of the hypothesis
//!   are autoregressive processes of first order, and only those count that depend as much on the
//!   one before as ours do: given that, and their mean and spread, the process is nearly
//!   determined.
//! - Statistics are the means of those of values and of logarithms: noise may be normal on either.

use crate::series::{autocorrelation, autoregressive};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Fewest values that can be tested.
pub const VALUES_MIN: usize = 5;
/// Of more values some are left out of the test, evenly: it takes time with the square of their
/// number.
const VALUES_MAX: usize = 100;
/// Fewest values of a group, and its least share of all.
const GROUP_MIN: usize = 2;
const GROUP_SHARE: f64 = 0.1;
/// Series of the hypothesis, and those of them that depend most alike on the value before.
const SERIES: usize = 20_000;
const ALIKE: usize = 2_000;
/// Autocorrelations of these series.
const AUTOCORRELATIONS: [f64; 8] = [0.0, 0.0, 0.2, 0.4, 0.6, 0.8, 0.9, -0.3];
/// Share of series without groups, at most, that have as large a gap.
const GAP_LEVEL: f64 = 0.2;
/// A p-value of two or of three groups above this decides nothing.
const DECIDES: f64 = 0.1;
/// Any fixed seed: the same values must always give the same p-value.
const SEED: u64 = 0x5eed_4e61;
/// Spreads below this share of the largest value are rounding.
const ROUNDING: f64 = 1e-12;

/// The best division of repeats into groups.
#[derive(Debug, Clone, PartialEq)]
pub struct Regimes {
    /// One or two values between the groups, in ascending order.
    pub cuts: Vec<f64>,
    /// The share of series without groups that seem as divided.
    pub p_value: f64,
}

impl Regimes {
    /// The group of a value, from 0 for the lowest.
    pub fn group(&self, value: f64) -> usize {
        self.cuts.iter().filter(|cut| value > **cut).count()
    }
}

/// Series of the hypothesis by length, for all threads: a page of a run is made on any of them.
static SERIES_BY_LENGTH: Mutex<BTreeMap<usize, Arc<[Division]>>> = Mutex::new(BTreeMap::new());

/// Divides values, in the order in which they were measured; `None` of fewer than five, and of
/// equal ones.
pub fn regimes(values: &[f64]) -> Option<Regimes> {
    let every = values.len().div_ceil(VALUES_MAX).max(1);
    let tested: Vec<f64> = values.iter().copied().step_by(every).collect();
    if tested.len() < VALUES_MIN {
        return None;
    }
    let plain = Division::best(&tested)?;
    let logarithms: Option<Vec<f64>> =
        tested.iter().map(|value| (*value > 0.0).then(|| value.ln())).collect();
    let mean = match logarithms.and_then(|logarithms| Division::best(&logarithms)) {
        Some(of_logarithms) => plain.mean(&of_logarithms),
        None => plain,
    };
    let (p_value, groups) = mean.p_value(&of_hypothesis(tested.len()));
    let mut sorted = tested;
    sorted.sort_by(f64::total_cmp);
    let cuts = Sums::new(&sorted).divided(groups).1;
    let cuts = cuts.into_iter().map(|at| f64::midpoint(sorted[at - 1], sorted[at])).collect();
    Some(Regimes { cuts, p_value })
}

fn of_hypothesis(length: usize) -> Arc<[Division]> {
    // Who panicked has inserted nothing.
    let mut known = SERIES_BY_LENGTH.lock().unwrap_or_else(PoisonError::into_inner);
    let made = known.entry(length).or_insert_with(|| {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
        let all = (0..SERIES).filter_map(|i| {
            let autocorrelation = AUTOCORRELATIONS[i % AUTOCORRELATIONS.len()];
            Division::best(&autoregressive(length, autocorrelation, &mut random))
        });
        let mut all: Vec<Division> = all.collect();
        all.sort_by(|a, b| a.dependence.total_cmp(&b.dependence));
        all.into()
    });
    Arc::clone(made)
}

/// Measures of a series that depend neither on the unit nor on the origin of its values.
#[derive(Debug, Clone, Copy)]
struct Division {
    /// Logarithms of how many times squared deviations are smaller within two and within three
    /// groups; 0 where there are too few values.
    gains: [f64; 2],
    /// The largest gap that can divide groups, in standard deviations.
    gap: f64,
    /// Autocorrelation at a lag of one value.
    dependence: f64,
}

impl Division {
    fn best(values: &[f64]) -> Option<Self> {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let largest = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
        let mut sorted: Vec<f64> = values.iter().map(|value| value - mean).collect();
        sorted.sort_by(f64::total_cmp);
        let sums = Sums::new(&sorted);
        let all = sums.squares(0, sorted.len());
        let sd = (all / (sorted.len() as f64 - 1.0)).sqrt();
        if sd.is_nan() || sd <= largest * ROUNDING {
            return None;
        }
        // Groups without any spread count as having one of a millionth.
        let gain = |groups: usize| {
            let within = sums.divided(groups).0;
            if within.is_finite() { (all / within.max(all * 1e-12)).ln() } else { 0.0 }
        };
        let group = group_min(sorted.len());
        let gaps = (group..=sorted.len() - group).map(|at| sorted[at] - sorted[at - 1]);
        Some(Self {
            gains: [gain(2), gain(3)],
            gap: gaps.fold(0.0, f64::max) / sd,
            dependence: autocorrelation(values),
        })
    }

    fn mean(&self, other: &Self) -> Self {
        Self {
            gains: [0, 1].map(|at| f64::midpoint(self.gains[at], other.gains[at])),
            gap: f64::midpoint(self.gap, other.gap),
            dependence: f64::midpoint(self.dependence, other.dependence),
        }
    }

    /// The p-value, and the number of groups that has the smaller one. `all` are sorted by their
    /// dependence.
    fn p_value(&self, all: &[Self]) -> (f64, usize) {
        let at = all.partition_point(|reference| reference.dependence < self.dependence);
        let first = at.saturating_sub(ALIKE / 2).min(all.len().saturating_sub(ALIKE));
        let alike = &all[first..(first + ALIKE).min(all.len())];
        let share = |of: &dyn Fn(&Self) -> f64| {
            let as_large = alike.iter().filter(|reference| of(reference) >= of(self)).count();
            (1 + as_large) as f64 / (1 + alike.len()) as f64
        };
        let shares =
            [share(&|reference| reference.gains[0]), share(&|reference| reference.gains[1])];
        let (p, groups) = if shares[1] < shares[0] { (shares[1], 3) } else { (shares[0], 2) };
        if share(&|reference| reference.gap) > GAP_LEVEL {
            return (1.0, groups);
        }
        // The exact share is worth its time where it decides.
        if p > DECIDES {
            return ((2.0 * p).min(1.0), groups);
        }
        let sorted = |at: usize| {
            let mut gains: Vec<f64> = alike.iter().map(|reference| reference.gains[at]).collect();
            gains.sort_by(f64::total_cmp);
            gains
        };
        let gains = [sorted(0), sorted(1)];
        let rank = |at: usize, gain: f64| {
            let below = gains[at].partition_point(|reference_gain| *reference_gain < gain);
            (1 + gains[at].len() - below) as f64 / (1 + gains[at].len()) as f64
        };
        let ranks = alike
            .iter()
            .map(|reference| rank(0, reference.gains[0]).min(rank(1, reference.gains[1])));
        let as_divided = ranks.filter(|rank| *rank <= p).count();
        ((1 + as_divided) as f64 / (1 + alike.len()) as f64, groups)
    }
}

fn group_min(values: usize) -> usize {
    GROUP_MIN.max((values as f64 * GROUP_SHARE).ceil() as usize)
}

/// Running sums of sorted values and of their squares.
struct Sums {
    sums: Vec<f64>,
    squares: Vec<f64>,
}

impl Sums {
    fn new(sorted: &[f64]) -> Self {
        let (mut sums, mut squares) = (vec![0.0], vec![0.0]);
        for (at, value) in sorted.iter().enumerate() {
            sums.push(sums[at] + value);
            squares.push(squares[at] + value * value);
        }
        Self { sums, squares }
    }

    /// Squared deviations from the mean of the values from one position to another.
    fn squares(&self, from: usize, to: usize) -> f64 {
        let sum = self.sums[to] - self.sums[from];
        (self.squares[to] - self.squares[from] - sum * sum / (to - from) as f64).max(0.0)
    }

    /// The least squared deviations within two or three groups, and where they are divided;
    /// infinite where there are too few values.
    fn divided(&self, groups: usize) -> (f64, Vec<usize>) {
        let (n, mut best) = (self.sums.len() - 1, (f64::INFINITY, Vec::new()));
        let least = group_min(n);
        for first in least..=n.saturating_sub(least * (groups - 1)) {
            let lowest = self.squares(0, first);
            if groups == 2 {
                let within = lowest + self.squares(first, n);
                if within < best.0 {
                    best = (within, vec![first]);
                }
                continue;
            }
            for second in first + least..=n - least {
                let within = lowest + self.squares(first, second) + self.squares(second, n);
                if within < best.0 {
                    best = (within, vec![first, second]);
                }
            }
        }
        best
    }
}

#[cfg(test)]
mod tests;
