//! Sentences with the evidence behind them, and between which configurations a difference is
//! explained. How they say it: `wording.rs`.

mod caveats;
mod claims;
mod factors;
mod hot;
mod plans;
mod responses;
pub(crate) mod verdict;
pub(crate) mod why;

use crate::{ConfigurationRow, Decomposition, FactorEffect, Standing, Summary, wording};
use claims::{Claim, Explained};
use observations::LevelRecord;
use serde::Serialize;

/// Subject of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// The verdict: the level of a factor, or the configuration, that is better or worse.
    Verdict,
    /// Which waits fell and rose, and what sessions that waited met at.
    Waits,
    /// Upper bound of the gain from removing the largest wait.
    Gain,
    /// Which code takes more or less processor time.
    Code,
    /// Which statements run by another plan.
    Plan,
    /// How the response goes along a factor, and what depends on another one.
    Factors,
    /// Other responses that differ between the levels of a factor.
    Responses,
    /// Something that limits what can be concluded: failed trials, marks, drift, synthetic figures.
    Caveat,
    /// A factor has no significant effect, or its effect could not be tested.
    NoDifference,
}

/// One sentence and why it may be said.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// Its subject.
    pub kind: FindingKind,
    /// The sentence.
    pub text: String,
    /// Figures behind it: intervals, p-values, n.
    pub evidence: String,
}

impl Finding {
    /// A finding.
    pub fn new(kind: FindingKind, text: String, evidence: String) -> Self {
        Self { kind, text, evidence }
    }
}

impl Summary<'_> {
    /// The findings of a run: those of its studies; the largest supported effect and its cause;
    /// the other effects by size; the best configuration; other responses; what limits all
    /// this; what has no supported effect.
    pub fn findings(&self) -> Vec<Finding> {
        let claims = Claim::all(self);
        let mut findings = Vec::new();
        if self.done() > 0 {
            let explanations = self.explanations();
            let (cause, best) = explanations.split_at(explanations.len().min(1));
            findings.extend(verdict::single(self));
            let of_studies = self.studies.iter().filter_map(|study| study.findings);
            findings.extend(of_studies.flat_map(|find| find(self)));
            for (position, claim) in claims.iter().enumerate() {
                findings.extend(factors::find(self, claim));
                findings.extend(cause.iter().filter(|_| position == 0).flat_map(why::find));
                findings.extend(cause.iter().filter(|_| position == 0).find_map(why::gain));
            }
            findings.extend(hot::find(self));
            findings.extend(plans::find(self, &claims));
            findings.extend(verdict::best_configuration(self).filter(|_| !claims.is_empty()));
            findings.extend(best.iter().flat_map(why::find));
            findings.extend(responses::find(self, &claims));
        }
        findings.extend(caveats::find(self, claims.first()));
        findings.extend(verdict::no_difference(self));
        findings
    }

    /// The finding to show where there is room for one: the first that is not a caveat.
    pub fn headline(&self) -> Option<Finding> {
        self.findings().into_iter().find(|finding| finding.kind != FindingKind::Caveat)
    }
}

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
        let repeats = |own: &(Vec<&str>, Explanation)| {
            largest.as_ref().is_some_and(|largest| own.0 == [largest.effect.factor.as_str()])
        };
        let levels = if configurations.as_ref().is_some_and(repeats) { None } else { largest };
        let levels = levels.and_then(levels_explained);
        levels.into_iter().chain(configurations.map(|(_, explanation)| explanation)).collect()
    }

    /// The effect of the main factor.
    pub fn main_effect(&self) -> Option<&FactorEffect> {
        self.factors.effects.get(self.main_factor?)
    }
}

fn levels_explained(
    Explained { effect, from, to, both, matched }: Explained,
) -> Option<Explanation> {
    let side = |level: usize| {
        format!("{}={}", wording::short_name(&effect.factor), effect.levels[level].level)
    };
    Some(Explanation {
        from: side(from),
        to: side(to),
        both,
        decomposition: Decomposition::from_trials(&matched)?,
    })
}

/// The factors in which the two configurations differ, and why they do.
fn configurations<'s>(summary: &'s Summary) -> Option<(Vec<&'s str>, Explanation)> {
    let (rows, grid) = (&summary.configurations, &summary.grid);
    let baseline =
        rows.iter().find(|row| row.baseline).filter(|_| summary.factors.effects.len() > 1)?;
    let best = rows.iter().find(|row| row.standing == Standing::Best)?;
    best.factor.as_ref().filter(|factor| factor.supported())?;
    let matched = grid.filter(Decomposition::usable).matched(baseline.index, best.index);
    let decomposition = Decomposition::from_trials(&matched)?;
    let shared =
        |level: &&LevelRecord| baseline.levels.contains(level) && best.levels.contains(level);
    let name =
        |level: &LevelRecord| format!("{}={}", wording::short_name(&level.factor), level.level);
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
    let differing =
        best.levels.iter().filter(|level| !shared(level)).map(|level| level.factor.as_str());
    Some((differing.collect(), explanation))
}
