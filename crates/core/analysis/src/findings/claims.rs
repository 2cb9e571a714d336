//! Claims about factors, the largest effect first, and the configurations between which they hold.

use crate::grid::Matched;
use crate::interaction::largest_supported;
use crate::{
    Comparison, Decomposition, FactorEffect, Interaction, Scale, Standing, Summary, wording,
};
use observations::{Observations, order};
use std::cmp::Ordering;

/// More configurations than this are too many to read one by one.
const ALL_NAMED: usize = 50;

/// A supported effect on the response on which configurations are compared.
#[derive(Clone, Copy)]
pub enum Claim<'s> {
    /// The levels of a factor differ: its position, and the two levels that the finding compares.
    Factor { factor: usize, effect: &'s FactorEffect, from: usize, to: usize },
    /// The effect of one factor depends on another.
    Interaction(&'s Interaction),
}

/// Two levels that differ, and what holds for both sides.
pub struct Explained<'s> {
    pub effect: &'s FactorEffect,
    pub from: usize,
    pub to: usize,
    pub both: String,
    pub comparison: Option<&'s Comparison>,
    pub matched: Matched<&'s Observations>,
}

impl<'s> Claim<'s> {
    /// Every factor with a supported effect and the largest supported interaction: first what is
    /// about the factor that the experiment asks about, then the largest.
    pub fn all(summary: &'s Summary) -> Vec<Self> {
        let factors = summary.factors.effects.iter().enumerate().filter_map(|(factor, effect)| {
            let (from, to) = effect.span()?;
            Some(Self::Factor { factor, effect, from, to })
        });
        let together = largest_supported(&summary.factors.interactions).map(Self::Interaction);
        let mut claims: Vec<Self> = factors.chain(together).collect();
        let asked_factor = summary.asked_factor();
        let is_asked =
            |claim: &Self| asked_factor.is_some_and(|asked_factor| claim.is_about(asked_factor));
        order::sort(&mut claims, &|a, b| is_asked(b).cmp(&is_asked(a)).then(a.largest_first(b)));
        claims
    }

    fn comparison(&self) -> Option<&'s Comparison> {
        match self {
            Self::Factor { effect, to, .. } => effect.levels[*to].comparison.as_ref(),
            Self::Interaction(interaction) => Some(&interaction.size),
        }
    }

    /// Effects that have no ratio, because a value is zero or negative, go before those that have.
    fn largest_first(&self, other: &Self) -> Ordering {
        let size = |claim: &Self| {
            claim.comparison().map_or((Scale::Ratio, 0.0), |comparison| match comparison.scale {
                Scale::Ratio => (Scale::Ratio, comparison.value.ln().abs()),
                Scale::Difference => (Scale::Difference, comparison.value.abs()),
            })
        };
        let ((own_scale, own_size), (scale, value)) = (size(self), size(other));
        (own_scale == Scale::Ratio).cmp(&(scale == Scale::Ratio)).then(value.total_cmp(&own_size))
    }

    /// Returns whether it says something about this factor.
    pub fn is_about(&self, index: usize) -> bool {
        match self {
            Self::Factor { factor, .. } => *factor == index,
            Self::Interaction(interaction) => [interaction.factor, interaction.by].contains(&index),
        }
    }

    /// The factor whose effect it is.
    pub fn factor(&self) -> usize {
        match self {
            Self::Factor { factor, .. } => *factor,
            Self::Interaction(interaction) => interaction.factor,
        }
    }

    /// The two sides of the effect; of an interaction those where it is largest. `None` if no gain
    /// of the interaction is significant by itself.
    pub fn explained(&self, summary: &'s Summary) -> Option<Explained<'s>> {
        let layout = &summary.layouts[self.factor()];
        let factors = summary.factors.effects.len();
        let (from, to, both, comparison, layout) = match *self {
            Self::Factor { from, to, .. } => {
                let both = if factors > 1 { "on average over the other factors" } else { "" };
                (from, to, both.to_owned(), self.comparison(), None)
            }
            Self::Interaction(interaction) => {
                let by = &summary.factors.effects[interaction.by];
                let level = interaction.largest_gain()?;
                let others = if factors > 2 { " on average over the other factors" } else { "" };
                let both = format!(
                    "with {}={}{others}",
                    wording::short_name(&by.factor),
                    by.levels[level].level
                );
                let here = layout.at(&summary.layouts[interaction.by], level);
                let gain = interaction.gains[level].as_ref();
                (interaction.from, interaction.to, both, gain, Some(here))
            }
        };
        let layout = layout.as_ref().unwrap_or(&summary.layouts[self.factor()]);
        let matched = layout.matched(&summary.grid.filter(Decomposition::usable), from, to);
        let effect = &summary.factors.effects[self.factor()];
        Some(Explained { effect, from, to, both, comparison, matched })
    }

    /// Positions of the configurations that show it: those that have its levels and are otherwise
    /// as `base` is.
    fn configurations(&self, summary: &Summary, base: usize) -> Vec<Option<usize>> {
        let layout = &summary.layouts[self.factor()];
        match *self {
            Self::Factor { from, to, .. } => {
                [from, to].map(|level| layout.sibling(base, level)).into()
            }
            Self::Interaction(interaction) => {
                let ends = [interaction.least, interaction.most].into_iter();
                let pairs = ends.flat_map(|level| {
                    let base = summary.layouts[interaction.by].sibling(base, level);
                    [interaction.from, interaction.to].map(|level| layout.sibling(base?, level))
                });
                pairs.collect()
            }
        }
    }
}

impl Summary<'_> {
    /// Positions of the configurations that the verdict names, in the order of the file: all where
    /// there is one factor with few levels; else the baseline, what shows the largest effect
    /// from there, and the best.
    pub fn named_configurations(&self) -> Vec<usize> {
        let all = 0..self.configurations.len();
        if self.factors.effects.len() < 2 && all.len() <= ALL_NAMED {
            return all.collect();
        }
        let base = self.recording.run.baseline.unwrap_or(0);
        let best = self
            .configurations
            .iter()
            .find(|row| row.standing == Standing::Best)
            .map(|row| row.index);
        let claim = Claim::all(self).first().map(|claim| claim.configurations(self, base));
        let named: Vec<usize> =
            claim.into_iter().flatten().chain([Some(base), best]).flatten().collect();
        all.filter(|configuration| named.contains(configuration)).collect()
    }
}
