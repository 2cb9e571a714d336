//! The section of reports: what became of the writes, and what clients saw.

use crate::analysis::{Errors, Writes};
use analysis::Summary;
use report::text::label;
use report::{Columns, Section, number};

/// A row of the table of errors.
struct Row<'a> {
    configuration: &'a str,
    errors: &'a Errors,
}

/// The section; `None` where no server failed.
pub fn failovers(_: &Summary, all: &[Writes]) -> Option<Section> {
    if all.is_empty() {
        return None;
    }
    let mut section = Section::new("Failover");
    let mut table = Columns::for_rows(all);
    table.name("configuration", |table| label(&table.configuration).to_owned());
    table.right("trials", |table| number::count(table.trials as u64));
    table.right("acknowledged", |table| number::count(table.acknowledged));
    table.right("lost", |table| number::count(table.lost));
    table.right("most", |table| number::count(table.lost_max));
    table.right("twice", |table| number::count(table.duplicates));
    table.right("unknown", |table| number::count(table.unknown));
    table.right("present", |table| number::count(table.unknown_present));
    table.right("promotion s", |table| table.promotion_s.map(number::figure));
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
        table.name("configuration", |table| label(table.configuration).to_owned());
        table.left("error", |table| table.errors.kind.clone());
        table.right("count", |table| number::count(table.errors.count));
        section.table(table);
    }
    Some(section)
}
