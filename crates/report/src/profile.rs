//! Where the processor time went: `steelbench profile`.

mod compare;

pub use compare::profile_comparison;

use crate::model::{Cell, Columns, Document, Section};
use crate::{Text, number};
use analysis::profile::{FunctionUse, ModuleUse, Sampled, short_module};
use analysis::{Interval, ProfileSummary};
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
    section.note(format!(
        "A sample is taken after each {} that a thread is on a processor; waiting leaves none. Collecting them took {} \
         of processor time besides ({} of what was sampled).",
        number::seconds(1.0 / summary.hz),
        number::seconds(summary.profiler_cpu_s),
        number::percent(summary.profiler_cpu_s / summary.all.seconds, 2),
    ));
    if summary.lost > 0 {
        let records = number::plural(summary.lost as usize, "record");
        section.warn(format!("{records} found no room and are lost: shares may be off."));
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
    let mut table = Columns::of(summary.modules.iter().take(ROWS_MAX));
    own_columns(&mut table, |module| &module.own);
    table.left("Mode", |module| mode(module.kernel));
    table.name("Module", |module| &module.module);
    section.table(table);
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
    let mut table = Columns::of(all.iter().take(rows_max));
    own_columns(&mut table, |(_, function)| &function.own);
    table.right("With callees", |(_, function)| Cell::percent(function.total.share, 1)).optional(1);
    table.name("Function", |(_, function)| &function.function);
    table.name("Module", |(module, _)| short_module(&module.module));
    section.table(table);
    more(section, all.len().saturating_sub(rows_max));
}

/// Share, its interval, samples, time.
fn own_columns<'a, T>(table: &mut Columns<'a, &'a T>, own: fn(&'a T) -> &'a Sampled) {
    let interval = |Sampled { interval: Interval { low, high }, .. }: &Sampled| {
        Cell::ends(
            (*low, *high),
            format!("{} to {}", number::fixed(100.0 * low, 1), number::percent(*high, 1)),
        )
    };
    table.right("Share", move |item| Cell::percent(own(item).share, 1));
    table.left("95 % interval", move |item| interval(own(item))).optional(2);
    table.right("Samples", move |item| Cell::count(own(item).samples)).optional(3);
    table.right("Time", move |item| Cell::seconds(own(item).seconds));
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
    section.note(
        "Callers are known where programs keep frame pointers; where they do not, the stack ends early.",
    );
    section
}

pub(crate) fn missing(sentences: &[String]) -> Option<Section> {
    let mut section = Section::new("What could not be seen");
    for sentence in sentences {
        section.warn(sentence);
    }
    section.unless_empty()
}

pub(crate) fn more(section: &mut Section, rows: usize) {
    if rows > 0 {
        section.note(format!("{} more are not shown.", number::count(rows as u64)));
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
