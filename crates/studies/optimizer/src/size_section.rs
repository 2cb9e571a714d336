//! Sections about parallel plans over the size of the table.

use crate::section::heading;
use crate::size_finding::sentence;
use crate::sizes::{ParallelSizes, SizeByPlan};
use crate::wording::interval;
use analysis::Summary;
use report::{Cell, Columns, Section, number};

/// A section for each group.
pub fn sections(_: &Summary, all: &[ParallelSizes]) -> Vec<Section> {
    all.iter().map(section).collect()
}

fn section(own: &ParallelSizes) -> Section {
    let mut section = heading("Parallel plans by size", &own.group);
    section.line(format!("{}.", sentence(own)));
    let mut table = Columns::for_rows(&own.levels);
    table.right("rows", |own| number::count(own.rows as u64));
    table.left("serial ms", |own| own.serial.as_ref().map(Cell::estimate_without_unit));
    table.left("parallel ms", |own| own.parallel.as_ref().map(Cell::estimate_without_unit));
    table.left("parallel / serial", |own| {
        let ends = interval(own.interval, |end| number::fixed(end, 2));
        own.ratio.map(|ratio| format!("{}x{ends}", number::fixed(ratio, 2)))
    });
    if own.levels.iter().any(|own| own.chosen_parallel.is_some()) {
        table.left("choice", |own| {
            own.chosen_parallel.map(|own| if own { "parallel" } else { "serial" })
        });
    }
    section.table(table);
    if matches!(own.by_plan, Some(SizeByPlan::From { .. })) {
        section.note(
            "The size by plan was found on copies of the first rows of the table, without \
             executing the query.",
        );
    }
    section.note(
        "Below 1x the parallel plan takes less time. Times include sending and planning the query.",
    );
    section
}
