//! Trials that stand apart: named, never dropped.

use crate::compare::{Betterness, Scale};
use crate::estimate::median;
use crate::grid::Grid;
use crate::{ResponseChoice, Summary};
use observations::{Direction, Recording};
use serde::Serialize;
use std::collections::BTreeMap;

/// A trial far from what its configuration and its block lead to expect. It stays in every figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outlier {
    /// Position of the configuration in the recording.
    pub configuration: usize,
    /// Its label.
    pub label: String,
    /// Its block.
    pub block: u32,
    /// The value.
    pub value: f64,
    /// The value expected: the configuration's median, shifted as the block shifted the other configurations.
    pub expected: f64,
    /// Unit of both.
    pub unit: String,
    /// How far it is off, in robust standard deviations: 0.6745 (x - expected) / MAD, of logarithms where all values
    /// have one.
    pub modified_z: f64,
}

/// B. Iglewicz and D. Hoaglin, How to Detect and Handle Outliers (1993), recommend 3.5.
const MODIFIED_Z: f64 = 3.5;
/// The median absolute deviation of a normal distribution in standard deviations.
const MAD_SHARE: f64 = 0.6745;
/// With fewer deviations their median says nothing.
const DEVIATIONS_MIN: usize = 4;
/// Blocks are told apart from noise only over this many configurations.
const CONFIGURATIONS_MIN: usize = 3;

/// Deviations of one configuration's values by block, and its median.
struct Deviations {
    configuration: usize,
    median: f64,
    deviations: BTreeMap<u32, f64>,
}

impl Summary<'_> {
    /// Trials whose response is off by more than 3.5 robust standard deviations, in the order of configurations and blocks.
    pub fn outliers(&self) -> Vec<Outlier> {
        let found = self.response.as_ref().map(|response| outliers(self.recording, &self.grid, response));
        found.unwrap_or_default()
    }
}

/// A configuration of five blocks alone has too few values for a spread of its own: what counts is the larger of
/// its own and the one of all configurations together, so that the trials of a noisy one are not all named.
fn outliers(recording: &Recording, grid: &Grid, response: &ResponseChoice) -> Vec<Outlier> {
    let values: Vec<f64> = grid.observations().iter().filter_map(|o| response.value(o)).collect();
    let scale = Betterness::of(&values, Direction::HigherIsBetter);
    let back = |value: f64| if scale.scale == Scale::Ratio { value.exp() } else { value };
    let row = |configuration: usize| {
        let values = response.values(&grid.cells[configuration]).into_iter();
        let values: Vec<(u32, f64)> = values.map(|(block, value)| (block, scale.of_value(value))).collect();
        let median = median(&values.iter().map(|(_, value)| *value).collect::<Vec<f64>>())?;
        let deviations = values.into_iter().map(|(block, value)| (block, value - median)).collect();
        Some(Deviations { configuration, median, deviations })
    };
    let mut rows: Vec<Deviations> = (0..grid.cells.len()).filter_map(row).collect();
    let shifts = take_out_blocks(&mut rows);
    let all = spread(&mut rows.iter().flat_map(|row| row.deviations.values()));
    let mut found = Vec::new();
    for row in &rows {
        let own = spread(&mut row.deviations.values());
        let Some(mad) = own.into_iter().chain(all).reduce(f64::max) else { continue };
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
                unit: response.unit.clone(),
                modified_z,
            });
        }
    }
    found
}

/// Takes from each deviation the median one of its block, so that a slow block does not make outliers of all its
/// trials; gives what was taken.
fn take_out_blocks(rows: &mut [Deviations]) -> BTreeMap<u32, f64> {
    let mut blocks: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (block, deviation) in rows.iter().flat_map(|row| &row.deviations) {
        blocks.entry(*block).or_default().push(*deviation);
    }
    let enough = blocks.into_iter().filter(|(_, deviations)| deviations.len() >= CONFIGURATIONS_MIN);
    let shifts: BTreeMap<u32, f64> =
        enough.filter_map(|(block, deviations)| Some((block, median(&deviations)?))).collect();
    for row in rows {
        for (block, deviation) in &mut row.deviations {
            *deviation -= shifts.get(block).unwrap_or(&0.0);
        }
    }
    shifts
}

/// Median absolute deviation. The medians' own deviations, which are zero by construction and would make the spread
/// of few values too small, are left out; `None` where little is left.
fn spread(deviations: &mut dyn Iterator<Item = &f64>) -> Option<f64> {
    let sizes: Vec<f64> = deviations.map(|deviation| deviation.abs()).filter(|size| *size > 1e-12).collect();
    median(&sizes).filter(|_| sizes.len() >= DEVIATIONS_MIN)
}
