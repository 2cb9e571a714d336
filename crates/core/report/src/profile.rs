//! CPU profiles in reports: the functions in which most time went.

use crate::model::{Cell, Column, Columns, Section};
use crate::number;
use analysis::profile::{FunctionUse, ModuleUse, SampleShare, short_module};
use analysis::{Interval, ProfileSummary};
use observations::order;

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
    more(section, all.len().saturating_sub(rows_max));
}

/// Share, its interval, samples, time.
pub fn own_columns<'a, T>(table: &mut Columns<'a, &'a T>, sampled: fn(&'a T) -> &'a SampleShare) {
    let interval = |SampleShare { interval: Interval { low, high }, .. }: &SampleShare| {
        let shown = format!("{} to {}", number::fixed(100.0 * low, 1), number::percent(*high, 1));
        Cell::ends(Interval { low: *low, high: *high }, shown)
    };
    table.with(Column::right("Share"), move |item| Cell::percent(sampled(item).share, 1));
    table.with(Column::left("95 % interval"), move |item| interval(sampled(item))).optional(2);
    table
        .with(Column::right("Samples"), move |item| Cell::count(sampled(item).samples))
        .optional(3);
    table.with(Column::right("Time"), move |item| Cell::seconds(sampled(item).seconds));
}

/// A section of what was not seen.
pub fn missing(sentences: &[String]) -> Option<Section> {
    let mut section = Section::new("Not visible");
    for sentence in sentences {
        section.warn(sentence);
    }
    section.unless_empty()
}

/// A note on rows that are not shown.
pub fn more(section: &mut Section, rows: usize) {
    if rows > 0 {
        section.note(format!("{} more are not shown.", number::count(rows as u64)));
    }
}
