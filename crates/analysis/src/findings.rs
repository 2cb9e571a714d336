//! Sentences with the evidence behind them, and between which configurations a difference is explained. How they say
//! it: `wording.rs`.

mod caveats;
mod factors;
pub(crate) mod verdict;
pub(crate) mod why;

use crate::{ConfigurationRow, Decomposition, FactorEffect, Standing, Summary, wording};
use observations::LevelRecord;
use serde::Serialize;

/// What a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// The verdict: sweet spot and factor, or that nothing differs.
    Verdict,
    /// Which waits fell and rose.
    Waits,
    /// Which code takes more or less processor time.
    Code,
    /// How the response goes along a factor, and what depends on another one.
    Factors,
    /// Something that limits what can be concluded: failed trials, marks, drift, synthetic figures.
    Caveat,
}

/// One sentence and why it may be said.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// What it is about.
    pub kind: FindingKind,
    /// The sentence.
    pub text: String,
    /// Figures behind it: intervals, p-values, n.
    pub evidence: String,
}

impl Finding {
    fn new(kind: FindingKind, text: String, evidence: String) -> Self {
        Self { kind, text, evidence }
    }
}

impl Summary<'_> {
    /// The findings of a run: the verdict, the waits that explain it, the other factors, the caveats.
    pub fn findings(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        let main = self.main_effect();
        if self.done() > 0 {
            match main {
                Some(effect) => findings.push(verdict::main_factor(self, effect)),
                None => findings.extend(verdict::single(self)),
            }
            findings.extend(verdict::other_factors(self, self.main_factor));
            findings.extend(factors::shapes(self));
            findings.extend(factors::interaction(self));
            findings.extend(verdict::best_configuration(self));
            findings.extend(self.explanations().iter().flat_map(why::find));
        }
        findings.extend(caveats::find(self, main.and_then(verdict::span)));
        findings
    }
}

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
    let (from, to) = verdict::span(effect)?;
    let layout = summary.layouts.get(summary.main_factor?)?;
    let matched = layout.matched(&summary.grid, from, to, &Decomposition::usable);
    let name = wording::short_name(&effect.factor);
    let several = summary.factors.effects.len() > 1;
    Some(Explanation {
        from: format!("{name}={}", effect.levels[from].level),
        to: format!("{name}={}", effect.levels[to].level),
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
    let matched = grid.matched(baseline.index, best.index, &Decomposition::usable);
    let decomposition = Decomposition::of(&matched)?;
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
