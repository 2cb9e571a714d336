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
    table.name("configuration", |own| label(&own.configuration).to_owned());
    table.right("trials", |own| number::count(own.trials as u64));
    table.right("acknowledged", |own| number::count(own.acknowledged));
    table.right("lost", |own| number::count(own.lost));
    table.right("most", |own| number::count(own.lost_max));
    table.right("twice", |own| number::count(own.duplicates));
    table.right("unknown", |own| number::count(own.unknown));
    table.right("present", |own| number::count(own.unknown_present));
    table.right("promotion s", |own| own.promotion_s.map(number::figure));
    section.table(table);
    section.note(
        "Lost: acknowledged, and absent after the recovery; most: in one trial. Twice: repeated \
         by a client that had no answer. Unknown: never acknowledged; present: of these, those \
         that the server has.",
    );
    let rows: Vec<Row<'_>> = all
        .iter()
        .flat_map(|own| {
            own.errors.iter().map(|errors| Row { configuration: &own.configuration, errors })
        })
        .collect();
    if !rows.is_empty() {
        section.line("Errors that clients saw:");
        let mut table = Columns::for_rows(&rows);
        table.name("configuration", |own| label(own.configuration).to_owned());
        table.left("error", |own| own.errors.kind.clone());
        table.right("count", |own| number::count(own.errors.count));
        section.table(table);
    }
    Some(section)
}
