//! Effects of factors: of each alone, averaged over the others; along the order of its levels; and
//! of pairs.

use crate::compare::{self, against};
use crate::gains::{BestOfLevel, GainTable};
use crate::grid::{FactorLayout, Figures, Grid, Unit};
use crate::means::Means;
use crate::{Comparison, Detectable, Estimate, Interaction, Standing};
use observations::{FactorRecord, Observations, Recording, order};
use serde::Serialize;
use statistics::correct;

/// Main effects, interactions and the studies' tables.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Factors {
    /// Factors in the order of the file.
    pub effects: Vec<FactorEffect>,
    /// Interactions: the effect of each pair beyond the sum of its factors; untestable pairs are
    /// left out.
    pub interactions: Vec<Interaction>,
    /// Main effects and interactions that are tested together (Holm).
    pub family: usize,
    /// Gain of the levels of each other factor at each level of the main one.
    pub gains: Vec<GainTable>,
}

/// The levels of one factor against each other.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct FactorEffect {
    /// Name of the factor.
    pub factor: String,
    /// True if every level is a number, so that a sweet spot is defined.
    pub ordered: bool,
    /// True if its levels are set up, not drawn in each block.
    pub hard_to_change: bool,
    /// The unit that repeats a comparison of its levels.
    pub unit: Unit,
    /// True if its levels were compared within one set-up of each level of the hard-to-change
    /// factors: what is found holds for these set-ups.
    pub in_one_setup: bool,
    /// True if each level was set up only once, which confounds level and set-up; no verdict is
    /// given.
    pub set_up_once: bool,
    /// True if the levels do different work, by their probes or operations, and are not compared.
    pub other_work: bool,
    /// Position of the reference level (the baseline's, else the first).
    pub reference: usize,
    /// Position of the best level, if there is one.
    pub best: Option<usize>,
    /// The levels in the order of the file.
    pub levels: Vec<LevelEffect>,
    /// Trials with a figure that are in no level's mean, because another level has none in the
    /// same block and at the same levels of the other factors.
    pub left_out: usize,
    /// From level to level in the order of their numbers; empty when the factor is not ordered.
    pub steps: Vec<Step>,
    /// Smallest difference from the reference level that could have been detected; `None` when it
    /// cannot be computed.
    pub detectable: Option<Detectable>,
}

/// A level of a factor.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LevelEffect {
    /// Label of the level.
    pub level: String,
    /// The level as a number, when all levels of the factor are.
    pub numeric: Option<f64>,
    /// Mean of the response over the other factors in each block, then over blocks, where every
    /// level has a figure; `None` where there are too few such places.
    pub response: Option<Estimate>,
    /// Against the reference level (above 1 is better), corrected (Holm) over the main effects and
    /// interactions of the whole experiment; `None` for the reference level itself and where
    /// nothing can be compared.
    pub comparison: Option<Comparison>,
    /// Against the best level; `None` for the best itself and where nothing can be compared.
    pub against_best: Option<Comparison>,
    /// The standing that follows from it.
    pub standing: Standing,
    /// The best of its configurations; `None` when the factor is the only one.
    pub best: Option<BestOfLevel>,
    /// Trials done.
    pub trials: usize,
}

/// From one level of an ordered factor to the next larger one that has figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// Position of the smaller level.
    pub from: usize,
    /// Position of the larger level.
    pub to: usize,
    /// The larger against the smaller (above 1 is better), corrected (Holm) over all steps of the
    /// factor.
    pub comparison: Option<Comparison>,
}

/// Verdict on a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Trend {
    /// Better, supported at 95 %.
    Better,
    /// Worse, supported at 95 %.
    Worse,
    /// Not distinguishable.
    Flat,
}

/// Steps with the same trend, in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Segment {
    /// Verdict on each of its steps.
    pub trend: Trend,
    /// Position of the level at which it begins.
    pub from: usize,
    /// Position of the level at which it ends.
    pub to: usize,
}

