//! Where the processor time went: `steelbench profile`.

use crate::model::{Cell, Columns, Document, Section, Tone};
use crate::text::joined;
use crate::{Text, number};
use analysis::profile::compare::{Change, Difference};
use analysis::profile::{FunctionUse, ModuleUse, Sampled, short_module};
use analysis::{Interval, ProfileComparison, ProfileSummary};
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
        "A sample is taken after each {} that a thread is on a processor; waiting leaves none. \
         Collecting them took {} of processor time besides ({} of what was sampled).",
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
        "Callers are known where programs keep frame pointers; where they do not, the stack ends \
         early.",
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

/// What changed from one profile to another: by module, then by function.
pub fn profile_comparison(compared: &ProfileComparison, from: &str, to: &str) -> Document {
    let mut section = Section::new("");
    section.line(format!("A: {from} ({}): {}", compared.a.target, used(&compared.a)));
    section.line(format!("B: {to} ({}): {}", compared.b.target, used(&compared.b)));
    section.note(
        "Differences are B less A, in percent points of each profile's own samples and in \
         processor seconds, with 95 % intervals from the number of samples. \"Beyond error\" says \
         which of the two sampling alone does not explain (exact tests, corrected by Holm over \
         the table); what varies from run to run comes on top.",
    );
    if compared.a.hz.to_bits() != compared.b.hz.to_bits() {
        section
            .note("The profiles were sampled at different rates; seconds take that into account.");
    }
    let mut sections = vec![section];
    sections.extend([
        changes("By module", &compared.modules, compared),
        changes("By function", &compared.functions, compared),
    ]);
    for (label, side) in [("A", &compared.a), ("B", &compared.b)] {
        if let Some(mut section) = missing(&side.missing) {
            section.heading = format!("What could not be seen in {label}").into();
            sections.push(section);
        }
    }
    Document { title: format!("{from} against {to}: processor time").into(), sections }
}

fn changes(heading: &str, changes: &[Change], compared: &ProfileComparison) -> Section {
    let mut section = Section::new(heading);
    if changes.is_empty() {
        section.note("Neither profile has a sample.");
        return section;
    }
    let by_module = heading == "By module";
    let mut table = Columns::of(changes.iter().take(ROWS_MAX));
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
    more(&mut section, changes.len().saturating_sub(ROWS_MAX));
    let total = compared.b.all.seconds - compared.a.all.seconds;
    section.note(format!("All together: {} s.", number::signed(total, 2)));
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
