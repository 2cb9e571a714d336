//! Sentences with the evidence behind them. How they say it: `wording.rs`.

mod brief;
mod caveats;
mod claims;
mod explanation;
mod factors;
mod finding;
mod hot;
mod responses;
mod verdict;
mod why;

use crate::{Study, Summary};
pub use brief::Brief;
use claims::Claim;
pub use explanation::Explanation;
pub use finding::{Finding, FindingKind};

impl Summary<'_> {
    /// The findings of a run. The first answers the question: that of a study, such as a search for
    /// saturation, or else what the factor that was asked about does to the response, or that no
    /// difference is significant. Its cause follows, then the other effects by size, the best
    /// configuration, factors without an effect, what limits all this, and other responses.
    pub fn findings(&self) -> Vec<Finding> {
        self.findings_from(&Claim::all(self), &self.explanations())
    }

    fn findings_from(&self, claims: &[Claim], explanations: &[Explanation]) -> Vec<Finding> {
        if self.done() == 0 {
            return caveats::find(self, None);
        }
        let asked_factor = self.asked_factor();
        let is_answered = claims.first().is_some_and(|claim| {
            asked_factor.is_some_and(|asked_factor| claim.is_about(asked_factor))
        });
        let (about_asked, about_others): (Vec<_>, Vec<_>) = verdict::no_difference(self)
            .into_iter()
            .partition(|(factor, _)| Some(*factor) == asked_factor && !is_answered);
        let of_factor = |(_, finding): (usize, Finding)| finding;
        let (cause, best) = explanations.split_at(explanations.len().min(1));
        let mut findings: Vec<Finding> = verdict::single(self).into_iter().collect();
        let (of_probes, of_runs): (Vec<&Study>, Vec<&Study>) =
            self.studies.iter().copied().partition(|study| study.probe.is_some());
        let find = |study: &Study| study.findings.map(|find| find(self)).unwrap_or_default();
        let (aside, answers): (Vec<Finding>, Vec<Finding>) = of_probes
            .into_iter()
            .flat_map(find)
            .partition(|finding| finding.kind == FindingKind::Responses);
        findings.extend(answers);
        findings.extend(verdict::of_design(self));
        findings.extend(about_asked.into_iter().map(of_factor));
        for (position, claim) in claims.iter().enumerate() {
            findings.extend(factors::find(self, claim));
            if position == 0 {
                findings.extend(cause.iter().flat_map(Explanation::findings));
                // The limit is that of the best configuration.
                findings.extend(cause.iter().filter(|_| best.is_empty()).find_map(why::gain));
            }
        }
        findings.extend(hot::find(self));
        findings.extend(of_runs.into_iter().flat_map(find));
        findings.extend(verdict::best_configuration(self).filter(|_| !claims.is_empty()));
        findings.extend(best.iter().flat_map(Explanation::findings));
        findings.extend(best.iter().find_map(why::gain));
        findings.extend(about_others.into_iter().map(of_factor));
        findings.extend(caveats::find(self, claims.first()));
        findings.extend(responses::find(self, claims));
        findings.extend(aside);
        findings
    }

    /// The finding to show where there is room for one.
    pub fn headline(&self) -> Option<Finding> {
        headline(&self.findings()).cloned()
    }
}

/// The first finding that is neither a caveat nor about a response that was not asked for.
fn headline(findings: &[Finding]) -> Option<&Finding> {
    let aside = [FindingKind::Caveat, FindingKind::Responses];
    findings.iter().find(|finding| !aside.contains(&finding.kind))
}
