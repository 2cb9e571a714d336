//! Which difference could have been found?

use crate::ResponseChoice;
use crate::distribution::t_quantile;
use crate::estimate::Moments;
use crate::grid::Matched;
use observations::Observations;
use serde::Serialize;

/// The smallest difference that would be found with a probability of 80 %: an estimate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Detectable {
    /// Relative difference: 0.04 is 4 %.
    pub relative: f64,
    /// Blocks.
    pub blocks: usize,
    /// Standard deviation of log ratios within a block, pooled over the configurations.
    pub sd_log_ratio: f64,
}

impl Detectable {
    /// From the spread of log ratios within blocks; `None` with fewer than two blocks.
    ///
    /// The difference is (t for 5 % two-sided + t for 80 % power) standard errors: the usual
    /// approximation to the noncentral t, and an estimate as the spread itself is one.
    pub fn of(sd_log_ratio: f64, blocks: usize) -> Option<Self> {
        if blocks < 2 || !sd_log_ratio.is_finite() {
            return None;
        }
        let n = blocks as f64;
        let errors = t_quantile(0.025, n - 1.0) + t_quantile(0.2, n - 1.0);
        let relative = (errors * sd_log_ratio / n.sqrt()).exp_m1();
        Some(Self { relative, blocks, sd_log_ratio })
    }

    /// From all configurations of a run against one of them, pooling the spread of their log ratios.
    ///
    /// The number of blocks is the median configuration's.
    pub(crate) fn of_comparisons(comparisons: &[Matched], response: &ResponseChoice) -> Option<Self> {
        let (mut squares, mut df, mut blocks) = (0.0, 0.0, Vec::new());
        for matched in comparisons.iter().filter(|matched| matched.paired) {
            let ratios: Vec<f64> = matched
                .from
                .iter()
                .zip(&matched.to)
                .filter_map(|(a, b)| Some(log(response, a)? - log(response, b)?))
                .collect();
            let Some(sd) = Moments::of(&ratios).sd else { continue };
            let weight = ratios.len() as f64 - 1.0;
            squares += sd * sd * weight;
            df += weight;
            blocks.push(ratios.len());
        }
        if df == 0.0 {
            return None;
        }
        blocks.sort_unstable();
        Self::of((squares / df).sqrt(), blocks[blocks.len() / 2])
    }
}

/// Logarithm of the response in a block of one trial.
fn log(response: &ResponseChoice, block: &[&Observations]) -> Option<f64> {
    response.value(block.first()?).filter(|value| *value > 0.0).map(f64::ln)
}

#[cfg(test)]
mod tests {
    use super::Detectable;

    /// Expected: power of the paired t-test by the noncentral t of scipy is 80 % at this difference.
    #[test]
    fn reaches_the_power_that_it_says() {
        let reference: serde_json::Value =
            serde_json::from_str(include_str!("../tests/scipy_reference.json")).unwrap();
        for row in reference["detectable"].as_array().unwrap() {
            let blocks = row[0].as_u64().unwrap() as usize;
            let exact = row[1].as_f64().unwrap();
            let ours = Detectable::of(0.05, blocks).unwrap().relative.ln_1p() / 0.05;
            assert!((ours / exact - 1.0).abs() < 0.06, "{blocks} blocks: {ours} {exact}");
        }
        assert!(Detectable::of(0.05, 1).is_none() && Detectable::of(f64::NAN, 5).is_none());
    }
}
