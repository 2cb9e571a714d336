//! Trials that stand apart, which are named and never dropped, and whether the machine changed from
//! block to block.

use crate::compare::{Betterness, Scale};
use crate::estimate::{mean, median};
use crate::grid::Figures;
use crate::interaction::centred;
use crate::{ResponseChoice, Summary};
use observations::{Direction, Recording};
use serde::Serialize;
use statistics::f_upper_p;
use std::collections::BTreeMap;

/// A trial far from what its configuration and its block lead to expect. It stays in every figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outlier {
    /// Position of the configuration in the recording.
    pub configuration: usize,
    /// The label.
    pub label: String,
    /// The block.
    pub block: u32,
    /// The value.
    pub value: f64,
    /// The value expected: the configuration's median, shifted as the block shifted the other
    /// configurations.
    pub expected: f64,
    /// Unit of both.
    pub unit: String,
    /// The deviation, in robust standard deviations: 0.6745 (x - expected) / MAD, of logarithms
    /// where all values have one.
    pub modified_z: f64,
}

/// B. Iglewicz and D. Hoaglin, How to Detect and Handle Outliers (1993), recommend 3.5.
const MODIFIED_Z: f64 = 3.5;
/// The median absolute deviation of a normal distribution in standard deviations.
const MAD_SHARE: f64 = 0.6745;
/// With fewer deviations their median says nothing.
const DEVIATIONS_MIN: usize = 4;
/// Configurations that are needed to separate block effects from noise.
const CONFIGURATIONS_MIN: usize = 3;

/// Deviations of one configuration's values by block, and its median.
struct Deviations {
    configuration: usize,
    median: f64,
    deviations: BTreeMap<u32, f64>,
}

impl Summary<'_> {
    /// Trials whose response is off by more than 3.5 robust standard deviations, in the order of
    /// configurations and blocks.
    pub fn outliers(&self) -> Vec<Outlier> {
        self.figures.as_ref().map(|figures| outliers(self.recording, figures)).unwrap_or_default()
    }
}

/// Five blocks of one configuration are too few to estimate its spread. The threshold uses the
/// larger of its own spread and that of all configurations, so that a noisy configuration does not
/// have only outliers.
fn outliers(recording: &Recording, figures: &Figures) -> Vec<Outlier> {
    let values: Vec<f64> = figures.all().collect();
    let scale = Betterness::for_values(values.iter(), Direction::HigherIsBetter);
    let back = |value: f64| if scale.scale == Scale::Ratio { value.exp() } else { value };
    let row = |configuration: usize| {
        let values = figures.values(configuration);
        let values: Vec<(u32, f64)> =
            values.map(|(block, value)| (block, scale.of_value(value))).collect();
        let median = median(&values.iter().map(|(_, value)| *value).collect::<Vec<f64>>())?;
        let deviations = values.into_iter().map(|(block, value)| (block, value - median)).collect();
        Some(Deviations { configuration, median, deviations })
    };
    let mut rows: Vec<Deviations> = (0..figures.grid.cells.len()).filter_map(row).collect();
    let shifts = take_out_blocks(&mut rows);
    let all = spread(&mut rows.iter().flat_map(|row| row.deviations.values()));
    let mut found = Vec::new();
    for row in &rows {
        let spread = spread(&mut row.deviations.values());
        let Some(mad) = spread.into_iter().chain(all).reduce(f64::max) else { continue };
        for (block, deviation) in &row.deviations {
            let modified_z = MAD_SHARE * deviation / mad;
            if modified_z.abs() <= MODIFIED_Z {
                continue;
            }
            let expected = row.median + shifts.get(block).unwrap_or(&0.0);
            found.push(Outlier {
                configuration: row.configuration,
                label: recording.configurations[row.configuration].label.clone(),
                block: *block,
                value: back(expected + deviation),
                expected: back(expected),
                unit: figures.response.unit.clone(),
                modified_z,
            });
        }
    }
    found
}

/// Takes from each deviation the median one of its block, so that a slow block does not make
/// outliers of all its trials; gives what was taken.
fn take_out_blocks(rows: &mut [Deviations]) -> BTreeMap<u32, f64> {
    let mut blocks: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (block, deviation) in rows.iter().flat_map(|row| &row.deviations) {
        blocks.entry(*block).or_default().push(*deviation);
    }
    let enough =
        blocks.into_iter().filter(|(_, deviations)| deviations.len() >= CONFIGURATIONS_MIN);
    let shifts: BTreeMap<u32, f64> =
        enough.filter_map(|(block, deviations)| Some((block, median(&deviations)?))).collect();
    for row in rows {
        for (block, deviation) in &mut row.deviations {
            *deviation -= shifts.get(block).unwrap_or(&0.0);
        }
    }
    shifts
}

