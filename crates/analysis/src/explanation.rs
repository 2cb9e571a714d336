//! Between which configurations a difference is explained.

use crate::findings::verdict_span;
use crate::grid::Matched;
use crate::{ConfigurationRow, Decomposition, FactorEffect, Standing, Summary, wording};
use observations::LevelRecord;
use serde::Serialize;

/// Two sides that differ, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The first side by what it does not share with the second: `data_files=1`.
    pub from: String,
    /// The second.
    pub to: String,
    /// What holds for both: `with synchronous=full`, `on average over the other factors`; empty where there is nothing.
    pub both: String,
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
    /// What is explained of a run: the levels of the main factor that its verdict names, then, when there are several
    /// factors, the best configuration against the baseline, which alone is left where it differs in the main factor
    /// only. Only differences in the response that are supported at 95 %.
    pub fn explanations(&self) -> Vec<Explanation> {
        let configurations = configurations(self);
        let repeats = configurations.as_ref().is_some_and(|own| repeats(self, own));
        let levels = if repeats { None } else { levels(self) };
        levels.into_iter().chain(configurations.map(|(_, explanation)| explanation)).collect()
    }

    /// The effect of the main factor.
    pub fn main_effect(&self) -> Option<&FactorEffect> {
        self.factors.effects.get(self.main_factor?)
    }
}

fn levels(summary: &Summary) -> Option<Explanation> {
    let effect = summary.main_effect()?;
    let span = verdict_span(effect)?;
    let layout = summary.layouts.get(summary.main_factor?)?;
    let matched = layout.matched(&summary.grid, span.from, span.to, &Decomposition::usable);
    let name = wording::short_name(&effect.factor);
    let several = summary.factors.effects.len() > 1;
    Some(Explanation {
        from: format!("{name}={}", effect.levels[span.from].level),
        to: format!("{name}={}", effect.levels[span.to].level),
        both: if several { "on average over the other factors".to_owned() } else { String::new() },
        decomposition: Decomposition::of(&matched)?,
    })
}

/// The factors in which the two configurations differ, and why they do.
fn configurations<'s>(summary: &'s Summary) -> Option<(Vec<&'s str>, Explanation)> {
    let (rows, grid) = (&summary.configurations, &summary.grid);
    let baseline = rows.iter().find(|row| row.baseline).filter(|_| summary.factors.effects.len() > 1)?;
    let best = rows.iter().find(|row| row.standing == Standing::Best)?;
    best.factor.as_ref().filter(|factor| factor.supported())?;
    let (from, to) = (grid.cells.get(baseline.index)?, grid.cells.get(best.index)?);
    let decomposition = Decomposition::of(&Matched::configurations(from, to, &Decomposition::usable))?;
    let shared = |level: &&LevelRecord| baseline.levels.contains(level) && best.levels.contains(level);
    let name = |level: &LevelRecord| format!("{}={}", wording::short_name(&level.factor), level.level);
    let own = |row: &ConfigurationRow| -> String {
        let own = row.levels.iter().filter(|level| !shared(level));
        own.map(name).collect::<Vec<_>>().join(" ")
    };
    let both: Vec<String> = best.levels.iter().filter(shared).map(name).collect();
    let explanation = Explanation {
        from: own(baseline),
        to: own(best),
        both: if both.is_empty() { String::new() } else { format!("with {}", both.join(" ")) },
        decomposition,
    };
    let differing = best.levels.iter().filter(|level| !shared(level)).map(|level| level.factor.as_str());
    Some((differing.collect(), explanation))
}

/// Whether the configurations differ in the main factor alone, so that its levels would be the same story again.
fn repeats(summary: &Summary, (differing, _): &(Vec<&str>, Explanation)) -> bool {
    summary.main_effect().is_some_and(|main| *differing == [main.factor.as_str()])
}
