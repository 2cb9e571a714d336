//! The tables that studies print: what one level gains over another, for each level of the main
//! factor.

use crate::estimate::{Precision, mean};
use crate::grid::{FactorLayout, Figures, Matched};
use crate::response::Figure;
use crate::{Comparison, Estimate, Scale, compare};
use observations::Direction;
use serde::Serialize;

/// A factor's levels against its reference level, for each level of the main factor.
///
/// As in the insert studies: for 1, 2, 4, 8 and 16 files, how many times faster than on spinning
/// disks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GainTable {
    /// Position of the main factor: its levels are the rows.
    pub rows: usize,
    /// Position of the factor whose levels are compared.
    pub factor: usize,
    /// The level that the others are compared with.
    pub from: usize,
    /// A column for each other level.
    pub columns: Vec<GainColumn>,
}

/// A level against the reference level.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GainColumn {
    /// Position of the level.
    pub to: usize,
    /// The comparison at each level of the main factor, corrected (Holm) over the table.
    pub by_row: Vec<Option<Comparison>>,
    /// The average gain in percent over everything else that was varied; `None` where values have
    /// no ratio.
    pub average: Option<Estimate>,
}

impl GainTable {
    /// The table of `factor` for each level of `main`.
    pub(crate) fn tabulate(main: &FactorLayout, factor: &FactorLayout, figures: &Figures) -> Self {
        let (from, others): (usize, Vec<usize>) = (factor.reference, factor.others().collect());
        let family = compare::corrected(
            (0..main.levels)
                .flat_map(|row: usize| {
                    let here = factor.at(main, row);
                    others.iter().map(move |to| here.compare(figures, from, *to))
                })
                .collect(),
        );
        let columns = others
            .iter()
            .enumerate()
            .map(|(i, to)| GainColumn {
                to: *to,
                by_row: family.iter().skip(i).step_by(others.len()).cloned().collect(),
                average: average_gain(
                    &factor.matched(&figures.grid, from, *to),
                    figures.response.direction,
                ),
            })
            .collect();
        Self { rows: main.factor, factor: factor.factor, from, columns }
    }
}

/// Mean gain in percent over all pairs of each block, then over blocks; 20.5 is 20.5 % better.
/// `None` where a trial timed out.
///
/// The arithmetic mean of gains, as studies print it, not the geometric mean of a main effect.
fn average_gain(matched: &Matched<Figure>, direction: Direction) -> Option<Estimate> {
    if !matched.paired {
        return None;
    }
    let blocks: Option<Vec<f64>> = matched
        .from
        .iter()
        .zip(&matched.to)
        .map(|(from, to)| {
            let gains: Option<Vec<f64>> = from
                .iter()
                .zip(to)
                .map(|(from, to)| {
                    let (from, to) = (from.value()?, to.value()?);
                    let factor = match direction {
                        Direction::HigherIsBetter => to / from,
                        Direction::LowerIsBetter => from / to,
                    };
                    (from > 0.0 && to > 0.0).then_some(100.0 * (factor - 1.0))
                })
                .collect();
            gains.filter(|gains| !gains.is_empty()).map(|gains| mean(&gains))
        })
        .collect();
    let precision = Precision { first: matched.first[0], ..Precision::default() };
    Estimate::known(&blocks?, "%", Direction::HigherIsBetter, precision)
}

/// The best configuration of a level, and how much better it is than the reference level's best.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BestOfLevel {
    /// Position of the configuration in the recording.
    pub configuration: usize,
    /// The response.
    pub response: Estimate,
    /// Against the best configuration of the reference level; `None` for the reference level
    /// itself. Both are chosen by looking, so that it is a description and no test: it has
    /// neither interval nor p-value.
    pub factor: Option<f64>,
}

impl BestOfLevel {
    /// For each level of a factor; all `None` when it is the only one.
    pub(crate) fn all(layout: &FactorLayout, figures: &Figures) -> Vec<Option<Self>> {
        if layout.single() {
            return vec![None; layout.levels];
        }
        let best = |level: usize| -> Option<(usize, Estimate)> {
            let configurations: Vec<usize> = layout.configurations(level).collect();
            let mut estimates: Vec<_> =
                configurations.iter().map(|c| figures.estimate(*c)).collect();
            let best =
                compare::best_mean(&estimates.iter().map(Option::as_ref).collect::<Vec<_>>())?;
            Some((configurations[best], estimates[best].take()?))
        };
        let first = best(layout.reference);
        (0..layout.levels)
            .map(|level: usize| {
                let (configuration, estimate) = best(level)?;
                let from = first.as_ref().filter(|_| level != layout.reference);
                let comparison = from.and_then(|(from, _)| figures.compare(*from, configuration));
                let factor = comparison
                    .filter(|comparison| {
                        comparison.scale == Scale::Ratio && comparison.bound.is_none()
                    })
                    .map(|comparison| comparison.value);
                Some(Self { configuration, response: estimate, factor })
            })
            .collect()
    }
}
