//! Are changes more than what values show that depend on the one before?
//!
//! The hypothesis is an autoregressive process of first order around the levels between fewer
//! changes; the alternative has all changes. The statistic is the ratio of their likelihoods, by
//! which C. Gallagher, R. Killick, R. Lund and X. Shi find changes in such processes ("A Comparison
//! of Single and Multiple Changepoint Techniques for Time Series Data", Computational Statistics
//! and Data Analysis 170, 2022). Series of the hypothesis are made of its own innovations, drawn
//! with replacement (the sieve bootstrap: P. Bühlmann, Bernoulli 3, 1997), and cut by E-divisive as
//! the series was: what the choice of the cuts adds is in both.
//!
//! Because each fit has an autocorrelation of its own, the statistic hardly depends on the true
//! one: its 95 % quantile rises by 30 to 40 % from independence to 0.8 and stays there. The series
//! of the hypothesis have [`LEAST_FAVOURABLE`], so that nothing hangs on an estimate, which short
//! series with a change make far too large.

use super::{ChangePoint, next_cut, p_value, positions};
use crate::estimate::mean;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::ops::Range;

/// Autocorrelation of the series that a change must stand against.
const LEAST_FAVOURABLE: f64 = 0.85;
/// Series of a test, and the share of those that may show as much as ours. It is half of what is
/// allowed in all, because E-divisive says how many cuts are tested, and does so where there seem
/// to be many.
const SERIES: usize = 199;
const LEVEL: f64 = 0.025;
/// Values before the first: what came before them has then died away (0.85^30 is 0.8 %).
const RUN_IN: usize = 30;
/// Any fixed seed.
const SEED: u64 = 0x5eed_a201;

/// Returns the changes that autocorrelation does not explain, in the order of the series.
/// `candidates` are sorted by size; the first ones stay, until the rest is no more than
/// autocorrelation produces.
pub(super) fn stand(values: &[f64], candidates: Vec<ChangePoint>) -> Vec<ChangePoint> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let all = positions(&candidates);
    let mut standing: Vec<ChangePoint> = Vec::new();
    for candidate in candidates {
        let few = positions(&standing);
        let Some(p_value) = more_than_dependence(values, &few, &all, &mut random) else { break };
        standing.push(ChangePoint { p_value: candidate.p_value.max(p_value), ..candidate });
    }
    standing.sort_by_key(|change| change.at);
    standing
}

/// The p-value of "`few` cuts are enough", if it is significant, against all of them.
fn more_than_dependence(
    values: &[f64],
    few: &[usize],
    all: &[usize],
    random: &mut Xoshiro256PlusPlus,
) -> Option<f64> {
    let innovations = innovations(values, few);
    let seen = ratio(values, few, all);
    p_value(SERIES, LEVEL, || {
        let series = process(&innovations, values.len(), random);
        let mut cuts = few.to_vec();
        while cuts.len() < all.len()
            && let Some((at, _)) = next_cut(&series, &cuts)
        {
            cuts.push(at);
            cuts.sort_unstable();
        }
        ratio(&series, few, &cuts) >= seen
    })
}

/// How much smaller the innovations are with all cuts: for normal ones a power of the ratio of the
/// likelihoods.
fn ratio(values: &[f64], few: &[usize], all: &[usize]) -> f64 {
    let squares = |cuts| innovations(values, cuts).iter().map(|it| it * it).sum::<f64>();
    squares(few) / squares(all)
}

/// Innovations of each value but the first, in an autoregressive process around the means of the
/// pieces, by least squares.
fn innovations(values: &[f64], cuts: &[usize]) -> Vec<f64> {
    let mut around = values.to_vec();
    for span in spans(values.len(), cuts) {
        let level = mean(&values[span.clone()]);
        around[span].iter_mut().for_each(|value| *value -= level);
    }
    let pairs = || around.windows(2).map(|pair| (pair[0], pair[1]));
    let products: f64 = pairs().map(|(before, value)| before * value).sum();
    let squares: f64 = pairs().map(|(before, _)| before * before).sum();
    let autocorrelation = if squares > 0.0 { products / squares } else { 0.0 };
    pairs().map(|(before, value)| value - autocorrelation * before).collect()
}

/// A process with innovations drawn from these.
fn process(innovations: &[f64], length: usize, random: &mut Xoshiro256PlusPlus) -> Vec<f64> {
    let mut value = 0.0;
    let mut next = || {
        let drawn = (u64::from(random.next_u32()) * innovations.len() as u64) >> 32;
        value = LEAST_FAVOURABLE * value + innovations[drawn as usize];
        value
    };
    for _ in 0..RUN_IN {
        next();
    }
    (0..length).map(|_| next()).collect()
}

/// The parts into which these cuts divide a series of `length` values.
pub(super) fn spans(length: usize, cuts: &[usize]) -> impl Iterator<Item = Range<usize>> {
    let starts = std::iter::once(0).chain(cuts.iter().copied());
    starts.zip(cuts.iter().copied().chain([length])).map(|(start, end)| start..end)
}
