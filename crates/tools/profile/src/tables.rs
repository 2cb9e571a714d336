//! Parts of the pages on CPU profiles: the functions in which most time went.

use crate::summary::{FunctionUse, ModuleUse, ProfileSummary, SampleShare};
use analysis::decompose::short_module;
use observations::order;
use report::{Cell, Column, Columns, Section, number};

/// `12.3 s on processors in 10.0 s: 1,218 samples of 4 threads, 31.0 % of them in the kernel.`
pub fn used(summary: &ProfileSummary) -> String {
    format!(
        "{} of CPU samples in {}: {} of {}, {} in the kernel.",
        number::seconds(summary.all.seconds),
        number::seconds(summary.elapsed_s),
        number::plural(summary.all.samples as usize, "sample"),
        number::plural(summary.threads as usize, "thread"),
        number::percent(summary.kernel.share, 1),
    )
}

/// The functions in which most time went, as a table.
pub fn functions(section: &mut Section, summary: &ProfileSummary, rows_max: usize) {
    let mut all: Vec<(&ModuleUse, &FunctionUse)> = summary
        .modules
        .iter()
        .flat_map(|module| module.functions.iter().map(move |function| (module, function)))
        .collect();
    order::by_key(&mut all, &|(_, function)| std::cmp::Reverse(function.hits.samples));
    let mut table = Columns::for_rows(all.iter().take(rows_max));
    own_columns(&mut table, |(_, function)| &function.hits);
    table.right("With callees", |(_, function)| Cell::percent(function.total.share, 1)).optional(1);
    table.name("Function", |(_, function)| &function.function);
    table.name("Module", |(module, _)| short_module(&module.module));
    section.table(table);
    section.note_more(all.len().saturating_sub(rows_max));
}

/// Share, its interval, samples, time.
pub fn own_columns<'a, T>(table: &mut Columns<'a, &'a T>, sampled: fn(&'a T) -> &'a SampleShare) {
    let ends = |sampled: &SampleShare| {
        let low = number::fixed(100.0 * sampled.interval.low, 1);
        let high = number::percent(sampled.interval.high, 1);
        Cell::ends(sampled.interval, format!("{low} to {high}"))
    };
    table.with(Column::right("Share"), move |item| Cell::percent(sampled(item).share, 1));
    table.with(Column::left("95 % interval"), move |item| ends(sampled(item))).optional(2);
    table
        .with(Column::right("Samples"), move |item| Cell::count(sampled(item).samples))
        .optional(3);
    table.with(Column::right("Time"), move |item| Cell::seconds(sampled(item).seconds));
}
