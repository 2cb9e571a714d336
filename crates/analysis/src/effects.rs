//! What the levels of one factor do, over the levels of all other factors.

use crate::Interaction;
use crate::grid::{FactorLayout, Grid};
use crate::{BestOfLevel, Comparison, Detectable, Estimate, ResponseChoice, Standing, Step, compare, holm};
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
    /// From level to level in the order of their numbers; empty when the factor is not ordered.
    pub steps: Vec<Step>,
    /// Which difference from the reference level could have been found; `None` when it cannot be told.
    pub detectable: Option<Detectable>,
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
    /// Against the reference level (above 1 is better), corrected (Holm) over the main effects and interactions of the
    /// whole experiment; `None` for the reference level itself and where nothing can be compared.
    pub comparison: Option<Comparison>,
    /// Against the best level.
    pub standing: Standing,
    /// The best of its configurations; `None` when the factor is the only one.
    pub best: Option<BestOfLevel>,
    /// Trials done.
    pub trials: usize,
}

impl FactorEffect {
    /// The effect of a factor on a response, against the level `reference`. [`correct`] fills in the p-values that
    /// hold for the experiment.
    pub(crate) fn of(
        factor: &FactorRecord,
        layout: &FactorLayout,
        grid: &Grid,
        reference: usize,
        response: &ResponseChoice,
    ) -> Self {
        let estimates: Vec<_> =
            (0..factor.levels.len()).map(|level| estimate(layout, grid, level, response)).collect();
        let against = |other: usize| -> Vec<Option<Comparison>> {
            let usable = |o: &Observations| response.value(o).is_some();
            let one = |level| Comparison::of(&layout.matched(grid, other, level, usable), response);
            (0..factor.levels.len()).map(|level| if level == other { None } else { one(level) }).collect()
        };
        let comparisons = against(reference);
        let best = best(&estimates, &comparisons, reference);
        let against_best = best.map_or_else(|| vec![None; estimates.len()], against);
        let standings = compare::standings(best, &against_best);
        let measured = |level: usize| estimates[level].is_some();
        let numeric = factor.numeric.as_deref().filter(|numbers| numbers.len() == estimates.len());
        let steps =
            numeric.map(|numeric| Step::all(numeric, measured, layout, grid, response)).unwrap_or_default();
        let bests = BestOfLevel::all(layout, grid, estimates.len(), reference, response);
        let levels = estimates.into_iter().zip(comparisons).zip(standings).zip(bests).enumerate();
        let levels = levels.map(|(level, (((response, comparison), standing), best))| LevelEffect {
            level: factor.levels[level].clone(),
            numeric: factor.numeric.as_ref().and_then(|numbers| numbers.get(level).copied()),
            response,
            comparison,
            standing,
            best,
            trials: layout.configurations(level).map(|c| grid.cells[c].len()).sum(),
        });
        Self {
            factor: factor.name.clone(),
            ordered: factor.numeric.is_some(),
            hard_to_change: factor.hard_to_change,
            reference,
            best,
            levels: levels.collect(),
            steps,
            detectable: None,
        }
    }

    /// The level that is said to beat the reference: the best one, if that is supported, else the best of those for
    /// which it is.
    ///
    /// Claims rest on the comparisons with the reference alone, a family that was chosen before the data was seen.
    /// The best level is chosen by looking, so that "worse than the best" alone would claim more often.
    pub fn winner(&self) -> Option<usize> {
        let wins = |level: &usize| self.levels[*level].supported().is_some_and(Comparison::is_better);
        let value = |level: usize| self.levels[level].comparison.as_ref().map_or(0.0, |c| c.value);
        let highest = || (0..self.levels.len()).filter(wins).max_by(|a, b| value(*a).total_cmp(&value(*b)));
        self.best.filter(wins).or_else(highest)
    }

