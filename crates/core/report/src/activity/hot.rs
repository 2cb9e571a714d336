//! What waiting sessions met at.

use crate::model::Section;
use analysis::ActivitySummary;
use analysis::activity::HotResources;

/// A sentence for each kind of things, with what it rests on; `None` where sessions met at nothing.
pub(super) fn section(summary: &ActivitySummary) -> Option<Section> {
    let mut section = Section::new("Where sessions met");
    add(&mut section, &summary.hot);
    section.unless_empty()
}

/// Adds what sessions met at.
pub(crate) fn add(section: &mut Section, hot: &[HotResources]) {
    for hot in hot {
        section.warn(format!("{}.", hot.finding()));
        section.detail(format!("{}.", hot.evidence()));
    }
}
