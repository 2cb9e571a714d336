//! What the levels of one factor do, over the levels of all other factors.

use crate::grid::{Grid, Layout};
use crate::{Comparison, Estimate, ResponseChoice, Standing, compare};
use observations::{FactorRecord, Observations};
use serde::Serialize;
use std::collections::BTreeMap;

/// The levels of one factor against each other.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FactorEffect {
    /// Name of the factor.
    pub factor: String,
    /// Whether every level is a number, so that "sweet spot" has a meaning.
    pub ordered: bool,
    /// Whether the levels were set up once and not anew in each block: the intervals then do not
    /// hold the variation from one set-up to the next.
    pub hard_to_change: bool,
    /// Position of the reference level (the baseline's, else the first).
    pub reference: usize,
    /// Position of the best level, where one can be told.
    pub best: Option<usize>,
    /// The levels in the order of the file.
    pub levels: Vec<LevelEffect>,
}

/// One level of a factor.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LevelEffect {
    /// Label of the level.
    pub level: String,
    /// The level as a number, when all levels of the factor are.
    pub numeric: Option<f64>,
    /// Mean of the response over the other factors in each block, then over blocks.
    pub response: Option<Estimate>,
    /// Against the reference level (above 1 is better); `None` for the reference level itself and where nothing can be compared.
    pub comparison: Option<Comparison>,
    /// Against the best level.
    pub standing: Standing,
    /// Trials done.
    pub trials: usize,
}

impl FactorEffect {
    /// The effect of a factor on a response, against the level `reference`.
    pub(crate) fn of(
        factor: &FactorRecord,
        layout: &Layout,
        grid: &Grid,
        reference: usize,
        response: &ResponseChoice,
    ) -> Self {
        let estimates: Vec<_> =
            (0..factor.levels.len()).map(|level| estimate(layout, grid, level, response)).collect();
        let best = compare::best(&estimates.iter().map(Option::as_ref).collect::<Vec<_>>());
        let against = |other: usize| -> Vec<Option<Comparison>> {
            let usable = |o: &Observations| response.value(o).is_some();
            let one = |level| Comparison::of(&layout.matched(grid, other, level, usable), response);
            (0..factor.levels.len()).map(|level| if level == other { None } else { one(level) }).collect()
        };
        let mut comparisons = against(reference);
        compare::correct(&mut comparisons);
        let against_best = best.map_or_else(|| vec![None; estimates.len()], against);
        let standings = compare::standings(best, &against_best);
        let levels = estimates.into_iter().zip(comparisons).zip(standings).enumerate();
        let levels = levels.map(|(level, ((response, comparison), standing))| LevelEffect {
            level: factor.levels[level].clone(),
            numeric: factor.numeric.as_ref().and_then(|numbers| numbers.get(level).copied()),
            response,
            comparison,
            standing,
            trials: layout.configurations(level).map(|c| grid.cells[c].len()).sum(),
        });
        Self {
            factor: factor.name.clone(),
            ordered: factor.numeric.is_some(),
            hard_to_change: factor.hard_to_change,
            reference,
            best,
            levels: levels.collect(),
        }
    }
}

/// Mean over the configurations of a level in each block, then over blocks.
fn estimate(layout: &Layout, grid: &Grid, level: usize, response: &ResponseChoice) -> Option<Estimate> {
    let mut blocks: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for configuration in layout.balanced(level) {
        for (block, observations) in &grid.cells[configuration] {
            if let Some(value) = response.value(observations) {
                blocks.entry(*block).or_default().push(value);
            }
        }
    }
    let means: Vec<f64> = blocks.values().map(|v| v.iter().sum::<f64>() / v.len() as f64).collect();
    Estimate::of(&means, &response.unit, response.direction)
}
