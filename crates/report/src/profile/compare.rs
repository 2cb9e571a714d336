//! Two profiles side by side.

use super::{ROWS_MAX, missing, mode, more, used};
use crate::model::{Cell, Columns, Document, Section, Tone};
use crate::number;
use analysis::ProfileComparison;
use analysis::profile::compare::{Change, Difference};

/// What changed from one profile to another: by module, then by function.
pub fn profile_comparison(compared: &ProfileComparison, from: &str, to: &str) -> Document {
    let mut section = Section::new("");
    section.line(format!("A: {from} ({}): {}", compared.a.target, used(&compared.a)));
    section.line(format!("B: {to} ({}): {}", compared.b.target, used(&compared.b)));
    section.note(
        "Differences are B less A, in percent points of each profile's own samples and in processor seconds, with 95 % \
         intervals from the number of samples. \"Beyond error\" says which of the two sampling alone does not explain \
         (exact tests, corrected by Holm over the table); what varies from run to run comes on top.",
    );
    if compared.a.hz.to_bits() != compared.b.hz.to_bits() {
        section.note("The profiles were sampled at different rates; seconds take that into account.");
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
