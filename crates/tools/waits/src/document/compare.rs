//! Two observations of a server: what sessions wait for more, or less.

use crate::summary::{ActivityComparison, Load, Tendency, WaitChange};
use report::model::{Cell, Columns, Document, Section, Tone};
use report::{number, text};

/// Rows of what the server counted.
const OPERATIONS: usize = 15;

/// Two observations side by side.
pub fn compared_activities(compared: &ActivityComparison) -> Document {
    let mut about = Section::new("");
    for (name, load) in [("Before", &compared.from), ("After", &compared.to)] {
        about.line(format!("{name}: {}", observed(load)));
        if let Some(why) = &load.ended {
            about.warn(format!("It ended early: {why}."));
        }
    }
    if compared.from.server != compared.to.server {
        about.warn("Server versions differ: names and meanings of waits differ between versions.");
    }
    about.line(busy(&compared.busy));
    let mut sections = vec![about, waits(compared)];
    sections.extend(operations(compared));
    Document { title: "Waits before and after".into(), sections }
}

fn observed(load: &Load) -> String {
    let (when, elapsed) = (text::utc(load.started_ms), number::seconds(load.elapsed_s));
    format!("{} at {} on {when}, {elapsed}", load.server, load.address)
}

fn busy(busy: &WaitChange) -> String {
    let (from, to) = (number::figure(busy.from), number::figure(busy.to));
    let change = match busy.tendency {
        Tendency::More | Tendency::Fewer => format!("changed by {}", change(busy)),
        Tendency::NotSeen => format!("no significant change: {}", change(busy)),
        Tendency::Unknown => "too little data to detect a change".to_owned(),
    };
    format!("Busy sessions on average: {from} before, {to} after; {change}.")
}

/// `+1.20 [0.90, 1.50]`.
fn change(wait: &WaitChange) -> String {
    let difference = wait.to - wait.from;
    let sign = if difference > 0.0 { "+" } else { "" };
    format!("{sign}{}", number::difference(difference, wait.interval, ""))
}

fn waits(compared: &ActivityComparison) -> Section {
    let mut section = Section::new("Mean number of sessions in each wait");
    let mut table = Columns::for_rows(&compared.waits);
    table.name("Wait type", |wait| wait.wait_type.as_deref().unwrap_or("(no wait)"));
    table.left("Class", |wait| wait.class.map(observations::WaitClass::name)).optional(1);
    table.right("Before", |wait| Cell::from(wait.from).shown(number::figure(wait.from)));
    table.right("After", |wait| Cell::from(wait.to).shown(number::figure(wait.to)));
    table.left("Change", |wait| {
        Cell::from(wait.to - wait.from).within(wait.interval).shown(change(wait))
    });
    table.left("", |wait| match wait.tendency {
        Tendency::More => Cell::new("more", Tone::Bad),
        Tendency::Fewer => Cell::new("fewer", Tone::Good),
        Tendency::NotSeen => Cell::new("not significant", Tone::Muted),
        Tendency::Unknown => Cell::new("unknown", Tone::Muted),
    });
    section.table(table);
    let parts = [compared.from.parts, compared.to.parts];
    if compared.waits.iter().all(|wait| wait.interval.is_none()) {
        section.note(
            "No intervals: an observation was shorter than about 8 s, or the server itself took \
             the samples.",
        );
        return section;
    }
    section.note(format!(
        "In brackets: 95 % intervals (Welch's t). {} parts of the first observation and {} of \
         the second serve as repeats, corrected for autocorrelation. \"More\" and \"fewer\" mark \
         differences that are significant after Holm's correction over the wait types. Changes \
         slower than an observation, such as the time of day, look like an effect of the change: \
         observe several times.",
        parts[0], parts[1]
    ));
    section
}

/// Fewer waits can also mean less work.
fn operations(compared: &ActivityComparison) -> Option<Section> {
    if compared.operations.is_empty() {
        return None;
    }
    let mut section = Section::new("Counted by the server, per second");
    let mut table = Columns::for_rows(compared.operations.iter().take(OPERATIONS));
    table.name("Operation", |row| &row.name);
    table.right("Before", |row| Cell::from(row.from_per_s).shown(number::figure(row.from_per_s)));
    table.right("After", |row| Cell::from(row.to_per_s).shown(number::figure(row.to_per_s)));
    section.table(table);
    section.note_more(compared.operations.len().saturating_sub(OPERATIONS));
    section.note("The server's work: with less work sessions also wait less.");
    Some(section)
}
