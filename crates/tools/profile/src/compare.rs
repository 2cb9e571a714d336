//! Two profiles, and which of their differences the samples can tell.

use crate::summary::{ProfileSummary, SampleShare, profile};
use analysis::Interval;
use analysis::decompose::short_module;
use analysis::estimate::Z;
use observations::{Profile, order};
use serde::Serialize;
use statistics::adjusted;
use statrs::distribution::{Binomial, DiscreteCDF, Hypergeometric};
use std::collections::BTreeMap;

/// Below this adjusted p-value a difference is more than chance in sampling.
const BEYOND: f64 = 0.05;

/// Two profiles side by side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProfileComparison {
    /// The first one.
    pub a: ProfileSummary,
    /// The second one.
    pub b: ProfileSummary,
    /// By module, the largest difference in seconds first.
    pub modules: Vec<Change>,
    /// By function, the largest difference in seconds first.
    pub functions: Vec<Change>,
}

/// A change from the first profile to the second, in the module or function itself.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// The module, by the last part of its path: versions may lie in different folders.
    pub module: String,
    /// The function; `None`: the whole module.
    pub function: Option<String>,
    /// True for kernel code.
    pub kernel: bool,
    /// In the first profile.
    pub a: SampleShare,
    /// In the second one.
    pub b: SampleShare,
    /// Difference of the shares, from -1 to 1, with Newcombe's 95 % interval.
    pub share: Difference,
    /// Difference in processor seconds, with a 95 % interval from the number of samples.
    pub seconds: Difference,
}

/// A difference, second less first.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Difference {
    /// The difference.
    pub value: f64,
    /// The 95 % interval; what varies from run to run is not in it.
    pub interval: Interval,
    /// Exact p-value after Holm's correction over the table.
    pub adjusted_p: f64,
    /// True if it exceeds the sampling error at 95 %.
    pub is_beyond: bool,
}

/// Module, function, kernel.
type Key = (String, Option<String>, bool);

/// Compares two profiles.
pub fn compare_profiles(a: &Profile, b: &Profile) -> ProfileComparison {
    let (a, b) = (profile(a), profile(b));
    ProfileComparison { modules: changes(&a, &b, false), functions: changes(&a, &b, true), a, b }
}

fn changes(a: &ProfileSummary, b: &ProfileSummary, by_function: bool) -> Vec<Change> {
    let mut counts: BTreeMap<Key, [u64; 2]> = BTreeMap::new();
    for (side, summary) in [a, b].into_iter().enumerate() {
        for (key, samples) in self_samples(summary, by_function) {
            let count = &mut counts.entry(key).or_default()[side];
            *count = count.saturating_add(samples);
        }
    }
    let p_values = |test: &dyn Fn([u64; 2]) -> f64| {
        adjusted(&counts.values().map(|count| Some(test(*count))).collect::<Vec<_>>())
    };
    let share_p = p_values(&|samples| same_share_p(samples, [a.all.samples, b.all.samples]));
    let seconds_p = p_values(&|samples| same_seconds_p(samples, [a.hz, b.hz]));
    let all = counts.into_iter().zip(share_p).zip(seconds_p);
    let mut changes: Vec<Change> = all
        .map(|((((module, function, kernel), [of_a, of_b]), share_p), seconds_p)| {
            let a = SampleShare::new(of_a, a.all.samples, a.hz);
            let b = SampleShare::new(of_b, b.all.samples, b.hz);
            let share = difference(b.share - a.share, newcombe(&a, &b), share_p);
            let seconds = difference(b.seconds - a.seconds, seconds_interval(&a, &b), seconds_p);
            Change { module, function, kernel, a, b, share, seconds }
        })
        .collect();
    order::largest_first(&mut changes, &|row| row.seconds.value.abs());
    changes
}

fn self_samples(summary: &ProfileSummary, by_function: bool) -> Vec<(Key, u64)> {
    let mut seconds = Vec::new();
    for module in &summary.modules {
        let name = short_module(&module.module).to_owned();
        if by_function {
            seconds.extend(module.functions.iter().map(|used| {
                ((name.clone(), Some(used.function.clone()), module.kernel), used.hits.samples)
            }));
        } else {
            seconds.push(((name, None, module.kernel), module.hits.samples));
        }
    }
    seconds
}

