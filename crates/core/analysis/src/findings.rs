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

use crate::grid::Matched;
use crate::{
    Comparison, ConfigurationRow, Decomposition, FactorEffect, Standing, Summary, wording,
};
use claims::{Claim, Explained};
use observations::{LevelRecord, Observations};
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
    /// The code that takes more or less processor time.
    Code,
    /// The statements that run by another plan.
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
    /// The findings of a run. The first answers the question: that of a study, such as a search for
    /// saturation, or else what the factor that was asked about does to the response, or that no
    /// difference is significant. Its cause follows, then the other effects by size, the best
    /// configuration, factors without an effect, what limits all this, and other responses.
    pub fn findings(&self) -> Vec<Finding> {
        let claims = Claim::all(self);
        if self.done() == 0 {
            return caveats::find(self, None);
        }
        let asked = self.asked_factor();
        let is_answered =
            claims.first().is_some_and(|claim| asked.is_some_and(|own| claim.is_about(own)));
        let (about_asked, about_others): (Vec<_>, Vec<_>) = verdict::no_difference(self)
            .into_iter()
            .partition(|(factor, _)| Some(*factor) == asked && !is_answered);
        let of_factor = |(_, finding): (usize, Finding)| finding;
        let explanations = self.explanations();
        let (cause, best) = explanations.split_at(explanations.len().min(1));
        let mut findings: Vec<Finding> = verdict::single(self).into_iter().collect();
        let of_studies = self.studies.iter().filter_map(|study| study.findings);
        let (aside, answers): (Vec<Finding>, Vec<Finding>) = of_studies
            .flat_map(|find| find(self))
            .partition(|finding| finding.kind == FindingKind::Responses);
        findings.extend(answers);
        findings.extend(verdict::of_design(self));
        findings.extend(about_asked.into_iter().map(of_factor));
        for (position, claim) in claims.iter().enumerate() {
            findings.extend(factors::find(self, claim));
            findings.extend(cause.iter().filter(|_| position == 0).flat_map(why::find));
            findings.extend(cause.iter().filter(|_| position == 0).find_map(why::gain));
        }
        findings.extend(hot::find(self));
        findings.extend(plans::find(self, &claims));
        findings.extend(verdict::best_configuration(self).filter(|_| !claims.is_empty()));
        findings.extend(best.iter().flat_map(why::find));
        findings.extend(about_others.into_iter().map(of_factor));
        findings.extend(caveats::find(self, claims.first()));
        findings.extend(responses::find(self, &claims));
        findings.extend(aside);
        findings
    }

    /// The finding to show where there is room for one: the first that is neither a caveat nor
    /// about a response that was not asked for.
    pub fn headline(&self) -> Option<Finding> {
        let aside = [FindingKind::Caveat, FindingKind::Responses];
        self.findings().into_iter().find(|finding| !aside.contains(&finding.kind))
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
        let repeats = |own: &(Vec<&str>, Explanation)| {
            largest.as_ref().is_some_and(|largest| own.0 == [largest.effect.factor.as_str()])
        };
        let levels = if configurations.as_ref().is_some_and(repeats) { None } else { largest };
        let levels = levels.and_then(|own| levels_explained(self, own));
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
    if trials.any(|seen| seen.load.schedule_s.is_some()) {
        return None;
    }
    let decomposition = Decomposition::from_trials(matched)?;
    let agrees = comparison.is_none_or(|own| {
        !is_of_time(summary) || own.is_better() == (decomposition.throughput_ratio() > 1.0)
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
    let own = |row: &ConfigurationRow| -> String {
        let own = row.levels.iter().filter(|level| !shared(level));
        own.map(name).collect::<Vec<_>>().join(" ")
    };
    let both: Vec<String> = best.levels.iter().filter(shared).map(name).collect();
    let explanation = Explanation {
        from: own(baseline),
        to: own(best),
        both: if both.is_empty() { String::new() } else { format!("with {}", both.join(" ")) },
        is_claimed: is_of_time(summary),
        decomposition,
    };
    let differing =
        best.levels.iter().filter(|level| !shared(level)).map(|level| level.factor.as_str());
    Some((differing.collect(), explanation))
}