impl Factors {
    /// `layouts` has one for each factor; `main` is the position of the main one.
    pub(crate) fn estimate(
        recording: &Recording,
        grid: &Grid<&Observations>,
        layouts: &[FactorLayout],
        main: Option<usize>,
        figures: &Figures,
    ) -> Self {
        let factors = recording.factors.iter().zip(layouts);
        let mut effects: Vec<FactorEffect> = factors
            .map(|(factor, layout)| FactorEffect::estimate(factor, layout, grid, figures))
            .collect();
        let pairs = layouts.iter().enumerate();
        let pairs =
            pairs.flat_map(|(i, layout)| layouts[i + 1..].iter().map(move |other| (layout, other)));
        // What the main factor gains is asked first: "more files help only with ...".
        let ordered = pairs.map(|(a, b)| if main == Some(b.factor) { (b, a) } else { (a, b) });
        let mut interactions: Vec<Interaction> =
            ordered.filter_map(|(factor, by)| Interaction::estimate(factor, by, figures)).collect();
        let family = corrected(&mut effects, &mut interactions);
        for (effect, layout) in effects.iter_mut().zip(layouts) {
            let matched =
                layout.others().map(|level| layout.matched(&figures.grid, layout.reference, level));
            effect.detectable = Detectable::of_comparisons(matched, family);
        }
        let gains = main.map_or_else(Vec::new, |main| {
            let others = layouts
                .iter()
                .filter(|other| other.factor != main && other.levels > 1 && !other.other_work);
            others.map(|other| GainTable::tabulate(&layouts[main], other, figures)).collect()
        });
        Self { effects, interactions, family, gains }
    }

    /// The factors with their levels alone: in a fraction of the combinations a comparison of
    /// levels also contains effects of other factors.
    pub(crate) fn without_claims(mut self) -> Self {
        for effect in &mut self.effects {
            effect.best = None;
            effect.steps.clear();
            effect.detectable = None;
            for level in &mut effect.levels {
                level.response = None;
                level.comparison = None;
                level.against_best = None;
                level.standing = Standing::Unknown;
                level.best = None;
            }
        }
        Self { effects: self.effects, ..Self::default() }
    }
}

/// Corrects the p-values and intervals of a family of tests, and returns its size. The family was
/// chosen before the data was seen: of experiments in which nothing has an effect, at most 5 % show
/// any.
pub(crate) fn corrected(effects: &mut [FactorEffect], interactions: &mut [Interaction]) -> usize {
    let levels = effects.iter_mut().flat_map(|effect| &mut effect.levels);
    let alone = levels.filter_map(|level| level.comparison.as_mut());
    let alone = alone.map(|comparison| (comparison.p_value, &mut comparison.adjusted_p));
    let together = interactions
        .iter_mut()
        .map(|interaction| (Some(interaction.p_value), &mut interaction.adjusted_p));
    let family = correct(alone.chain(together).collect());
    for effect in effects.iter_mut() {
        effect.adjust_intervals(family);
    }
    family
}

impl FactorEffect {
    /// The effect of a factor on a response. [`Factors::estimate`] adds the figures of the whole
    /// experiment.
    pub(crate) fn estimate(
        factor: &FactorRecord,
        layout: &FactorLayout,
        grid: &Grid<&Observations>,
        figures: &Figures,
    ) -> Self {
        let Means { levels: estimates, left_out } = Means::estimate(layout, figures);
        let compare = |from, to| layout.compare(figures, from, to);
        // Their intervals are those of the whole experiment: [`Self::adjust_intervals`].
        let comparisons = compare::each_against(Some(layout.reference), layout.levels, &compare);
        let comparisons = compare::with_adjusted_p(comparisons);
        let set_up_once = layout.hard_to_change && figures.grid.set_up_once();
        let best = compare::best(&estimates, &comparisons, layout.reference)
            .filter(|_| !set_up_once && !layout.other_work);
        let against_best = against(best, layout.levels, &compare);
        let standings = compare::standings(best, &against_best);
        let numeric = factor.numeric.as_deref().filter(|numbers| numbers.len() == estimates.len());
        let steps = numeric.map(|numeric| steps(numeric, &estimates, &compare)).unwrap_or_default();
        let bests = BestOfLevel::all(layout, figures);
        let compared = comparisons.into_iter().zip(against_best).zip(standings);
        let levels = estimates.into_iter().zip(compared).zip(bests).enumerate();
        let levels =
            levels.map(|(level, ((response, ((comparison, against_best), standing)), best))| {
                LevelEffect {
                    level: factor.levels[level].clone(),
                    numeric: factor
                        .numeric
                        .as_ref()
                        .and_then(|numbers| numbers.get(level).copied()),
                    response,
                    comparison,
                    against_best,
                    standing,
                    best,
                    trials: layout.configurations(level).map(|c| grid.trials(c).len()).sum(),
                }
            });
        Self {
            factor: factor.name.clone(),
            ordered: factor.numeric.is_some(),
            hard_to_change: factor.hard_to_change,
            unit: layout.unit(&figures.grid),
            in_one_setup: !layout.hard_to_change && figures.grid.set_up_once(),
            set_up_once,
            other_work: layout.other_work,
            reference: layout.reference,
            best,
            levels: levels.collect(),
            left_out,
            steps,
            detectable: None,
        }
    }

