//! Findings: sentences with their evidence. A page has the answer, its cause and its limits at the
//! top.

use super::explanations::sides;
use crate::model::{Medium, Place, Section, Tone};
use analysis::{Finding, FindingKind, Summary};

/// The sections of a page, and one of all findings for texts.
pub(crate) fn sections(summary: &Summary, findings: &[Finding]) -> Vec<Section> {
    let all = Section { medium: Medium::Text, ..in_full(Section::new("Findings"), findings) };
    let brief = summary.brief();
    let mut rest: Vec<&Finding> = findings.iter().collect();
    let mut in_short = |section: &mut Section, sentence: &str| {
        let position = rest.iter().position(|finding| finding.brief() == sentence);
        let Some(finding) = position.map(|position| rest.remove(position)) else {
            return section.toned(sentence, Tone::Plain);
        };
        section.toned(sentence, tone(finding));
        let details = [&finding.text, &finding.evidence].into_iter();
        details
            .filter(|detail| *detail != sentence)
            .for_each(|detail| section.detail(detail.as_str()));
    };
    let mut answer = Section::page("Answer").at(Place::Answer);
    if !brief.answer.is_empty() {
        in_short(&mut answer, &brief.answer);
    }
    let mut why = Section::page("Why").at(Place::Why);
    if let Some(explanation) = summary.explanations().last() {
        why.figure(sides(explanation));
    }
    brief.why.iter().chain(&brief.next).for_each(|sentence| in_short(&mut why, sentence));
    let mut notes = Section::page("Notes").at(Place::Notes);
    brief.notes.iter().for_each(|note| in_short(&mut notes, note));
    let others = in_full(Section::page("Findings"), rest);
    [all, answer, why, notes, others].into_iter().filter_map(Section::unless_empty).collect()
}

/// Each sentence with its evidence below.
fn in_full<'f>(mut section: Section, findings: impl IntoIterator<Item = &'f Finding>) -> Section {
    for finding in findings {
        section.toned(finding.text.as_str(), tone(finding));
        section.detail(finding.evidence.as_str());
    }
    section
}

fn tone(finding: &Finding) -> Tone {
    match finding.kind {
        FindingKind::Caveat => Tone::Warning,
        FindingKind::NoDifference => Tone::Muted,
        _ => Tone::Plain,
    }
}
