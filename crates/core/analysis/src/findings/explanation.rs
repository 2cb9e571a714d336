//! The configurations between which a difference is explained.

use super::claims::{Claim, Explained};
use crate::grid::Matched;
use crate::{
    Comparison, ConfigurationRow, Decomposition, FactorEffect, Standing, Summary, wording,
};
use observations::{LevelRecord, Observations};
use serde::Serialize;

/// Two sides that differ, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The first side by what it does not share with the second: `data_files=1`.
    pub from: String,
    /// The second.
    pub to: String,
    /// Conditions of both sides: `with synchronous=full`, `on average over the other factors`; else
    /// empty.
    pub both: String,
    /// True if the verdict claims this difference in elapsed time or throughput, so that session
    /// time differs, too.
    #[serde(skip)]
    pub is_claimed: bool,
    /// The difference, part by part.
    pub decomposition: Decomposition,
}

impl Explanation {
    /// `data_files=1 to data_files=4 with synchronous=full`.
    pub fn sides(&self) -> String {
        format!("{} to {} {}", self.from, self.to, self.both).trim_end().to_owned()
    }
}

impl Summary<'_> {
    /// Explains the sides of the largest significant effect and, with several factors, the best
    /// configuration against the baseline (alone if it differs in that factor only). Explains only
    /// differences of the response that are significant at 95 %.
    pub fn explanations(&self) -> Vec<Explanation> {
        let claims = Claim::all(self);
        let configurations = configurations(self).filter(|_| !claims.is_empty());
        let largest = claims.into_iter().find_map(|claim| claim.explained(self));
        let repeats = configurations.as_ref().is_some_and(|configuration| {
            largest
                .as_ref()
                .is_some_and(|largest| configuration.0 == [largest.effect.factor.as_str()])
        });
        let levels = if repeats { None } else { largest };
        let levels = levels.and_then(|level| levels_explained(self, level));
        levels.into_iter().chain(configurations.map(|(_, explanation)| explanation)).collect()
    }

    /// The effect of the main factor.
    pub fn main_effect(&self) -> Option<&FactorEffect> {
        self.factors.effects.get(self.main_factor?)
    }
}

fn levels_explained(
    summary: &Summary,
    Explained { effect, from, to, both, comparison, matched }: Explained,
) -> Option<Explanation> {
    let side = |level: usize| {
        format!("{}={}", wording::short_name(&effect.factor), effect.levels[level].level)
    };
    let decomposition = explained(summary, &matched, comparison)?;
    let is_claimed = is_of_time(summary);
    Some(Explanation { from: side(from), to: side(to), both, is_claimed, decomposition })
}

/// Returns whether session time decides the response.
fn is_of_time(summary: &Summary) -> bool {
    let response = summary.response.as_ref().map_or("", |response| response.name.as_str());
    ["elapsed", "throughput"].contains(&response)
}

/// The difference part by part; `None` where there is nothing to explain. The schedule of an open
/// loop fixes its session time. Where the mean of differences has another sign than the ratio by
/// blocks, a few blocks decide it, and they explain nothing.
fn explained(
    summary: &Summary,
    matched: &Matched<&Observations>,
    comparison: Option<&Comparison>,
) -> Option<Decomposition> {
    let mut trials = matched.from.iter().chain(&matched.to).flatten();
    if trials.any(|trial| trial.load.schedule_s.is_some()) {
        return None;
    }
    let decomposition = Decomposition::from_trials(matched)?;
    let agrees = comparison.is_none_or(|comparison| {
        !is_of_time(summary) || comparison.is_better() == (decomposition.throughput_ratio() > 1.0)
    });
    agrees.then_some(decomposition)
}

/// The factors in which the two configurations differ, and why they do.
fn configurations<'s>(summary: &'s Summary) -> Option<(Vec<&'s str>, Explanation)> {
    let (rows, grid) = (&summary.configurations, &summary.grid);
    let baseline =
        rows.iter().find(|row| row.baseline).filter(|_| summary.factors.effects.len() > 1)?;
    let best = rows.iter().find(|row| row.standing == Standing::Best)?;
    let comparison = best.factor.as_ref().filter(|factor| factor.supported())?;
    let matched = grid.filter(Decomposition::usable).matched(baseline.index, best.index);
    let decomposition = explained(summary, &matched, Some(comparison))?;
    let shared =
        |level: &&LevelRecord| baseline.levels.contains(level) && best.levels.contains(level);
    let name =
        |level: &LevelRecord| format!("{}={}", wording::short_name(&level.factor), level.level);
    let distinct = |row: &ConfigurationRow| -> String {
        let levels = row.levels.iter().filter(|level| !shared(level));
        levels.map(name).collect::<Vec<_>>().join(" ")
    };
    let both: Vec<String> = best.levels.iter().filter(shared).map(name).collect();
    let explanation = Explanation {
        from: distinct(baseline),
        to: distinct(best),
        both: if both.is_empty() { String::new() } else { format!("with {}", both.join(" ")) },
        is_claimed: is_of_time(summary),
        decomposition,
    };
    let differing =
        best.levels.iter().filter(|level| !shared(level)).map(|level| level.factor.as_str());
    Some((differing.collect(), explanation))
}
