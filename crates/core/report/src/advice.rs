//! Sections of several tools: advice on volumes and servers, limits of observations.

use crate::model::{Section, Tone};
use observations::{Advice, Weight};

/// `yes` or `no`.
pub fn yes(is_so: bool) -> String {
    if is_so { "yes" } else { "no" }.into()
}

/// Lists each advice with its reason; shows `nothing` without any.
pub fn advised(advice: &[Advice], nothing: &str) -> Section {
    let mut section = Section::new("Advice");
    if advice.is_empty() {
        section.toned(nothing, Tone::Good);
    }
    for advice in advice {
        let (word, tone) = match advice.weight {
            Weight::Problem => ("Problem", Tone::Warning),
            Weight::Note => ("Note", Tone::Plain),
        };
        section.toned(format!("{word}: {} {}.", advice.subject, advice.fact), tone);
        section.detail(format!("Why: {}.", advice.reason));
        section.indented(2, format!("Do: {}.", advice.action), Tone::Plain);
    }
    section
}

/// A section of what was not seen.
pub fn missing(sentences: &[String]) -> Option<Section> {
    let mut section = Section::new("Not visible");
    for sentence in sentences {
        section.warn(sentence);
    }
    section.unless_empty()
}
