//! Two profiles side by side.

use super::{ROWS_MAX, missing, mode, more, used};
use crate::model::{Cell, Column, Document, Section, Table, Tone};
use crate::number;
use analysis::ProfileComparison;
use analysis::profile::compare::{Change, Difference};

/// What changed from one profile to another: by module, then by function.
pub fn profile_comparison(compared: &ProfileComparison, from: &str, to: &str) -> Document {
    let mut section = Section::new("");
    section.line(format!("A: {from} ({}): {}", compared.a.target, used(&compared.a)));
    section.line(format!("B: {to} ({}): {}", compared.b.target, used(&compared.b)));
    section.toned(
        "Differences are B less A, in percent points of each profile's own samples and in processor seconds, with 95 % \
         intervals from the number of samples. \"Beyond error\" says which of the two sampling alone does not explain \
         (exact tests, corrected by Holm over the table); what varies from run to run comes on top.",
        Tone::Muted,
    );
    if compared.a.hz.to_bits() != compared.b.hz.to_bits() {
        section.toned(
            "The profiles were sampled at different rates; seconds take that into account.",
            Tone::Muted,
        );
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
        section.toned("Neither profile has a sample.", Tone::Muted);
        return section;
    }
    let rows = changes.iter().take(ROWS_MAX).map(row);
    let mut columns = vec![
        Column::right("A time"),
        Column::right("B time"),
        Column::left("Difference [95 %]"),
        Column::right("A share").optional(2),
        Column::right("B share").optional(2),
        Column::left("Points [95 %]").optional(1),
        Column::left("Beyond error"),
        Column::name(if heading == "By module" { "Module" } else { "Function" }),
    ];
    columns.push(if heading == "By module" { Column::left("Mode") } else { Column::name("Module") });
    section.table(Table { columns, rows: rows.collect(), fixed: false });
    more(&mut section, changes.len().saturating_sub(ROWS_MAX));
    let total = compared.b.all.seconds - compared.a.all.seconds;
    section.toned(format!("All together: {} s.", number::signed(total, 2)), Tone::Muted);
    section
}

fn row(change: &Change) -> Vec<Cell> {
    let tone = match change.seconds {
        Difference { is_beyond: false, .. } => Tone::Plain,
        Difference { value, .. } if value > 0.0 => Tone::Bad,
        Difference { .. } => Tone::Good,
    };
    let beyond = match (change.seconds.is_beyond, change.share.is_beyond) {
        (true, true) => "time, share",
        (true, false) => "time",
        (false, true) => "share",
        (false, false) => "-",
    };
    let (name, of) = match &change.function {
        Some(function) => (function.as_str(), change.module.as_str()),
        None => (change.module.as_str(), mode(change.kernel)),
    };
    vec![
        Cell::plain(number::seconds(change.a.seconds)),
        Cell::plain(number::seconds(change.b.seconds)),
        Cell::new(format!("{} s", with_interval(&change.seconds, 1.0, 2)), tone),
        Cell::plain(number::percent(change.a.share, 1)),
        Cell::plain(number::percent(change.b.share, 1)),
        Cell::plain(with_interval(&change.share, 100.0, 1)),
        Cell::plain(beyond),
        Cell::plain(name),
        Cell::plain(of),
    ]
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
