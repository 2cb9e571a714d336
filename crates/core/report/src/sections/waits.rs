//! The waits of sessions, by configuration.

use super::session_time::{accounting, check};
use crate::model::{Cell, Column, Columns, Section, Table};
use crate::number;
use crate::text::listed;
use analysis::hot::HotResources;
use analysis::waits::{Averages, HEADINGS, WaitRow};
use analysis::{ConfigurationWaits, Summary, WaitTable};
use observations::WaitSource;

/// For each configuration that the verdict names: where the sessions' time went, and the waits in
/// it.
pub(crate) fn sections(summary: &Summary, configurations: &[ConfigurationWaits]) -> Vec<Section> {
    let mut sections: Vec<Section> = configurations.iter().map(section).collect();
    let all = summary.configurations.iter().filter(|row| row.accounting.is_some()).count();
    if let Some(last) = sections.last_mut()
        && all > configurations.len()
    {
        let others = number::plural(all - configurations.len(), "other configuration");
        last.note(format!("{others}: see `show --only` and the JSON output."));
    }
    sections
}

fn section(configuration_waits: &ConfigurationWaits) -> Section {
    let label = configuration_waits.configuration.as_str();
    let mut section =
        Section::new(if label.is_empty() { "Waits".to_owned() } else { format!("Waits: {label}") });
    section.line(accounting(&configuration_waits.accounting));
    if let Some(check) = check(&configuration_waits.accounting) {
        section.note(check);
    }
    if configuration_waits.waits.rows.is_empty() && configuration_waits.accounting.cpu_s == 0.0 {
        section.note("Unknown: neither waits nor CPU time of the sessions were visible.");
    } else {
        waits(&mut section, &configuration_waits.waits);
    }
    hot_resources(&mut section, &configuration_waits.hot);
    section
}

/// Adds the resources that sessions met at.
pub fn hot_resources(section: &mut Section, hot: &[HotResources]) {
    for hot in hot {
        section.warn(format!("{}.", hot.finding()));
        section.detail(format!("{}.", hot.evidence()));
    }
}

fn waits(section: &mut Section, waits: &WaitTable) {
    if waits.rows.is_empty() {
        section.note("No waits were recorded.");
    } else {
        section.table(table(waits));
    }
    for note in notes(waits) {
        section.note(note);
    }
}

/// The nine columns of the published studies, the rows that make up the top 95 %, as they print
/// them. What a sampled row cannot know is a dash.
pub fn table(waits: &WaitTable) -> Table<'static> {
    let mut table = Columns::for_rows(waits.top());
    table.left(HEADINGS[0], |row| &row.wait_type);
    for (at, heading) in HEADINGS.into_iter().enumerate().skip(1) {
        let column = table.with(Column::left(heading), move |row| {
            figures(row)[at - 1].map(|figure| Cell::from(figure).shown(&row.cells()[at]))
        });
        // The averages follow from the columns before them.
        column.optional(at.saturating_sub(5).min(2) as u8);
    }
    let mut table = Table::from(table);
    table.fixed = true;
    table
}

/// The figures of a row in the order of the headings.
fn figures(row: &WaitRow) -> Vec<Option<f64>> {
    let average = |pick: fn(&Averages) -> f64| row.average.as_ref().map(pick);
    let averages = [
        average(|wait| wait.wait_s),
        average(|wait| wait.resource_s),
        average(|wait| wait.signal_s),
    ];
    let of_all = [
        Some(row.wait_s),
        Some(row.resource_s),
        Some(row.signal_s),
        row.count,
        Some(row.percentage),
    ];
    of_all.into_iter().chain(averages).collect()
}

/// Notes on omissions and precision of the table.
fn notes(waits: &WaitTable) -> Vec<String> {
    let mut notes = Vec::new();
    if waits.trials > 1 {
        let trials = number::plural(waits.trials, "trial");
        notes.push(format!("Seconds and counts: means of {trials}, summed over connections."));
    }
    let sampled = waits.top().iter().filter_map(|row| match &row.source {
        WaitSource::Sampled { hz, samples: Some(samples), .. } => {
            let samples = number::plural(usize::try_from(*samples).unwrap_or(usize::MAX), "sample");
            Some(format!("{} ({samples}, {} Hz)", row.wait_type, number::figure(*hz)))
        }
        WaitSource::Sampled { hz, .. } => {
            Some(format!("{} ({} Hz)", row.wait_type, number::figure(*hz)))
        }
        _ => None,
    });
    notes.extend(listed(sampled).map(|sampled| format!("Sampled, not counted: {sampled}.")));
    let timed = waits.top().iter().filter_map(|row| match &row.source {
        WaitSource::Server { counter, .. } => Some(format!("{} ({counter})", row.wait_type)),
        _ => None,
    });
    notes
        .extend(listed(timed).map(|timed| format!("Timed by the server's own counters: {timed}.")));
    if waits.top().iter().any(|row| row.error_s.is_some()) {
        notes.push("±: standard error of sampling.".to_owned());
    }
    if waits.client_s > 0.0 {
        let seconds = number::seconds(waits.client_s);
        notes.push(format!("Waits for the client ({seconds}) are not included."));
    }
    notes.extend(left_out(waits));
    notes
}

/// The waits that are not in the table because they say nothing about a load.
pub fn left_out(waits: &WaitTable) -> Option<String> {
    let (seconds, types) = (number::seconds(waits.filtered_s), waits.filtered.join(", "));
    (waits.filtered_s > 0.0).then(|| format!("Excluded as idle or benign: {seconds} ({types})."))
}
