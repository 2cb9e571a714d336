//! The use of the processor time: `steelbench profile`.

use crate::compare::{Change, Difference, ProfileComparison};
use crate::summary::ProfileSummary;
use crate::tables::{functions, own_columns, used};
use observations::Profile;
use report::model::{Cell, Columns, Document, Section, Tone};
use report::text::joined;
use report::{Text, missing, number};
use std::fmt::Write;

/// Rows of a table.
const ROWS_MAX: usize = 25;
/// Stacks that are printed.
const STACKS_MAX: usize = 5;
/// Functions of a stack, counted from the one that ran.
const CALLERS_MAX: usize = 12;

/// A profile: by module, by function, by stack.
pub fn profile_document(summary: &ProfileSummary) -> Document {
    let mut sections = vec![overview(summary)];
    if summary.all.samples > 0 {
        sections.extend([by_module(summary), by_function(summary), stacks(summary)]);
    }
    sections.extend(missing(&summary.missing));
    Document { title: format!("{}: CPU time", summary.target).into(), sections }
}

fn overview(summary: &ProfileSummary) -> Section {
    let mut section = Section::new("");
    if summary.all.samples == 0 {
        section.line(format!(
            "No samples in {}: waiting threads are not sampled.",
            number::seconds(summary.elapsed_s)
        ));
        return section;
    }
    section.line(used(summary));
    section.note(format!(
        "Each thread is sampled after every {} of CPU time; waiting is not sampled. Collecting \
         the samples took another {} of CPU time ({} of the sampled time).",
        number::seconds(1.0 / summary.hz),
        number::seconds(summary.profiler_cpu_s),
        number::percent(summary.profiler_cpu_s / summary.all.seconds, 2),
    ));
    if summary.lost > 0 {
        let records = number::plural(summary.lost as usize, "record");
        section.warn(format!("{records} lost (buffer full): shares may be off."));
    }
    section
}

fn by_module(summary: &ProfileSummary) -> Section {
    let mut section = Section::new("By module");
    let mut table = Columns::for_rows(summary.modules.iter().take(ROWS_MAX));
    own_columns(&mut table, |module| &module.hits);
    table.left("Mode", |module| mode(module.kernel));
    table.name("Module", |module| &module.module);
    section.table(table);
    section.note_more(summary.modules.len().saturating_sub(ROWS_MAX));
    section
}

fn by_function(summary: &ProfileSummary) -> Section {
    let mut section = Section::new("By function");
    functions(&mut section, summary, ROWS_MAX);
    section
}

fn stacks(summary: &ProfileSummary) -> Section {
    let mut section = Section::new("Most frequent stacks");
    for stack in summary.stacks.iter().take(STACKS_MAX) {
        let mut functions = stack.functions.iter().rev();
        let leaf = functions.next().map_or("", String::as_str);
        section.line(format!("{} {leaf}", number::percent(stack.hits.share, 1)));
        let callers: Vec<&str> = functions.by_ref().take(CALLERS_MAX).map(String::as_str).collect();
        let rest = functions.count();
        let rest = if rest > 0 { format!(" < {rest} more") } else { String::new() };
        if !callers.is_empty() {
            section.detail(format!("< {}{rest}", callers.join(" < ")));
        }
    }
    section.note("Stacks end early in programs compiled without frame pointers.");
    section
}

fn mode(kernel: bool) -> &'static str {
    if kernel { "kernel" } else { "user" }
}

/// Functions from the outermost caller to the one that ran, separated by semicolons, a blank, and
/// the number of samples; `_[k]` marks the kernel's. The format of `stackcollapse`, which
/// flamegraph.pl, inferno and speedscope read.
pub fn folded(profile: &Profile) -> String {
    let mut lines = String::new();
    for stack in &profile.stacks {
        let names = profile.frames_of(stack).map(|frame| {
            let name = Text::from(&frame.function).replace(';', ":");
            if frame.kernel { format!("{name}_[k]") } else { name }
        });
        // Writing to a string cannot fail.
        let _ = writeln!(lines, "{} {}", joined(names, ";"), stack.samples);
    }
    lines
}

/// Returns the changes from one profile to another: by module, then by function.
pub fn profile_comparison(compared: &ProfileComparison, from: &str, to: &str) -> Document {
    let mut section = Section::new("");
    section.line(format!("A: {from} ({}): {}", compared.a.target, used(&compared.a)));
    section.line(format!("B: {to} ({}): {}", compared.b.target, used(&compared.b)));
    section.note(
        "Differences are B minus A, in percentage points of each profile's own samples and in \
         CPU seconds. The 95 % intervals follow from the number of samples. \"Beyond error\" \
         names the differences (time, share) that sampling error alone does not explain (exact \
         tests, adjusted by Holm over the table). Variation from run to run is not included.",
    );
    if compared.a.hz.to_bits() != compared.b.hz.to_bits() {
        section.note("The profiles have different sampling rates; the seconds account for this.");
    }
    let mut sections = vec![section];
    sections.extend([
        changes("By module", &compared.modules, compared),
        changes("By function", &compared.functions, compared),
    ]);
    for (label, side) in [("A", &compared.a), ("B", &compared.b)] {
        if let Some(mut section) = missing(&side.missing) {
            section.heading = format!("Not visible in {label}").into();
            sections.push(section);
        }
    }
    Document { title: format!("{from} against {to}: CPU time").into(), sections }
}

fn changes(heading: &str, changes: &[Change], compared: &ProfileComparison) -> Section {
    let mut section = Section::new(heading);
    if changes.is_empty() {
        section.note("Neither profile has samples.");
        return section;
    }
    let by_module = heading == "By module";
    let mut table = Columns::for_rows(changes.iter().take(ROWS_MAX));
    table.right("A time", |change| Cell::seconds(change.a.seconds));
    table.right("B time", |change| Cell::seconds(change.b.seconds));
    table.left("Difference [95 %]", |change| {
        let tone = match change.seconds {
            Difference { is_beyond: false, .. } => Tone::Plain,
            Difference { value, .. } if value > 0.0 => Tone::Bad,
            Difference { .. } => Tone::Good,
        };
        Cell::new(format!("{} s", with_interval(&change.seconds, 1.0, 2)), tone)
    });
    table.right("A share", |change| Cell::percent(change.a.share, 1)).optional(2);
    table.right("B share", |change| Cell::percent(change.b.share, 1)).optional(2);
    table.left("Points [95 %]", |change| with_interval(&change.share, 100.0, 1)).optional(1);
    table.left("Beyond error", |change| match (change.seconds.is_beyond, change.share.is_beyond) {
        (true, true) => Some("time, share"),
        (true, false) => Some("time"),
        (false, true) => Some("share"),
        (false, false) => None,
    });
    if by_module {
        table.name("Module", |change| &change.module);
        table.left("Mode", |change| mode(change.kernel));
    } else {
        table.name("Function", |change| change.function.as_ref());
        table.name("Module", |change| &change.module);
    }
    section.table(table);
    section.note_more(changes.len().saturating_sub(ROWS_MAX));
    let total = compared.b.all.seconds - compared.a.all.seconds;
    section.note(format!("Total: {} s.", number::signed(total, 2)));
    section
}

/// `+1.30 [0.90, 1.70]`.
fn with_interval(difference: &Difference, factor: f64, decimals: usize) -> String {
    let fixed = |value: f64| number::fixed(factor * value, decimals);
    let Difference { value, interval, .. } = difference;
    format!(
        "{} [{}, {}]",
        number::signed(factor * value, decimals),
        fixed(interval.low),
        fixed(interval.high)
    )
}