/// Median absolute deviation. The medians' own deviations, which are zero by construction and would
/// make the spread of few values too small, are left out; `None` where little is left.
fn spread(deviations: &mut dyn Iterator<Item = &f64>) -> Option<f64> {
    let sizes: Vec<f64> =
        deviations.map(|deviation| deviation.abs()).filter(|size| *size > 1e-12).collect();
    median(&sizes).filter(|_| sizes.len() >= DEVIATIONS_MIN)
}

/// Test of the block effect: two-way analysis of variance (configurations x blocks).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Drift {
    /// F of the block term.
    pub f: f64,
    /// The p-value; under 0.05 blocks differ.
    pub p_value: f64,
    /// Complete blocks used.
    pub blocks: usize,
    /// Configurations used.
    pub configurations: usize,
    /// Name of the response tested.
    pub response: String,
    /// Mean of the response of each block relative to the mean of all (1 = equal), by block
    /// number.
    pub relative: Vec<(u32, f64)>,
    /// True if the block effect is significant at 95 %.
    pub supported: bool,
}

impl Drift {
    /// Tests rows of configurations with a value for each of the same blocks.
    ///
    /// Values are compared as logarithms when all are positive, so that "block 3 was 5 % slower"
    /// weighs the same in fast and slow configurations. `None` with fewer than two rows or blocks,
    /// because block effect and noise are then inseparable.
    pub(crate) fn estimate(rows: &[Vec<f64>], blocks: &[u32]) -> Option<Self> {
        let (k, b) = (rows.len(), blocks.len());
        if k < 2 || b < 2 {
            return None;
        }
        let positive = rows.iter().flatten().all(|value| *value > 0.0);
        let table: Vec<Vec<f64>> = rows
            .iter()
            .map(|row| row.iter().map(|value| if positive { value.ln() } else { *value }).collect())
            .collect();
        let block_means: Vec<f64> = (0..b)
            .map(|j: usize| mean(table.iter().map(|row| row[j]).collect::<Vec<f64>>()))
            .collect();
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
            response: String::new(),
            relative: blocks.iter().copied().zip(block_means.into_iter().map(relative)).collect(),
            supported: p_value < 0.05,
        })
    }
}

impl Summary<'_> {
    /// The block effect over the configurations that have values and the blocks that are complete
    /// for them. `None` when it cannot be tested, or when blocks were not rounds of the whole run
    /// because a factor is hard to change: block 1 of two groups may be days apart. In an open loop
    /// throughput, elapsed time and queues follow the schedule of each block, so there the service
    /// time is tested.
    pub fn drift(&self) -> Option<Drift> {
        let mut done = self.recording.done().map(|(_, observations)| observations);
        let open = done.find(|observations| observations.load.sends_intended > 0);
        let service = open.map(|observations| ResponseChoice::named("service_mean", observations));
        let response = service.unwrap_or_else(|| self.response.clone())?;
        if self.recording.factors.iter().any(|factor| factor.hard_to_change) {
            return None;
        }
        let figures = self.grid.figures(&response);
        let rows = (0..self.grid.cells.len()).map(|index| figures.values(index).collect());
        let rows: Vec<BTreeMap<u32, f64>> =
            rows.filter(|row: &BTreeMap<_, _>| !row.is_empty()).collect();
        let first = rows.first()?;
        let blocks: Vec<u32> = first
            .keys()
            .copied()
            .filter(|block| rows.iter().all(|row| row.contains_key(block)))
            .collect();
        let complete: Vec<Vec<f64>> =
            rows.iter().map(|row| blocks.iter().map(|block| row[block]).collect()).collect();
        Some(Drift { response: response.name, ..Drift::estimate(&complete, &blocks)? })
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
            let drift = Drift::estimate(&rows, &blocks).unwrap();
            let (f, p) = (case["f"].as_f64().unwrap(), case["p"].as_f64().unwrap());
            assert!((drift.f - f).abs() < 1e-8 * f, "{} {f}", drift.f);
            assert!((drift.p_value - p).abs() < 1e-8, "{} {p}", drift.p_value);
            assert_eq!(drift.supported, p < 0.05);
        }
    }

    #[test]
    fn says_nothing_where_nothing_can_be_told() {
        assert_eq!(Drift::estimate(&[vec![1.0, 2.0]], &[1, 2]), None);
        assert_eq!(Drift::estimate(&[vec![1.0], vec![2.0]], &[1]), None);
        assert_eq!(Drift::estimate(&[vec![1.0, 1.0], vec![2.0, 2.0]], &[1, 2]), None);
    }
}
