//! Where the processor time went: `steelbench profile`.

mod compare;

pub use compare::profile_comparison;

use crate::model::{Cell, Column, Document, Section, Table, Tone};
use crate::{Text, number};
use analysis::ProfileSummary;
use analysis::profile::{FunctionUse, ModuleUse, Sampled, short_module};
use observations::Profile;
use std::fmt::Write;

/// Rows of a table.
const ROWS_MAX: usize = 25;
/// Stacks that are printed.
const STACKS_MAX: usize = 5;
/// Functions of a stack, counted from the one that ran.
const CALLERS_MAX: usize = 12;

/// A profile: by module, by function, by stack.
pub fn profile(summary: &ProfileSummary) -> Document {
    let mut sections = vec![overview(summary)];
    if summary.all.samples > 0 {
        sections.extend([by_module(summary), by_function(summary), stacks(summary)]);
    }
    sections.extend(missing(&summary.missing));
    Document { title: format!("{}: processor time", summary.target).into(), sections }
}

fn overview(summary: &ProfileSummary) -> Section {
    let mut section = Section::new("");
    if summary.all.samples == 0 {
        section.line(format!(
            "Nothing was found running in {}: waiting threads leave no sample.",
            number::seconds(summary.elapsed_s)
        ));
        return section;
    }
    section.line(used(summary));
    section.toned(
        format!(
            "A sample is taken after each {} that a thread is on a processor; waiting leaves none. Collecting them \
             took {} of processor time besides ({} of what was sampled).",
            number::seconds(1.0 / summary.hz),
            number::seconds(summary.profiler_cpu_s),
            number::percent(summary.profiler_cpu_s / summary.all.seconds, 2),
        ),
        Tone::Muted,
    );
    if summary.lost > 0 {
        section.toned(
            format!(
                "{} found no room and are lost: shares may be off.",
                number::plural(summary.lost as usize, "record")
            ),
            Tone::Warning,
        );
    }
    section
}

/// `12.3 s on processors in 10.0 s: 1,218 samples of 4 threads, 31.0 % of them in the kernel.`
pub(crate) fn used(summary: &ProfileSummary) -> String {
    format!(
        "{} on processors in {}: {} of {}, {} of them in the kernel.",
        number::seconds(summary.all.seconds),
        number::seconds(summary.elapsed_s),
        number::plural(summary.all.samples as usize, "sample"),
        number::plural(summary.threads as usize, "thread"),
        number::percent(summary.kernel.share, 1),
    )
}

fn by_module(summary: &ProfileSummary) -> Section {
    let mut section = Section::new("By module");
    let rows = summary.modules.iter().take(ROWS_MAX).map(|module: &ModuleUse| {
        let mut cells = own(&module.own);
        cells.extend([Cell::plain(mode(module.kernel)), Cell::plain(module.module.as_str())]);
        cells
    });
    let rows = rows.collect();
    let mut columns = own_columns();
    columns.extend([Column::left("Mode"), Column::name("Module")]);
    section.table(Table { columns, rows, fixed: false });
    more(&mut section, summary.modules.len().saturating_sub(ROWS_MAX));
    section
}

fn by_function(summary: &ProfileSummary) -> Section {
    let mut section = Section::new("By function");
    functions(&mut section, summary, ROWS_MAX);
    section
}

/// The functions in which most time went, as a table.
pub(crate) fn functions(section: &mut Section, summary: &ProfileSummary, rows_max: usize) {
    let mut all: Vec<(&ModuleUse, &FunctionUse)> = summary
        .modules
        .iter()
        .flat_map(|module| module.functions.iter().map(move |function| (module, function)))
        .collect();
    all.sort_by_key(|(_, function)| std::cmp::Reverse(function.own.samples));
    let rows = all.iter().take(rows_max).map(|(module, function)| {
        let mut cells = own(&function.own);
        cells.extend([
            Cell::plain(number::percent(function.total.share, 1)),
            Cell::plain(function.function.as_str()),
            Cell::plain(short_module(&module.module)),
        ]);
        cells
    });
    let rows = rows.collect();
    let mut columns = own_columns();
    columns.extend([
        Column::right("With callees").optional(1),
        Column::name("Function"),
        Column::name("Module"),
    ]);
    section.table(Table { columns, rows, fixed: false });
    more(section, all.len().saturating_sub(rows_max));
}

/// Share, its interval, samples, time.
fn own(sampled: &Sampled) -> Vec<Cell> {
    let interval = &sampled.interval;
    let (low, high) = (number::fixed(100.0 * interval.low, 1), number::percent(interval.high, 1));
    vec![
        Cell::plain(number::percent(sampled.share, 1)),
        Cell::plain(format!("{low} to {high}")),
        Cell::plain(number::count(sampled.samples)),
        Cell::plain(number::seconds(sampled.seconds)),
    ]
}

fn own_columns() -> Vec<Column> {
    vec![
        Column::right("Share"),
        Column::left("95 % interval").optional(2),
        Column::right("Samples").optional(3),
        Column::right("Time"),
    ]
}

fn stacks(summary: &ProfileSummary) -> Section {
    let mut section = Section::new("Most frequent stacks");
    for stack in summary.stacks.iter().take(STACKS_MAX) {
        let mut functions = stack.functions.iter().rev();
        let leaf = functions.next().map_or("", String::as_str);
        section.line(format!("{} {leaf}", number::percent(stack.own.share, 1)));
        let callers: Vec<&str> = functions.by_ref().take(CALLERS_MAX).map(String::as_str).collect();
        let rest = functions.count();
        let rest = if rest > 0 { format!(" < {rest} more") } else { String::new() };
        if !callers.is_empty() {
            section.detail(format!("< {}{rest}", callers.join(" < ")));
        }
    }
    section.toned(
        "Callers are known where programs keep frame pointers; where they do not, the stack ends early.",
        Tone::Muted,
    );
    section
}

fn missing(sentences: &[String]) -> Option<Section> {
    if sentences.is_empty() {
        return None;
    }
    let mut section = Section::new("What could not be seen");
    for sentence in sentences {
        section.toned(sentence.as_str(), Tone::Warning);
    }
    Some(section)
}

pub(crate) fn more(section: &mut Section, rows: usize) {
    if rows > 0 {
        section.toned(format!("{} more are not shown.", number::count(rows as u64)), Tone::Muted);
    }
}

fn mode(kernel: bool) -> &'static str {
    if kernel { "kernel" } else { "user" }
}

/// Functions from the outermost caller to the one that ran, separated by semicolons, a blank, and the number of
/// samples; `_[k]` marks the kernel's. The format of `stackcollapse`, which flamegraph.pl, inferno and speedscope
/// read.
pub fn folded(profile: &Profile) -> String {
    let mut lines = String::new();
    for stack in &profile.stacks {
        let names = profile.frames_of(stack).map(|frame| {
            let name = Text::from(frame.function.as_str()).as_str().replace(';', ":");
            if frame.kernel { format!("{name}_[k]") } else { name }
        });
        let names: Vec<String> = names.collect();
        // Writing to a string cannot fail.
        let _ = writeln!(lines, "{} {}", names.join(";"), stack.samples);
    }
    lines
}