fn difference(value: f64, interval: Interval, adjusted_p: Option<f64>) -> Difference {
    let adjusted_p = adjusted_p.unwrap_or(1.0);
    Difference { value, interval, adjusted_p, is_beyond: adjusted_p < BEYOND }
}

/// Interval of a difference of two shares: Newcombe 1998, Statistics in Medicine 17:873-890, method
/// 10.
fn newcombe(a: &SampleShare, b: &SampleShare) -> Interval {
    let value = b.share - a.share;
    let below = (b.share - b.interval.low).hypot(a.interval.high - a.share);
    let above = (b.interval.high - b.share).hypot(a.share - a.interval.low);
    Interval { low: value - below, high: value + above }
}

/// Interval of a difference in seconds. Counts vary as Poisson's do, or less: a thread that never
/// waits is sampled a known number of times.
fn seconds_interval(a: &SampleShare, b: &SampleShare) -> Interval {
    let error = |sampled: &SampleShare| {
        if sampled.samples > 0 { sampled.seconds / (sampled.samples as f64).sqrt() } else { 0.0 }
    };
    Interval::around(b.seconds - a.seconds, Z * error(a).hypot(error(b)))
}

/// Twice the smaller tail of Fisher's exact test: are these two parts the same share of their
/// wholes?
fn same_share_p([a, b]: [u64; 2], [whole_a, whole_b]: [u64; 2]) -> f64 {
    let chance = Hypergeometric::new(whole_a + whole_b, a + b, whole_a);
    chance.map_or(1.0, |chance| two_tails(&chance, a))
}

/// The exact conditional test of two Poisson rates: is it the same time, sampled so often a second?
fn same_seconds_p([a, b]: [u64; 2], [hz_a, hz_b]: [f64; 2]) -> f64 {
    let expected = hz_a / (hz_a + hz_b);
    Binomial::new(expected, a + b).map_or(1.0, |chance| two_tails(&chance, a))
}

fn two_tails(chance: &impl DiscreteCDF<u64, f64>, found: u64) -> f64 {
    let below = chance.cdf(found);
    let above = found.checked_sub(1).map_or(1.0, |less| chance.sf(less));
    (2.0 * below.min(above)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_tests_give_what_summing_fractions_gives() {
        // Computed with exact fractions from binomial coefficients.
        for (a, b, p) in [
            ((30, 100), (10, 100), 0.000_650_410_707_603),
            ((3, 1000), (0, 900), 0.291_173_100_776),
            ((0, 50), (9, 60), 0.006_367_473_997),
            ((500, 2000), (480, 2100), 0.116_093_700_295),
            ((5, 5), (5, 5), 1.0),
        ] {
            let found = same_share_p([a.0, b.0], [a.1, b.1]);
            assert!((found / p - 1.0).abs() < 1e-6, "{a:?} {b:?}: {found}, not {p}");
        }
        for (a, b, p) in [
            ((30, 99.0), (10, 99.0), 0.002_221_433_773),
            ((100, 99.0), (130, 99.0), 0.055_613_577_781),
            ((0, 99.0), (6, 99.0), 0.03125),
            ((99, 99.0), (999, 999.0), 1.000_000_000_000),
            ((0, 99.0), (0, 99.0), 1.0),
        ] {
            let found = same_seconds_p([a.0, b.0], [a.1, b.1]);
            assert!((found / p - 1.0).abs() < 1e-6, "{a:?} {b:?}: {found}, not {p}");
        }
    }

    #[test]
    fn differences_of_shares_have_the_published_interval() {
        // Newcombe 1998, table II, method 10: (a) 56/70 - 48/80, (b) 9/10 - 3/10, (e) 5/56 - 0/29.
        for (part, low, high) in [
            ([(48, 80), (56, 70)], 0.0524, 0.3339),
            ([(3, 10), (9, 10)], 0.1705, 0.8090),
            ([(0, 29), (5, 56)], -0.0381, 0.1926),
        ] {
            let [a, b] = part.map(|(samples, all)| SampleShare::new(samples, all, 99.0));
            let interval = newcombe(&a, &b);
            let near = |a: f64, b: f64| (a - b).abs() < 0.000_06;
            assert!(near(interval.low, low) && near(interval.high, high), "{part:?}: {interval:?}");
        }
    }
}
