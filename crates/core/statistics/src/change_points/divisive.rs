//! E-divisive: the changes of level of a series, of energy statistics with a permutation test.
//!
//! Source: D. S. Matteson and N. A. James, Journal of the American Statistical Association 109
//! (2014); with the statistic of G. J. Székely and M. L. Rizzo (Journal of Statistical Planning and
//! Inference 143, 2013), as `MongoDB` uses it for the same purpose (D. Daly and others, ICPE 2020).
//! It assumes no distribution, but independent values.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde::Serialize;
use std::ops::Range;

/// Permutations of a test: p-values are multiples of a thousandth.
const PERMUTATIONS: usize = 999;
/// Share of series without any change in which one is found all the same.
const LEVEL: f64 = 0.05;
/// Fewest values between two changes: one value alone is an outlier.
const SEGMENT_MIN: usize = 2;
/// Any fixed seed: the same series must always give the same changes.
const SEED: u64 = 0x5eed_d1f1;
/// Statistics that differ by less than this share are equal but for rounding.
const ROUNDING: f64 = 1e-9;

/// A change of level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ChangePoint {
    /// Position of the first value of the new level.
    pub at: usize,
    /// The share of series without it that show as large a change: the larger p-value of the two
    /// tests, against values in random order and against values that depend on the one before.
    pub p_value: f64,
}

/// A value with its rank in its piece, from 0; equal values have different ranks.
type Value = (usize, f64);

/// The changes of a series of independent values, the largest first.
///
/// The largest change within the pieces found so far is tested against random orders of the values
/// in each piece; the first that is not significant at 5 % ends the search. A change of level
/// between fewer than four values on each side is never significant: too few orders are possible.
pub(super) fn candidates(values: &[f64]) -> Vec<ChangePoint> {
    let mut found: Vec<ChangePoint> = Vec::new();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let scale = values.iter().map(|value| value.abs()).fold(0.0, f64::max);
    loop {
        let cuts = positions(&found);
        let Some((at, statistic)) = next_cut(values, &cuts) else { return found };
        if statistic <= scale * ROUNDING {
            return found;
        }
        let mut pieces = pieces(values, &cuts);
        let Some(p_value) = significant(&mut pieces, statistic, &mut random) else { return found };
        found.push(ChangePoint { at, p_value });
    }
}

/// Positions of changes in the order of the series.
pub(super) fn positions(found: &[ChangePoint]) -> Vec<usize> {
    let mut cuts: Vec<usize> = found.iter().map(|change| change.at).collect();
    cuts.sort_unstable();
    cuts
}

/// The largest change within the pieces that these cuts leave.
pub(super) fn next_cut(values: &[f64], cuts: &[usize]) -> Option<(usize, f64)> {
    let pieces = pieces(values, cuts);
    let largest = pieces.iter().filter_map(|(start, piece)| {
        largest_change(piece).map(|(at, statistic)| (start + at, statistic))
    });
    largest.max_by(|a, b| a.1.total_cmp(&b.1))
}

/// The series cut at these positions, each piece with its own.
fn pieces(values: &[f64], cuts: &[usize]) -> Vec<(usize, Vec<Value>)> {
    spans(values.len(), cuts).map(|span| (span.start, ranked(&values[span]))).collect()
}

/// The parts into which these cuts divide a series of `length` values.
pub(super) fn spans(length: usize, cuts: &[usize]) -> impl Iterator<Item = Range<usize>> {
    let starts = std::iter::once(0).chain(cuts.iter().copied());
    starts.zip(cuts.iter().copied().chain([length])).map(|(start, end)| start..end)
}

/// Values with their ranks, less the median: distances do not depend on the origin, but their
/// rounding does.
fn ranked(values: &[f64]) -> Vec<Value> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|left, right| values[*left].total_cmp(&values[*right]));
    let median = order.get(values.len() / 2).map_or(0.0, |middle| values[*middle]);
    let mut ranked = vec![(0, 0.0); values.len()];
    for (rank, at) in order.into_iter().enumerate() {
        ranked[at] = (rank, values[at] - median);
    }
    ranked
}

/// The p-value of the largest change, if it is significant; leaves the pieces in another order.
fn significant(
    pieces: &mut [(usize, Vec<Value>)],
    statistic: f64,
    random: &mut Xoshiro256PlusPlus,
) -> Option<f64> {
    p_value(PERMUTATIONS, LEVEL, || {
        let mut largest: f64 = 0.0;
        for (_, piece) in pieces.iter_mut() {
            shuffle(piece, random);
            largest = largest.max(largest_change(piece).map_or(0.0, |(_, statistic)| statistic));
        }
        largest >= statistic * (1.0 - ROUNDING)
    })
}

