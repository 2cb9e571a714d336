//! Tables of the server's further counters.

use super::view::ActivityView;
use crate::summary::ActivitySummary;
use observations::{CounterRow, CounterTable, CounterUnit};
use report::model::{Cell, Column, Columns, Section};

/// A section for each table.
pub(super) fn sections(summary: &ActivitySummary, view: ActivityView) -> Vec<Section> {
    summary
        .activity
        .counters
        .iter()
        .filter(|table| !table.rows.is_empty())
        .map(|table| section(table, view))
        .collect()
}

fn section(counters: &CounterTable, view: ActivityView) -> Section {
    let mut section = Section::new(counters.title.clone()).named("counters", 0);
    let mut table = Columns::for_rows(counters.rows.iter().take(view.rows()));
    table.name(&counters.rows_are, |row| &row.name);
    for (at, column) in counters.columns.iter().enumerate() {
        table.with(Column::right(&column.heading), move |row: &&CounterRow| {
            let value = row.values.get(at).copied().flatten()?;
            Some(match column.unit {
                CounterUnit::Count => Cell::count(value as u64),
                CounterUnit::Seconds => Cell::seconds(value),
                CounterUnit::Bytes => Cell::bytes(value as u64),
            })
        });
    }
    section.table(table);
    section.note_more(counters.rows.len().saturating_sub(view.rows()));
    section.note(format!("From {}.", counters.source));
    section
}
