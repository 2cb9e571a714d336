//! Where sessions waited, by level of the main factor.

use super::session_time::accounting;
use crate::model::{Cell, Column, NOTHING, Section, Table, Tone};
use crate::{names, number};
use analysis::waits::HEADINGS;
use analysis::{LevelWaits, Summary, WaitTable};
use observations::WaitSource;

/// For each level of the main factor: where the sessions' time went, and the waits in it.
pub(crate) fn sections(summary: &Summary, levels: &[LevelWaits]) -> Vec<Section> {
    let factor = summary.main_effect().map_or("", |effect| names::factor(summary, &effect.factor));
    levels.iter().map(|level| section(factor, level)).collect()
}

fn section(factor: &str, level: &LevelWaits) -> Section {
    let mut section = Section::new(match &level.level {
        Some(label) => format!("Waits: {factor} = {label}"),
        None => "Waits".to_owned(),
    });
    section.line(accounting(&level.accounting));
    waits(&mut section, &level.waits);
    section
}

fn waits(section: &mut Section, waits: &WaitTable) {
    if waits.rows.is_empty() {
        section.toned("No waits were recorded.", Tone::Muted);
    } else {
        section.table(table(waits));
    }
    for note in notes(waits) {
        section.toned(note, Tone::Muted);
    }
}

/// The nine columns of the published studies, the rows that make up the top 95 %, as they print them.
/// What a sampled row cannot know is a dash.
pub(crate) fn table(waits: &WaitTable) -> Table {
    let cell = |text: String| Cell::plain(if text.is_empty() { NOTHING.to_owned() } else { text });
    Table {
        columns: HEADINGS.map(Column::left).to_vec(),
        rows: waits.top().iter().map(|row| row.cells().map(cell).to_vec()).collect(),
        fixed: true,
    }
}

/// What the table does not show, and how far it can be trusted.
fn notes(waits: &WaitTable) -> Vec<String> {
    let mut notes = Vec::new();
    if waits.trials > 1 {
        let trials = number::plural(waits.trials, "trial");
        notes.push(format!("Seconds and counts are means of {trials}, summed over connections."));
    }
    let sampled: Vec<String> = waits
        .top()
        .iter()
        .filter_map(|row| match row.source {
            WaitSource::Sampled { hz } => Some(format!("{} ({} Hz)", row.wait_type, number::figure(hz))),
            WaitSource::Counted => None,
        })
        .collect();
    if !sampled.is_empty() {
        notes.push(format!("Sampled, not counted: {}.", sampled.join(", ")));
    }
    if waits.client_s > 0.0 {
        let seconds = number::seconds(waits.client_s);
        notes.push(format!("Waits for the client, {seconds}, are not among these waits."));
    }
    if waits.filtered_s > 0.0 {
        let (seconds, types) = (number::seconds(waits.filtered_s), waits.filtered.join(", "));
        notes.push(format!("Left out as idle or benign: {seconds} ({types})."));
    }
    notes
}