    /// The level that significantly beats the reference: the best one, if it does, else the best of
    /// those that do.
    ///
    /// Claims rest on the comparisons with the reference alone, a family that was chosen before the
    /// data was seen. The best level is chosen by looking, so that "worse than the best" alone
    /// would claim more often.
    pub fn winner(&self) -> Option<usize> {
        let wins =
            |level: &usize| self.levels[*level].supported().is_some_and(Comparison::is_better);
        let value = |level: usize| self.levels[level].comparison.as_ref().map_or(0.0, |c| c.value);
        self.best.filter(wins).or_else(|| {
            (0..self.levels.len()).filter(wins).max_by(|a, b| value(*a).total_cmp(&value(*b)))
        })
    }

    /// The levels between which a supported difference is explained: from the reference to the
    /// level that beats it, or, when none does, to the one that is worst against it.
    pub fn span(&self) -> Option<(usize, usize)> {
        let differing = self.levels.iter().enumerate();
        let differing = differing.filter_map(|(i, level)| Some((i, -level.supported()?.value)));
        let worst = || differing.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(i, _)| i);
        Some((self.reference, self.winner().or_else(worst)?))
    }

    /// Gives the comparisons with the reference the intervals of a family of this many tests.
    fn adjust_intervals(&mut self, family: usize) {
        let all: Vec<_> = self.levels.iter().map(|level| level.comparison.clone()).collect();
        for (level, comparison) in self.levels.iter_mut().zip(compare::reported(&all, family)) {
            level.comparison = comparison;
        }
    }

    /// Levels among which the best one is, as far as the data can tell: those that the verdict does
    /// not call worse than the sweet spot, or, where no level beats the reference, than the
    /// reference.
    pub fn sweet_spot(&self) -> Vec<usize> {
        let estimates: Vec<_> = self.levels.iter().map(|level| level.response.as_ref()).collect();
        let levels = || compare::candidates(&estimates).into_iter();
        let Some(winner) = self.winner() else {
            return levels().filter(|level| self.levels[*level].supported().is_none()).collect();
        };
        levels()
            .filter(|level| {
                let standing = self.levels[*level].standing;
                *level == winner || !matches!(standing, Standing::Worse | Standing::Unknown)
            })
            .collect()
    }
}

impl LevelEffect {
    /// The comparison with the reference level, where a difference is supported.
    pub fn supported(&self) -> Option<&Comparison> {
        self.comparison.as_ref().filter(|comparison| comparison.supported())
    }
}

/// Steps between neighbours in the order of their numbers; levels without figures are passed over.
fn steps(
    numeric: &[f64],
    estimates: &[Option<Estimate>],
    compare: &dyn Fn(usize, usize) -> Option<Comparison>,
) -> Vec<Step> {
    let mut order: Vec<usize> =
        (0..numeric.len()).filter(|level| estimates[*level].is_some()).collect();
    order::sort(&mut order, &|a, b| numeric[*a].total_cmp(&numeric[*b]));
    let comparisons =
        compare::corrected(order.windows(2).map(|pair| compare(pair[0], pair[1])).collect());
    let steps = order.windows(2).zip(comparisons);
    steps.map(|(pair, comparison)| Step { from: pair[0], to: pair[1], comparison }).collect()
}

impl Step {
    /// Returns the verdict on the step.
    pub fn trend(&self) -> Trend {
        match &self.comparison {
            Some(comparison) if comparison.supported() && comparison.is_better() => Trend::Better,
            Some(comparison) if comparison.supported() => Trend::Worse,
            _ => Trend::Flat,
        }
    }
}

/// Steps joined where they say the same.
pub fn segments(steps: &[Step]) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    for step in steps {
        let trend = step.trend();
        match segments.last_mut() {
            Some(last) if last.trend == trend => last.to = step.to,
            _ => segments.push(Segment { trend, from: step.from, to: step.to }),
        }
    }
    segments
}
