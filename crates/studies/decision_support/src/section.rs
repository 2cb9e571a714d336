//! The section of reports.

use crate::analysis::DecisionSupportFigures;
use crate::query_section;
use analysis::Summary;
use report::text::label;
use report::{Cell, Columns, Section, number};

/// The section; `None` when decision support was not run.
pub fn section(_: &Summary, all: &[DecisionSupportFigures]) -> Option<Section> {
    if all.is_empty() {
        return None;
    }
    let is_bounded = all.iter().any(|figures| !figures.cancelled.is_empty());
    let mut section = Section::new("Decision support");
    let mut table = Columns::for_rows(all);
    table.name("configuration", |row| label(&row.configuration));
    table.left("geometric mean s", |row| {
        row.geometric_mean.as_ref().map(Cell::estimate_without_unit)
    });
    table.right("queries", |row| number::count(row.queries));
    if is_bounded {
        table.right("cancelled", |row| {
            number::count(row.cancelled.iter().map(|entry| entry.times as u64).sum())
        });
        table.left("which", |row| {
            let names =
                row.cancelled.iter().map(|entry| format!("{} x{}", entry.query, entry.times));
            names.collect::<Vec<_>>().join(", ")
        });
    }
    section.table(table);
    section.note(
        "Geometric mean of the mean times of all queries, and of refresh functions where they \
         ran: a query that takes half as long counts the same whether it is short or long. \
         Results are not those of the council: nothing is audited.",
    );
    query_section::times(&mut section, all);
    if is_bounded {
        section.note(
            "Queries were cancelled at workload.query_limit. They count with the time until then, \
             so that the geometric mean and the means of these queries are lower bounds.",
        );
    }
    Some(section)
}
