//! Findings: sentences with their evidence. A page has the answer, its cause and its limits at the
//! top.

use super::explanations::sides;
use crate::model::{Medium, Place, Section, Tone};
use analysis::{Finding, FindingKind, Summary};

/// All findings, for texts.
pub(crate) fn section(_: &Summary, findings: &[Finding]) -> Option<Section> {
    in_full(Section { medium: Medium::Text, ..Section::new("Findings") }, findings).unless_empty()
}

/// The first view of a page, and the findings that it leaves out.
pub(crate) fn first_view(summary: &Summary) -> Vec<Section> {
    let brief = summary.brief();
    let mut answer = Section::page("Answer").at(Place::Answer);
    brief.answer.iter().for_each(|finding| in_short(&mut answer, finding));
    let mut why = Section::page("Why").at(Place::Why);
    if let Some(explanation) = summary.explanations().last() {
        why.figure(sides(explanation));
    }
    brief.why.iter().chain(&brief.next).for_each(|finding| in_short(&mut why, finding));
    let mut notes = Section::page("Notes").at(Place::Notes);
    brief.notes.iter().for_each(|finding| in_short(&mut notes, finding));
    let others = in_full(Section::page("Findings"), &brief.others);
    [answer, why, notes, others].into_iter().filter_map(Section::unless_empty).collect()
}

/// A sentence, with all of it and its evidence below.
fn in_short(section: &mut Section, finding: &Finding) {
    let sentence = finding.brief();
    section.toned(sentence.as_str(), tone(finding));
    let details = [&finding.text, &finding.evidence].into_iter();
    details
        .filter(|detail| **detail != sentence)
        .for_each(|detail| section.detail(detail.as_str()));
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
