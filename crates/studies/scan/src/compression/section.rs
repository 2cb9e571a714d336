//! Costs and savings of compression: sizes, CPU time and elapsed time, the functions behind them,
//! and the break-even.

use super::analysis::{BreakEven, Compression, CompressionRow, Limit, StoredAs, StoredColumn};
use analysis::Summary;
use report::Cell;
use report::number;
use report::text::joined;
use report::{Column, Columns, Section, Tone};

/// A section for each data set or engine.
pub fn sections(_: &Summary, all: &[Compression]) -> Vec<Section> {
    all.iter().map(section).collect()
}

fn section(compression: &Compression) -> Section {
    let mut section = Section::about("Compression", &compression.group);
    let mut table = Columns::for_rows(&compression.rows);
    table.name("level", |row| row.level.as_str());
    table.name("work", |row| row.work.as_str());
    table.left("figure", |row| format!("{}, {}", row.figure, row.estimate.unit));
    table
        .left(compression.reference.clone(), |row| Cell::estimate_without_unit(&row.reference))
        .optional(1);
    table.left("level's", |row| Cell::estimate_without_unit(&row.estimate)).optional(1);
    table.left("ratio", |row| ratio(row));
    section.table(table);
    compression.rows.iter().for_each(|row| functions(&mut section, row));
    section.note(format!(
        "Ratio: relative to {}; grey where it does not differ significantly from 1 (Holm over \
         the table). CPU time covers sessions and the processes that work for them{}.",
        compression.reference,
        if compression.rows.iter().any(|row| row.figure.starts_with("of it")) {
            ", and all kernel threads during the trial, including work other than the file \
             system's compression"
        } else {
            ""
        }
    ));
    columns(&mut section, &compression.columns);
    for pays in &compression.break_even {
        break_even(&mut section, pays, &compression.reference);
    }
    if !compression.break_even.is_empty() {
        section.note(
            "Computed for a scan on one CPU. In sequence: bytes / bandwidth plus CPU time; \
             overlapped: the longer of the two. Intervals are those of the CPU time; sizes are \
             assumed exact.",
        );
    }
    section
}

/// Less is better of all that is shown here.
fn ratio(row: &CompressionRow) -> Cell {
    let tone = match row.ratio.supported() {
        false => Tone::Muted,
        true if row.ratio.is_better() => Tone::Bad,
        true => Tone::Good,
    };
    Cell::comparison(&row.ratio, &row.estimate.unit).toned(tone)
}

/// A column of the table for each level: `FSST, Dictionary: 12.3 MB`.
fn columns(section: &mut Section, all: &[StoredColumn]) {
    let Some(first) = all.first() else { return };
    let mut table = Columns::for_rows(all);
    table.name("column", |row| row.column.as_str());
    for (at, level) in first.levels.iter().enumerate() {
        table.with(Column::left(level.level.clone()), move |row| match &row.levels[at] {
            StoredAs { methods, .. } if methods.is_empty() => String::new(),
            StoredAs { methods, bytes, .. } => {
                format!("{}: {}", methods.join(", "), number::quantity(bytes / 1e6, "MB"))
            }
        });
    }
    section.table(table);
    section.note(
        "Columns with the engine's compression methods, most bytes first. Column sizes are \
         estimated from where segments begin in their blocks: free space at the end of a block \
         counts to the segment before it.",
    );
}

/// `zstd, work=hot scan: processor time changes most in ZSTD_decompress (libduckdb.so) +0.42 us/row
/// [0.40, 0.44].`
fn functions(section: &mut Section, row: &CompressionRow) {
    if !row.functions.is_empty() {
        let all = joined(
            row.functions.iter().map(|function| {
                let sign = if function.change > 0.0 { "+" } else { "" };
                let change =
                    number::difference(function.change, function.interval, &row.estimate.unit);
                format!("{} ({}) {sign}{change}", shortened(&function.function), function.module)
            }),
            "; ",
        );
        section.line(format!("{}: CPU time changes most in {all}.", place(&row.level, &row.work)));
    }
}

/// A function without its parameters, where there are many.
fn shortened(function: &str) -> &str {
    match function.split_once('(') {
        Some((name, _)) if function.len() > 60 && !name.is_empty() => name,
        _ => function,
    }
}

fn place(level: &str, work: &str) -> String {
    if work.is_empty() { level.to_owned() } else { format!("{level}, {work}") }
}

fn break_even(section: &mut Section, break_even: &BreakEven, reference: &str) {
    let [before, after] = break_even.read_mb.map(|mb| number::quantity(mb, "MB"));
    section.line(format!(
        "{}: break-even of a scan that reads {after} instead of {before} and takes {} of CPU \
         time, {} than {reference}:",
        place(&break_even.level, &break_even.work),
        number::quantity(break_even.cpu_s, "s"),
        if break_even.more_cpu_s > 0.0 {
            format!("{} more", number::quantity(break_even.more_cpu_s, "s"))
        } else {
            format!("{} less", number::quantity(-break_even.more_cpu_s, "s"))
        },
    ));
    section.detail(format!(
        "reading and computing in sequence: compression pays off {}",
        disks(&break_even.in_turns)
    ));
    section.detail(format!(
        "reading and computing overlapped: compression pays off {}",
        disks(&break_even.overlapped)
    ));
}

/// `below 497 MB/s [464, 542]`; `on any disk`; `below 600 MB/s, from 200 MB/s on it cannot be
/// told`.
fn disks(limit: &Limit) -> String {
    let mb_s = |value: f64| number::quantity(value, "MB/s");
    let Some(below) = limit.below_mb_s else {
        return match limit.low_mb_s {
            Some(low) => format!("on any disk; significant only below {}", mb_s(low)),
            None if limit.has_interval => "on any disk".into(),
            None => "on any disk (one block only)".into(),
        };
    };
    match (limit.low_mb_s, limit.high_mb_s) {
        (Some(low), Some(high)) => {
            format!("below {} [{}, {}]", mb_s(below), number::figure(low), number::figure(high))
        }
        (Some(low), None) => {
            format!(
                "below {}, significant only below {}: the CPU cost may be zero",
                mb_s(below),
                mb_s(low)
            )
        }
        _ => format!("below {} (one block only)", mb_s(below)),
    }
}
