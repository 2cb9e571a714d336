//! What should be different about a volume before databases are put on it, or measured on it.

mod rules;

use observations::VolumeFacts;
use serde::Serialize;

/// How much it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// It costs speed or safety, or makes measurements tell of something else.
    Problem,
    /// It is a property to know, or a choice that other loads may make otherwise.
    Note,
}

/// One thing that should be looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Advice {
    /// Name of the rule, the same in every version: `partition-sector`.
    pub rule: &'static str,
    /// How much it matters.
    pub weight: Weight,
    /// The device or mounted folder that it is about.
    pub subject: String,
    /// What was found, with figures.
    pub fact: String,
    /// Why it matters, with the source where there is one.
    pub reason: &'static str,
    /// What to do.
    pub action: String,
}

/// Everything that the rules find, problems first, then in the order of the rules.
pub fn volume_advice(facts: &VolumeFacts) -> Vec<Advice> {
    let found = rules::RULES.iter().flat_map(|rule| {
        (rule.find)(facts).into_iter().map(|finding| Advice {
            rule: rule.name,
            weight: rule.weight,
            subject: finding.subject,
            fact: finding.fact,
            reason: rule.reason,
            action: finding.action,
        })
    });
    let mut all: Vec<Advice> = found.collect();
    all.sort_by_key(|advice| advice.weight);
    all
}

#[cfg(test)]
mod tests;
