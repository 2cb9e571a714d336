//! The tables that studies print: what one level gains over another, for each level of the main factor.

use crate::grid::{FactorLayout, Grid, Matched};
use crate::interaction::Axis;
use crate::{Comparison, Estimate, ResponseChoice, Scale, compare};
use observations::{Direction, Observations};
use serde::Serialize;

/// A factor's levels against its reference level, for each level of the main factor.
///
/// As in the insert studies: for 1, 2, 4, 8 and 16 files, how many times faster than on spinning disks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GainTable {
    /// Position of the main factor: its levels are the rows.
    pub rows: usize,
    /// Position of the factor whose levels are compared.
    pub factor: usize,
    /// The level that the others are compared with.
    pub from: usize,
    /// One column for each other level.
    pub columns: Vec<GainColumn>,
}

/// One level against the reference level.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GainColumn {
    /// Position of the level.
    pub to: usize,
    /// The comparison at each level of the main factor, corrected (Holm) over the table.
    pub by_row: Vec<Option<Comparison>>,
    /// The average gain in percent over everything else that was varied; `None` where values have no ratio.
    pub average: Option<Estimate>,
}

impl GainTable {
    /// The table of `factor` for each level of `main`.
    pub(crate) fn of(main: Axis, factor: Axis, grid: &Grid, response: &ResponseChoice) -> Self {
        let (from, layout) = (factor.reference, factor.layout);
        let usable = |o: &Observations| response.value(o).is_some();
        let others: Vec<usize> = (0..factor.levels).filter(|level| *level != from).collect();
        let mut family: Vec<Option<Comparison>> = Vec::new();
        for row in 0..main.levels {
            let here = layout.restricted(|c| main.positions[c] == Some(row));
            let one = |to: &usize| Comparison::of(&here.matched(grid, from, *to, usable), response);
            family.extend(others.iter().map(one));
        }
        compare::correct(&mut family);
        let column = |(i, to): (usize, &usize)| GainColumn {
            to: *to,
            by_row: family.iter().skip(i).step_by(others.len()).cloned().collect(),
            average: average_gain(&layout.matched(grid, from, *to, usable), response),
        };
        Self {
            rows: main.factor,
            factor: factor.factor,
            from,
            columns: others.iter().enumerate().map(column).collect(),
        }
    }
}

/// Mean gain in percent over all pairs of each block, then over blocks; 20.5 is 20.5 % better.
///
/// The arithmetic mean of gains, as studies print it, not the geometric mean of a main effect.
fn average_gain(matched: &Matched, response: &ResponseChoice) -> Option<Estimate> {
    if !matched.paired {
        return None;
    }
    let gain = |(from, to): (&&Observations, &&Observations)| {
        let (from, to) = (response.value(from)?, response.value(to)?);
        let factor = match response.direction {
            Direction::HigherIsBetter => to / from,
            Direction::LowerIsBetter => from / to,
        };
        (from > 0.0 && to > 0.0).then_some(100.0 * (factor - 1.0))
    };
    let block = |(from, to): (&Vec<&Observations>, &Vec<&Observations>)| {
        let gains: Option<Vec<f64>> = from.iter().zip(to).map(gain).collect();
        gains.filter(|gains| !gains.is_empty()).map(|gains| gains.iter().sum::<f64>() / gains.len() as f64)
    };
    let blocks: Option<Vec<f64>> = matched.from.iter().zip(&matched.to).map(block).collect();
    Estimate::of(&blocks?, "%", Direction::HigherIsBetter)
}

/// The best configuration of a level, and how much better it is than the reference level's best.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BestOfLevel {
    /// Position of the configuration in the recording.
    pub configuration: usize,
    /// Its response.
    pub response: Estimate,
    /// Against the best configuration of the reference level; `None` for the reference level itself. Both are chosen
    /// by looking, so that it is a description and no test: it has neither interval nor p-value.
    pub factor: Option<f64>,
}

impl BestOfLevel {
    /// For each level of a factor; all `None` when it is the only one.
    pub(crate) fn all(
        layout: &FactorLayout,
        grid: &Grid,
        levels: usize,
        reference: usize,
        response: &ResponseChoice,
    ) -> Vec<Option<Self>> {
        if layout.single() {
            return vec![None; levels];
        }
        let estimate = |configuration: &usize| {
            let cells = grid.cells[*configuration].values();
            let values: Vec<f64> = cells.filter_map(|o| response.value(o)).collect();
            Estimate::of(&values, &response.unit, response.direction)
        };
        let best = |level: usize| -> Option<(usize, Estimate)> {
            let own: Vec<usize> = layout.configurations(level).collect();
            let mut estimates: Vec<Option<Estimate>> = own.iter().map(estimate).collect();
            let best = compare::best(&estimates.iter().map(Option::as_ref).collect::<Vec<_>>())?;
            Some((own[best], estimates[best].take()?))
        };
        let first = best(reference);
        let usable = |o: &Observations| response.value(o).is_some();
        let factor = |level: usize, configuration: usize| {
            let from = first.as_ref().filter(|_| level != reference)?.0;
            let matched = Matched::configurations(&grid.cells[from], &grid.cells[configuration], usable);
            let comparison = Comparison::of(&matched, response)?;
            (comparison.scale == Scale::Ratio).then_some(comparison.value)
        };
        let one = |level: usize| {
            let (configuration, response) = best(level)?;
            Some(Self { configuration, response, factor: factor(level, configuration) })
        };
        (0..levels).map(one).collect()
    }
}
