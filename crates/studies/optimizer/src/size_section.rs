//! Sections about parallel plans over the size of the table.

use crate::size_finding::sentence;
use crate::sizes::{ParallelSizes, SizeByPlan};
use crate::wording;
use analysis::Summary;
use report::{Cell, Columns, Section, number};

/// A section for each group.
pub fn sections(_: &Summary, all: &[ParallelSizes]) -> Vec<Section> {
    all.iter().map(section).collect()
}

fn section(parallel_sizes: &ParallelSizes) -> Section {
    let mut section = Section::about("Parallel plans by size", &parallel_sizes.group);
    section.line(format!("{}.", sentence(parallel_sizes)));
    let mut table = Columns::for_rows(&parallel_sizes.levels);
    table.right("rows", |row| number::count(row.rows as u64));
    table.left("serial ms", |row| row.serial.as_ref().map(Cell::estimate_without_unit));
    table.left("parallel ms", |row| row.parallel.as_ref().map(Cell::estimate_without_unit));
    table.left("parallel / serial", |row| {
        row.ratio.map(|ratio| wording::ratio(ratio, row.interval))
    });
    if parallel_sizes.levels.iter().any(|row| row.chosen_parallel.is_some()) {
        table.left("choice", |row| {
            row.chosen_parallel.map(|is_parallel| if is_parallel { "parallel" } else { "serial" })
        });
    }
    section.table(table);
    if matches!(parallel_sizes.by_plan, Some(SizeByPlan::From { .. })) {
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