    /// Levels among which the best one is, as far as the data can tell: those that the verdict does not call worse
    /// than the sweet spot, or, where no level beats the reference, than the reference.
    pub fn sweet_spot(&self) -> Vec<usize> {
        let levels = || (0..self.levels.len()).filter(|level| self.levels[*level].response.is_some());
        let Some(winner) = self.winner() else {
            return levels().filter(|level| self.levels[*level].supported().is_none()).collect();
        };
        let as_good = |level: &usize| {
            *level == winner
                || matches!(self.levels[*level].standing, Standing::Best | Standing::AsGoodAsBest)
        };
        levels().filter(as_good).collect()
    }

    /// Which difference from the reference level could have been found, with a correction for `family` comparisons.
    pub(crate) fn find_detectable(
        &mut self,
        layout: &FactorLayout,
        grid: &Grid,
        response: &ResponseChoice,
        family: usize,
    ) {
        let usable = |o: &Observations| response.value(o).is_some();
        let others = (0..self.levels.len()).filter(|level| *level != self.reference);
        let matched: Vec<_> =
            others.map(|level| layout.matched(grid, self.reference, level, usable)).collect();
        self.detectable = Detectable::of_comparisons(&matched, response, family);
    }
}

impl LevelEffect {
    /// The comparison with the reference level, where a difference is supported.
    pub fn supported(&self) -> Option<&Comparison> {
        self.comparison.as_ref().filter(|comparison| comparison.supported())
    }
}

/// Position of the best level: by its comparison with the reference, so that a level is best on the scale on which
/// it is compared, and over the same blocks; by its mean where not every level can be compared with the reference.
fn best(
    estimates: &[Option<Estimate>],
    comparisons: &[Option<Comparison>],
    reference: usize,
) -> Option<usize> {
    let by_mean = || compare::best(&estimates.iter().map(Option::as_ref).collect::<Vec<_>>());
    let enough = if estimates.iter().flatten().any(|e| e.n >= 2) { 2 } else { 1 };
    let candidates: Vec<usize> = (0..estimates.len())
        .filter(|level| estimates[*level].as_ref().is_some_and(|estimate| estimate.n >= enough))
        .collect();
    let Some(scale) = comparisons.iter().flatten().map(|comparison| comparison.scale).next() else {
        return by_mean();
    };
    let gain = |level: usize| match &comparisons[level] {
        _ if level == reference => Some(scale.equal()),
        Some(comparison) if comparison.scale == scale => Some(comparison.value),
        _ => None,
    };
    let ranked: Option<Vec<(usize, f64)>> =
        candidates.into_iter().map(|level| Some((level, gain(level)?))).collect();
    match ranked {
        Some(ranked) => {
            ranked.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0))).map(|r| r.0)
        }
        None => by_mean(),
    }
}

/// Corrects (Holm) main effects and interactions as one family, which was chosen before the data was seen: of
/// experiments in which nothing has an effect, at most 5 % show any. Gives the size of the family.
pub(crate) fn correct(effects: &mut [FactorEffect], interactions: &mut [Interaction]) -> usize {
    let mut comparisons: Vec<&mut Comparison> = effects
        .iter_mut()
        .flat_map(|effect| &mut effect.levels)
        .filter_map(|l| l.comparison.as_mut())
        .collect();
    let main = comparisons.iter().map(|comparison| comparison.p_value);
    let p_values: Vec<Option<f64>> = main.chain(interactions.iter().map(|i| Some(i.p_value))).collect();
    let adjusted = holm::adjust(&p_values);
    let (main, rest) = adjusted.split_at(comparisons.len());
    for (comparison, adjusted) in comparisons.iter_mut().zip(main) {
        comparison.adjusted_p = *adjusted;
    }
    for (interaction, adjusted) in interactions.iter_mut().zip(rest) {
        interaction.adjusted_p = *adjusted;
    }
    p_values.iter().flatten().count()
}

/// Mean over the configurations of a level in each block, then over blocks.
fn estimate(layout: &FactorLayout, grid: &Grid, level: usize, response: &ResponseChoice) -> Option<Estimate> {
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
