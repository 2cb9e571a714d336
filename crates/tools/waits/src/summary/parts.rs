//! The parts of an interval as repeats: how much what was sampled changed from one to the next.

use analysis::Interval;
use analysis::estimate::t_test;
use observations::{ActivityPart, ServerActivity};
use std::collections::BTreeMap;

/// As many as this are enough to know a spread well, and the longer parts are, the less does each
/// depend on the one before it (B. Schmeiser, Operations Research 30 (1982): 10 to 30 batches).
const PARTS_MAX: usize = 20;

/// Key of a sample: wait and statement.
type What<'a> = (Option<&'a str>, Option<i64>);

/// Parts of an interval, neighbours joined so that there are [`PARTS_MAX`] at most.
pub(super) struct Parts<'a> {
    parts: Vec<(f64, BTreeMap<What<'a>, f64>)>,
}

/// Fewest parts for a test of a change: with fewer, their autocorrelation is too uncertain.
const PARTS_MIN: usize = 8;

/// No more is made of parts that resemble each other: beyond it they are one.
const AUTOCORRELATION_MAX: f64 = 0.9;

/// A mean over parts of unequal length: a ratio of sums.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ratio {
    pub value: f64,
    /// The standard error; `None` of fewer than two parts.
    pub error: Option<f64>,
    /// Degrees of freedom of the error.
    pub df: f64,
    /// Number of parts.
    n: usize,
}

impl Ratio {
    /// Estimates the ratio of the sums of both sides of the pairs. The error is that of a ratio
    /// estimate (W. Cochran, Sampling Techniques, 1977, section 6.4). Successive parts correlate,
    /// so the error uses the effective number of independent parts: (1 - r) / (1 + r) of them. The
    /// autocorrelation r is corrected for its bias in short series (M. Kendall, Biometrika 41
    /// (1954)). `tests/activity_changes.rs` tests the coverage.
    pub(super) fn from_pairs(pairs: &[(f64, f64)]) -> Self {
        let n = pairs.len() as f64;
        let below: f64 = pairs.iter().map(|(_, below)| below).sum();
        let value = if below > 0.0 {
            pairs.iter().map(|(above, _)| above).sum::<f64>() / below
        } else {
            0.0
        };
        let rests: Vec<f64> =
            pairs.iter().map(|(above, below_one)| above - value * below_one).collect();
        let squares: f64 = rests.iter().map(|rest| rest * rest).sum();
        let products: f64 = rests.windows(2).map(|pair| pair[0] * pair[1]).sum();
        let r = if squares > 0.0 { products / squares } else { 0.0 };
        let r = (r + (1.0 + 3.0 * r) / n).clamp(0.0, AUTOCORRELATION_MAX);
        let independent = (1.0 - r) / (1.0 + r);
        Self {
            value,
            error: (pairs.len() > 1 && below > 0.0)
                .then(|| (n / (n - 1.0) * squares / independent).sqrt() / below),
            df: (n * independent - 1.0).max(1.0),
            n: pairs.len(),
        }
    }

    /// Returns the excess of another one: its 95 % interval, and the p-value of "as much" (Welch's
    /// t); `None` where either has too few parts.
    pub(super) fn against(self, to: Self) -> Option<(Interval, f64)> {
        if self.n.min(to.n) < PARTS_MIN {
            return None;
        }
        let (square_a, square_b) = (self.error?.powi(2), to.error?.powi(2));
        let square = square_a + square_b;
        let df = square.powi(2) / (square_a.powi(2) / self.df + square_b.powi(2) / to.df);
        let df = if square > 0.0 { df } else { self.df + to.df };
        Some(t_test(to.value - self.value, square.sqrt(), df))
    }
}

