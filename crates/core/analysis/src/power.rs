//! Which difference could have been found?

use crate::estimate::{Moments, Precision, mean};
use crate::grid::Matched;
use crate::response::{Figure, resolution};
use serde::Serialize;
use statistics::t_quantile;
use statrs::distribution::{Continuous, ContinuousCDF, Normal};
use statrs::function::gamma::ln_gamma;

/// Largest detectable relative difference that is worth showing. Above it, the blocks are too few
/// or vary too much to plan with.
pub const RELATIVE_MAX: f64 = 1.0;

/// The smallest difference that would be found with a probability of 80 %: an estimate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Detectable {
    /// Relative difference: 0.04 is 4 %.
    pub relative: f64,
    /// Blocks.
    pub blocks: usize,
    /// Standard deviation of log ratios within a block, pooled over the comparisons.
    pub sd_log_ratio: f64,
    /// Comparisons that the test is corrected for.
    pub comparisons: usize,
}

/// Most blocks that a plan is made for.
const BLOCKS_MAX: usize = 10_000;
/// The share of such differences that would be found.
const POWER: f64 = 0.8;

impl Detectable {
    /// From the spread of log ratios within blocks; `None` with fewer than two blocks.
    ///
    /// Exact for a paired t-test at 5 % divided by the number of comparisons, the most that Holm's
    /// correction asks of one of them; an estimate all the same, because the spread itself is
    /// one.
    pub fn from_spread(sd_log_ratio: f64, blocks: usize, comparisons: usize) -> Option<Self> {
        if blocks < 2 || !sd_log_ratio.is_finite() {
            return None;
        }
        Some(Self::by_df(sd_log_ratio, blocks as f64 - 1.0, blocks, comparisons))
    }

    /// The fewest blocks that detect this relative difference with this spread; `None` where even
    /// [`BLOCKS_MAX`] do not.
    pub fn blocks_for(&self, relative: f64) -> Option<usize> {
        let detects = |blocks: usize| {
            let detectable = Self::from_spread(self.sd_log_ratio, blocks, self.comparisons);
            detectable.is_some_and(|detectable| detectable.relative <= relative)
        };
        if !detects(BLOCKS_MAX) {
            return None;
        }
        let (mut too_few, mut enough) = (1, BLOCKS_MAX);
        while enough - too_few > 1 {
            let middle = usize::midpoint(too_few, enough);
            if detects(middle) { enough = middle } else { too_few = middle }
        }
        Some(enough)
    }

    /// The detectable difference of a test with other degrees of freedom.
    fn by_df(sd_log_ratio: f64, df: f64, blocks: usize, comparisons: usize) -> Self {
        let relative =
            (noncentrality(df, comparisons) * sd_log_ratio / (blocks as f64).sqrt()).exp_m1();
        Self { relative, blocks, sd_log_ratio, comparisons }
    }

    /// From comparisons by paired blocks, pooling the spread of their log ratios; the number of
    /// blocks is the median one.
    ///
    /// Each of them will be corrected for `family` comparisons.
    pub(crate) fn of_comparisons(
        comparisons: impl Iterator<Item = Matched<Figure>>,
        family: usize,
    ) -> Option<Self> {
        let (mut squares, mut df, mut blocks, mut first) = (0.0, 0.0, Vec::new(), usize::MAX);
        for matched in comparisons {
            first = first.min(matched.first[0].max(2));
            if !matched.paired || matched.timed_out() {
                continue;
            }
            let ratios = log_ratios(&matched);
            let known = Precision { first: matched.first[0], rounding: rounding(&matched) };
            let Moments { n, error: Some(error), df: weight, .. } = Moments::known(&ratios, known)
            else {
                continue;
            };
            squares += error * error * n as f64 * weight;
            df += weight;
            blocks.push(ratios.len());
        }
        if df == 0.0 {
            return None;
        }
        blocks.sort_unstable();
        let blocks = blocks[blocks.len() / 2];
        // Adaptive repeats have the degrees of freedom of the first stage.
        let test_df = first.min(blocks) as f64 - 1.0;
        Some(Self::by_df((squares / df).sqrt(), test_df, blocks, family))
    }
}

