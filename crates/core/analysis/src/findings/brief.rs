//! Findings for a screen: the answer, its cause, the next step and reservations.

use super::claims::Claim;
use super::{Finding, FindingKind, factors, headline, verdict, why};
use crate::Summary;

/// The findings of a run that have room on a screen, each as a sentence: [`Finding::brief`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Brief {
    /// The answer; without trials, why there is none.
    pub answer: Option<Finding>,
    /// The cause.
    pub why: Option<Finding>,
    /// The limit of the winner.
    pub next: Option<Finding>,
    /// Reservations, such as commits that may be lost and other load on the machine.
    pub notes: Vec<Finding>,
    /// The findings that have no room.
    pub others: Vec<Finding>,
}

impl Brief {
    fn contains(&self, finding: &Finding) -> bool {
        let sentences = [&self.answer, &self.why, &self.next].into_iter().flatten();
        sentences.chain(&self.notes).any(|other| other == finding)
    }
}

impl Summary<'_> {
    /// The findings of a run that have room on a screen. Of several factors the answer is the best
    /// configuration.
    pub fn brief(&self) -> Brief {
        let (claims, explanations) = (Claim::all(self), self.explanations());
        let findings = self.findings_from(&claims, &explanations);
        let of_kind =
            |kind: FindingKind| findings.iter().filter(move |finding| finding.kind == kind);
        let best = verdict::best_configuration(self).filter(|_| !claims.is_empty());
        let explanation = if best.is_some() { explanations.last() } else { explanations.first() };
        let of_time = explanation.and_then(|explanation| explanation.findings().into_iter().next());
        let answer = best.or_else(|| headline(&findings).or(findings.first()).cloned());
        let durability =
            self.factors.effects.iter().map(|effect| self.durability_of_levels(effect));
        let durability = durability.filter(|sentence| !sentence.is_empty()).map(|sentence| {
            Finding::new(FindingKind::Verdict, sentence.trim().to_owned(), String::new())
        });
        let depends = claims.iter().filter_map(|claim| match claim {
            Claim::Interaction(interaction) => factors::together(self, interaction),
            Claim::Factor { .. } => None,
        });
        let caveats = depends.chain(of_kind(FindingKind::Caveat).cloned());
        let caveats = caveats.filter(|finding| Some(finding) != answer.as_ref());
        let other_causes = || of_kind(FindingKind::Code).chain(of_kind(FindingKind::Plan));
        let brief = Brief {
            why: of_time.or_else(|| other_causes().next().cloned()),
            next: explanation.filter(|_| !claims.is_empty()).and_then(why::gain),
            notes: durability.chain(caveats).collect(),
            answer,
            others: Vec::new(),
        };
        let others = findings.into_iter().filter(|finding| !brief.contains(finding)).collect();
        Brief { others, ..brief }
    }
}
