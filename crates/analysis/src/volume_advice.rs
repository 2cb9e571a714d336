//! What should be different about a volume before databases are put on it, or measured on it.

mod rules;

use observations::{Advice, VolumeFacts};

/// Everything that the rules find, problems first, then in the order of the rules.
pub fn volume_advice(facts: &VolumeFacts) -> Vec<Advice> {
    let found = rules::RULES
        .iter()
        .flat_map(|rule| (rule.find)(facts).into_iter().map(|finding| rule.advice(finding)));
    let mut all: Vec<Advice> = found.collect();
    all.sort_by_key(|advice| advice.weight);
    all
}

#[cfg(test)]
mod tests;
