//! Findings for a screen: a sentence for the answer, for its cause and for the next step.

use super::claims::Claim;
use super::{Finding, FindingKind, factors, headline, verdict, why};
use crate::Summary;

/// The findings of a run in a sentence each.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Brief {
    /// The answer; without trials, why there is none.
    pub answer: String,
    /// The cause.
    pub why: Option<String>,
    /// The limit of the winner.
    pub next: Option<String>,
    /// Reservations, such as commits that may be lost and other load on the machine.
    pub notes: Vec<String>,
}

impl Summary<'_> {
    /// The findings of a run in a sentence each. Of several factors the answer is the best
    /// configuration.
    pub fn brief(&self) -> Brief {
        let (claims, findings) = (Claim::all(self), self.findings());
        let of_kind =
            |kind: FindingKind| findings.iter().filter(move |finding| finding.kind == kind);
        let best = verdict::best_configuration(self).filter(|_| !claims.is_empty());
        let explanations = self.explanations();
        let explanation = if best.is_some() { explanations.last() } else { explanations.first() };
        let of_time = explanation.and_then(|explanation| why::find(explanation).into_iter().next());
        let answer = best.or_else(|| headline(&findings).or(findings.first()).cloned());
        let durability =
            self.factors.effects.iter().map(|effect| self.durability_of_levels(effect));
        let depends = claims.iter().filter_map(|claim| match claim {
            Claim::Interaction(interaction) => factors::together(self, interaction),
            Claim::Factor { .. } => None,
        });
        let depends: Vec<Finding> = depends.collect();
        let others = depends.iter().chain(of_kind(FindingKind::Caveat));
        let others = others.filter(|finding| Some(*finding) != answer.as_ref());
        let other_causes = [FindingKind::Code, FindingKind::Plan].into_iter().flat_map(of_kind);
        Brief {
            why: of_time.iter().chain(other_causes).map(Finding::brief).next(),
            next: of_kind(FindingKind::Gain).map(Finding::brief).next(),
            notes: durability
                .map(|sentence| sentence.trim().to_owned())
                .chain(others.map(Finding::brief))
                .filter(|note| !note.is_empty())
                .collect(),
            answer: answer.as_ref().map_or_else(String::new, Finding::brief),
        }
    }
}