/// Variance of rounding the log ratios.
fn rounding(matched: &Matched<Figure>) -> f64 {
    let side = |side: &[Vec<Figure>]| {
        let all = || side.iter().flatten();
        (resolution(all()) / mean(all().filter_map(Figure::value))).powi(2) / 12.0
    };
    side(&matched.from) + side(&matched.to)
}

/// Mean log ratio of the pairs in each block whose values all have logarithms.
fn log_ratios(matched: &Matched<Figure>) -> Vec<f64> {
    let mean_log = |block: &[Figure]| {
        let values = block.iter().filter_map(Figure::value);
        let logs: Option<Vec<f64>> =
            values.map(|value| (value > 0.0).then(|| value.ln())).collect();
        logs.filter(|logs| !logs.is_empty()).map(|logs| mean(&logs))
    };
    let blocks = matched.from.iter().zip(&matched.to);
    blocks.filter_map(|(from, to)| Some(mean_log(from)? - mean_log(to)?)).collect()
}

/// The noncentrality of t at which a two-sided test at 5 % / `comparisons` rejects with [`POWER`]:
/// Newton's method from (t for that level + t for the power), the usual approximation.
pub(crate) fn noncentrality(df: f64, comparisons: usize) -> f64 {
    let critical = t_quantile(0.025 / comparisons.max(1) as f64, df);
    let mut noncentrality = critical + t_quantile(1.0 - POWER, df);
    for _ in 0..30 {
        let (power, slope) = power(noncentrality, critical, df);
        let most = 0.3 * noncentrality;
        let step = ((POWER - power) / slope).max(-most).min(most);
        noncentrality += step;
        if step.abs() < 1e-4 * noncentrality {
            break;
        }
    }
    noncentrality
}

/// Probability that noncentral t exceeds `critical` in the direction of the difference (the other
/// one is negligible where this is 80 %), and its derivative by the noncentrality.
///
/// By Simpson's rule over s, the estimated standard deviation relative to the true one, whose
/// square is chi-squared / df.
fn power(noncentrality: f64, critical: f64, df: f64) -> (f64, f64) {
    const INTERVALS: usize = 200;
    let reach = 7.0 / (2.0 * df).sqrt();
    let (low, high) = ((1.0 - reach).max(0.0), 1.0 + reach);
    let step = (high - low) / INTERVALS as f64;
    let constant = std::f64::consts::LN_2 + 0.5 * df * (0.5 * df).ln() - ln_gamma(0.5 * df);
    let (mut power, mut slope) = (0.0, 0.0);
    for i in 0..=INTERVALS {
        let s = low + step * i as f64;
        let log = if df > 1.0 { (df - 1.0) * s.ln() } else { 0.0 };
        let weight = match i {
            0 | INTERVALS => 1.0,
            _ if i % 2 == 1 => 4.0,
            _ => 2.0,
        };
        let density = weight * (constant + log - 0.5 * df * s * s).exp();
        let z = noncentrality - critical * s;
        power += density * Normal::standard().cdf(z);
        slope += density * Normal::standard().pdf(z);
    }
    (power * step / 3.0, slope * step / 3.0)
}

#[cfg(test)]
mod tests {
    use super::Detectable;

    /// Expected: power of the paired t-test by the noncentral t of scipy is 80 % at this
    /// difference.
    #[test]
    fn reaches_the_power_that_it_says() {
        let reference: serde_json::Value =
            serde_json::from_str(include_str!("../tests/scipy_reference.json")).unwrap();
        for row in reference["detectable"].as_array().unwrap() {
            let (blocks, comparisons) =
                (row[0].as_u64().unwrap() as usize, row[1].as_u64().unwrap() as usize);
            let exact = row[2].as_f64().unwrap();
            let ours =
                Detectable::from_spread(0.05, blocks, comparisons).unwrap().relative.ln_1p() / 0.05;
            assert!((ours / exact - 1.0).abs() < 2e-3, "{blocks} blocks: {ours} {exact}");
        }
        assert!(
            Detectable::from_spread(0.05, 1, 1).is_none()
                && Detectable::from_spread(f64::NAN, 5, 1).is_none()
        );
    }
}