/// Returns the probability of a result as extreme by chance, if it is small enough. The series
/// itself counts as one of the chances, so that the level is kept (B. Phipson and G. K. Smyth,
/// 2010).
pub(super) fn p_value(
    chances: usize,
    level: f64,
    mut is_as_extreme: impl FnMut() -> bool,
) -> Option<f64> {
    let share = |as_extreme: usize| (1 + as_extreme) as f64 / (1 + chances) as f64;
    let mut as_extreme = 0;
    for _ in 0..chances {
        as_extreme += usize::from(is_as_extreme());
        if share(as_extreme) > level {
            return None;
        }
    }
    Some(share(as_extreme))
}

/// Fisher and Yates.
fn shuffle(values: &mut [Value], random: &mut Xoshiro256PlusPlus) {
    for i in (1..values.len()).rev() {
        values.swap(i, ((u64::from(random.next_u32()) * (i as u64 + 1)) >> 32) as usize);
    }
}

/// Returns the place where a series is best cut in two, and the difference of the parts.
fn largest_change(values: &[Value]) -> Option<(usize, f64)> {
    let cuts = SEGMENT_MIN..(values.len() + 1).saturating_sub(SEGMENT_MIN);
    let statistics = statistics(values);
    cuts.map(|at| (at, statistics[at])).max_by(|a, b| a.1.total_cmp(&b.1))
}

/// The two-sample energy statistic of the values before and from each position.
///
/// For n values before and m from it: `nm / (n + m) * (2 E|X - Y| - E|X - X'| - E|Y - Y'|)`.
fn statistics(values: &[Value]) -> Vec<f64> {
    let before = distances_before(values.iter().copied());
    let from = distances_before(values.iter().rev().copied());
    let all = before[values.len()];
    (0..=values.len())
        .map(|at: usize| {
            let (n, m) = (at as f64, (values.len() - at) as f64);
            if at == 0 || at == values.len() {
                return 0.0;
            }
            let (x, y) = (before[at], from[values.len() - at]);
            let between = all - x - y;
            n * m / (n + m) * 2.0 * (between / (n * m) - x / (n * n) - y / (m * m))
        })
        .collect()
}

/// For each position the sum of the distances between all pairs of values before it, in `n log n`.
fn distances_before(values: impl ExactSizeIterator<Item = Value>) -> Vec<f64> {
    let mut ranks = RankTree { tree: vec![(0.0, 0.0); values.len() + 1] };
    let (mut count, mut sum, mut distances) = (0.0, 0.0, 0.0);
    let mut before = vec![0.0];
    for (rank, value) in values {
        let (below, sum_below) = ranks.below(rank);
        distances += value * below - sum_below + (sum - sum_below) - value * (count - below);
        ranks.add(rank, value);
        count += 1.0;
        sum += value;
        before.push(distances);
    }
    before
}

/// Count and sum of the values with a lower rank: a binary indexed tree (P. M. Fenwick, 1994).
struct RankTree {
    tree: Vec<(f64, f64)>,
}

impl RankTree {
    fn add(&mut self, rank: usize, value: f64) {
        let mut node = rank + 1;
        while node < self.tree.len() {
            self.tree[node].0 += 1.0;
            self.tree[node].1 += value;
            node += node & node.wrapping_neg();
        }
    }

    fn below(&self, rank: usize) -> (f64, f64) {
        let (mut count, mut sum, mut node) = (0.0, 0.0, rank);
        while node > 0 {
            count += self.tree[node].0;
            sum += self.tree[node].1;
            node &= node - 1;
        }
        (count, sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values: `crates/core/analysis/tests/change_points_reference.py`, by `MongoDB`'s
    /// library.
    #[test]
    fn agrees_with_an_independent_implementation() {
        let text = include_str!("../../../analysis/tests/change_points_reference.json");
        let reference: serde_json::Value = serde_json::from_str(text).unwrap();
        let numbers = |value: &serde_json::Value| -> Vec<f64> {
            value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
        };
        let cases = reference["cases"].as_array().unwrap();
        assert!(cases.len() > 5);
        for case in cases {
            let values = numbers(&case["series"]);
            let expected = numbers(&case["statistics"]);
            let largest = expected.iter().copied().fold(0.0, f64::max);
            for (ours, theirs) in statistics(&ranked(&values)).iter().zip(&expected) {
                assert!(
                    (ours - theirs).abs() <= 1e-9 * largest,
                    "{}: {ours} {theirs}",
                    case["name"]
                );
            }
            let found: Vec<f64> =
                positions(&candidates(&values)).iter().map(|at| *at as f64).collect();
            assert_eq!(found, numbers(&case["change_points"]), "{}", case["name"]);
        }
    }
}
