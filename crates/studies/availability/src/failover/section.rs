//! The section of reports: what became of the writes, and what clients saw.

use super::analysis::{Errors, Writes};
use analysis::Summary;
use report::text::label;
use report::{Columns, Section, number};

/// A row of the table of errors.
struct Row<'a> {
    configuration: &'a str,
    errors: &'a Errors,
}

/// The section; `None` where no server failed.
pub(crate) fn failovers(_: &Summary, all: &[Writes]) -> Option<Section> {
    if all.is_empty() {
        return None;
    }
    let mut section = Section::new("Failover");
    let mut table = Columns::for_rows(all);
    table.name("configuration", |row| label(&row.configuration).to_owned());
    table.right("trials", |row| number::count(row.trials as u64));
    table.right("acknowledged", |row| number::count(row.acknowledged));
    table.right("lost", |row| number::count(row.lost));
    table.right("most", |row| number::count(row.lost_max));
    table.right("twice", |row| number::count(row.duplicates));
    table.right("unknown", |row| number::count(row.unknown));
    table.right("present", |row| number::count(row.unknown_present));
    table.right("promotion s", |row| row.promotion_s.map(number::figure));
    section.table(table);
    section.note(
        "Lost: acknowledged, and absent after the recovery; most: in one trial. Twice: repeated \
         by a client that had no answer. Unknown: never acknowledged; present: of these, those \
         that the server has.",
    );
    let rows: Vec<Row<'_>> = all
        .iter()
        .flat_map(|figures| {
            figures
                .errors
                .iter()
                .map(|errors| Row { configuration: &figures.configuration, errors })
        })
        .collect();
    if !rows.is_empty() {
        section.line("Errors that clients saw:");
        let mut table = Columns::for_rows(&rows);
        table.name("configuration", |row| label(row.configuration).to_owned());
        table.left("error", |row| row.errors.kind.clone());
        table.right("count", |row| number::count(row.errors.count));
        section.table(table);
    }
    Some(section)
}