impl<'a> Parts<'a> {
    pub(super) fn from_activity(server_activity: &'a ServerActivity) -> Self {
        let sampled: Vec<&ActivityPart> =
            server_activity.parts.iter().filter(|part| part.polls > 0).collect();
        let joined = sampled.len().div_ceil(PARTS_MAX).max(1);
        Self {
            parts: sampled
                .chunks(joined)
                .map(|parts| {
                    let mut counts: BTreeMap<What, f64> = BTreeMap::new();
                    for (wait_type, query_id, count) in parts.iter().flat_map(|part| &part.samples)
                    {
                        *counts.entry((wait_type.as_deref(), *query_id)).or_insert(0.0) +=
                            *count as f64;
                    }
                    (parts.iter().map(|part| part.polls as f64).sum(), counts)
                })
                .collect(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.parts.len()
    }

    /// Mean number of sessions in a wait (`None`: without one), over all statements.
    pub(super) fn sessions(&self, wait_type: Option<&str>) -> Ratio {
        self.mean(|part| part == wait_type)
    }

    /// Mean number of sessions that had something to do.
    pub(super) fn busy(&self) -> Ratio {
        self.mean(|_| true)
    }

    fn mean(&self, is_counted: impl Fn(Option<&str>) -> bool) -> Ratio {
        let pairs = self.parts.iter().map(|(polls, counts)| {
            let counted = counts.iter().filter(|((wait_type, _), _)| is_counted(*wait_type));
            (counted.map(|(_, count)| count).sum(), *polls)
        });
        Ratio::from_pairs(&pairs.collect::<Vec<(f64, f64)>>())
    }

    /// Everything that was sampled waiting, and what did not wait.
    pub(super) fn wait_types(&self) -> impl Iterator<Item = Option<&'a str>> {
        self.parts.iter().flat_map(|(_, counts)| counts.keys().map(|(wait_type, _)| *wait_type))
    }

    /// Standard errors of the shares of all samples, where there are several parts.
    pub(super) fn errors_of_shares(&self) -> BTreeMap<What<'a>, f64> {
        let all: Vec<f64> = self.parts.iter().map(|(_, counts)| counts.values().sum()).collect();
        let mut rows: BTreeMap<What, Vec<(f64, f64)>> = BTreeMap::new();
        for (at, (_, counts)) in self.parts.iter().enumerate() {
            for (what, count) in counts {
                rows.entry(*what).or_insert_with(|| all.iter().map(|all| (0.0, *all)).collect())
                    [at]
                    .0 = *count;
            }
        }
        rows.into_iter()
            .filter_map(|(what, pairs)| Some((what, Ratio::from_pairs(&pairs).error?)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_of_equal_parts_is_a_mean_with_the_error_that_resemblance_leaves() {
        // Residuals -2, 0, 2, 0: no autocorrelation as it is, (1 + 0) / 4 corrected: 0.6 of 4 parts
        // are independent. The sample standard deviation is sqrt(8/3).
        let ratio = Ratio::from_pairs(&[(2.0, 1.0), (4.0, 1.0), (6.0, 1.0), (4.0, 1.0)]);
        assert!((ratio.value - 4.0).abs() < 1e-12 && (ratio.df - 1.4).abs() < 1e-12, "{ratio:?}");
        assert!(
            (ratio.error.unwrap() - (8.0_f64 / 3.0 / (0.6 * 4.0)).sqrt()).abs() < 1e-12,
            "{ratio:?}"
        );
        assert_eq!(Ratio::from_pairs(&[(2.0, 1.0)]).error, None);
        assert!(Ratio::from_pairs(&[]).value.abs() < 1e-12);
        // A part that is twice as long with twice as much changes nothing.
        assert_eq!(Ratio::from_pairs(&[(1.0, 1.0), (2.0, 2.0), (1.0, 1.0)]).error, Some(0.0));
    }

    #[test]
    fn many_parts_are_joined_to_few() {
        let mut server_activity = ServerActivity {
            parts: (0..64)
                .map(|n| ActivityPart {
                    polls: 10,
                    samples: vec![(Some("Lock:tuple".into()), None, n), (None, Some(7), 5)],
                })
                .collect(),
            ..ServerActivity::default()
        };
        server_activity.parts.insert(3, ActivityPart::default());
        let parts = Parts::from_activity(&server_activity);
        assert_eq!(parts.parts.len(), 16);
        assert!((parts.sessions(Some("Lock:tuple")).value - 3.15).abs() < 1e-12);
        assert!((parts.sessions(None).value - 0.5).abs() < 1e-12);
        assert!((parts.busy().value - 3.65).abs() < 1e-12);
        assert_eq!(parts.errors_of_shares().len(), 2);
    }
}
