//! Did the machine change from block to block?

use crate::Summary;
use crate::distribution::f_upper_p;
use crate::estimate::mean;
use crate::interaction::centred;
use serde::Serialize;
use std::collections::BTreeMap;

/// Test of the block effect: two-way analysis of variance (configurations x blocks).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Drift {
    /// F of the block term.
    pub f: f64,
    /// Its p-value; under 0.05 blocks differ.
    pub p_value: f64,
    /// Complete blocks used.
    pub blocks: usize,
    /// Configurations used.
    pub configurations: usize,
    /// Mean of the response of each block relative to the mean of all (1 = equal), by block number.
    pub relative: Vec<(u32, f64)>,
    /// Whether the block effect is supported at 95 %.
    pub supported: bool,
}

impl Drift {
    /// Tests rows of configurations with a value for each of the same blocks.
    ///
    /// Values are compared as logarithms when all are positive, so that "block 3 was 5 % slower"
    /// weighs the same in fast and slow configurations. `None` with fewer than two rows or blocks,
    /// because block and noise then cannot be told apart.
    pub(crate) fn of(rows: &[Vec<f64>], blocks: &[u32]) -> Option<Self> {
        let (k, b) = (rows.len(), blocks.len());
        if k < 2 || b < 2 {
            return None;
        }
        let positive = rows.iter().flatten().all(|value| *value > 0.0);
        let value = |value: &f64| if positive { value.ln() } else { *value };
        let table: Vec<Vec<f64>> = rows.iter().map(|row| row.iter().map(value).collect()).collect();
        let block_mean = |j: usize| mean(&table.iter().map(|row| row[j]).collect::<Vec<f64>>());
        let block_means: Vec<f64> = (0..b).map(block_mean).collect();
        let mean = mean(&block_means);
        let between = k as f64 * block_means.iter().map(|m| (m - mean).powi(2)).sum::<f64>();
        let within: f64 = centred(&table).iter().map(|residual| residual.powi(2)).sum();
        let (df_between, df_within) = ((b - 1) as f64, ((b - 1) * (k - 1)) as f64);
        // Without noise (a scripted engine) there is nothing to test against.
        let noise = within / df_within;
        if noise <= (mean.abs().max(1.0) * 1e-12).powi(2) {
            return None;
        }
        let f = between / df_between / noise;
        let p_value = f_upper_p(f, df_between, df_within);
        let relative = |m: f64| if positive { (m - mean).exp() } else { m / mean };
        Some(Self {
            f,
            p_value,
            blocks: b,
            configurations: k,
            relative: blocks.iter().copied().zip(block_means.into_iter().map(relative)).collect(),
            supported: p_value < 0.05,
        })
    }
}

impl Summary<'_> {
    /// The block effect over the configurations that have values and the blocks that are complete for them; `None` when
    /// it cannot be tested, or when blocks were not rounds of the whole run because a factor is hard to change: block 1
    /// of two groups may be days apart.
    pub fn drift(&self) -> Option<Drift> {
        let response = self.response.as_ref()?;
        if self.recording.factors.iter().any(|factor| factor.hard_to_change) {
            return None;
        }
        let rows = self.grid.cells.iter().map(|cells| response.values(cells));
        let rows: Vec<BTreeMap<u32, f64>> = rows.filter(|row| !row.is_empty()).collect();
        let first = rows.first()?;
        let blocks: Vec<u32> =
            first.keys().copied().filter(|block| rows.iter().all(|row| row.contains_key(block))).collect();
        let complete: Vec<Vec<f64>> =
            rows.iter().map(|row| blocks.iter().map(|block| row[block]).collect()).collect();
        Drift::of(&complete, &blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::Drift;

    /// Expected values: two-way analysis of variance by statsmodels.
    #[test]
    fn equal_to_statsmodels() {
        let reference: serde_json::Value =
            serde_json::from_str(include_str!("../tests/scipy_reference.json")).unwrap();
        for case in reference["drift"].as_array().unwrap() {
            let rows: Vec<Vec<f64>> = serde_json::from_value(case["rows"].clone()).unwrap();
            let blocks: Vec<u32> = (1..).take(rows[0].len()).collect();
            let drift = Drift::of(&rows, &blocks).unwrap();
            let (f, p) = (case["f"].as_f64().unwrap(), case["p"].as_f64().unwrap());
            assert!((drift.f - f).abs() < 1e-8 * f, "{} {f}", drift.f);
            assert!((drift.p_value - p).abs() < 1e-8, "{} {p}", drift.p_value);
            assert_eq!(drift.supported, p < 0.05);
        }
    }

    #[test]
    fn says_nothing_where_nothing_can_be_told() {
        assert_eq!(Drift::of(&[vec![1.0, 2.0]], &[1, 2]), None);
        assert_eq!(Drift::of(&[vec![1.0], vec![2.0]], &[1]), None);
        assert_eq!(Drift::of(&[vec![1.0, 1.0], vec![2.0, 2.0]], &[1, 2]), None);
    }
}
