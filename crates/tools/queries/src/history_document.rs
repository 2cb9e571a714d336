//! A server's statements over many intervals: what changed, and since when.

use crate::document::{left_out, on_both};
use crate::history::{StatementChange, StatementHistory, StatementSeries};
use analysis::runs::Verdict;
use observations::number::plural;
use report::model::{Cell, Columns, Document, Section, Tone};
use report::number;
use report::text::{joined, one_line, utc, utc_second};
use report::{sparkline, tone};

/// Notes that are repeated from the intervals.
const NOTES: usize = 10;
/// Characters of a statement in the line that names it.
const TEXT: usize = 100;

/// The times of a server's statements, interval after interval, and their changes.
pub fn statement_history(history: &StatementHistory) -> Document {
    let mut sections = vec![introduction(history)];
    sections.extend(on_both(|rows| Some(changes(history, rows))));
    sections.extend(on_both(|rows| statements(history, rows)));
    Document { title: format!("{}: statements over time", history.server).into(), sections }
}

fn introduction(history: &StatementHistory) -> Section {
    let mut section = Section::new("");
    let (first, last) = (history.intervals.first(), history.intervals.last());
    if let Some((first, last)) = first.zip(last) {
        section.line(format!(
            "{} of {}, {} to {}.",
            plural(history.intervals.len(), "interval"),
            history.address,
            utc(first.from_ms),
            utc(last.to_ms)
        ));
    }
    let unobserved_s = history.unobserved_s();
    if unobserved_s > 0.0 {
        section.warn(format!("Between them {} were not observed.", number::seconds(unobserved_s)));
    }
    let evicted: u64 =
        history.intervals.iter().filter_map(|one| one.evictions).fold(0, u64::saturating_add);
    if evicted > 0 {
        let times = number::count(evicted);
        section.warn(format!(
            "The server forgot statements to make room for others ({times} times): what they did \
             is not in these figures."
        ));
    }
    let notes =
        history.intervals.iter().flat_map(|one| one.notes.iter().map(move |note| (one, note)));
    let (shown, more) = (notes.clone().take(NOTES), notes.count().saturating_sub(NOTES));
    for (interval, note) in shown {
        section.note(format!("{}: {note}", utc_second(interval.from_ms)));
    }
    if more > 0 {
        section.note(format!("{more} more notes: --json has them."));
    }
    section
}

fn changes(history: &StatementHistory, rows: usize) -> Section {
    let mut section = Section::new("What changed");
    for change in history.changes.iter().take(rows) {
        said(&mut section, history, change);
    }
    left_out(&mut section, history.changes.len(), rows);
    if history.changes.is_empty() {
        section.line("No plan, and no time by 10 % or more that can be told from chance.");
    }
    if history.intervals.len() < 8 {
        section.note(
            "With fewer than 8 intervals no change of time without one of plan can be told from \
             chance.",
        );
    }
    section.note(
        "Plans were made anew at the end of each interval; they are not what ran. The time before \
         and since a change of plan is compared without the interval in which it changed. Other \
         changes of time are found by E-divisive over the means of intervals, and named if they \
         are 10 % or more and, of all places in all statements together, chance shows one in at \
         most 5 % of histories. Above 1x is better; [low, high]: 95 % interval. A change that \
         most statements share is one of the machine or its load.",
    );
    section
}

fn said(section: &mut Section, history: &StatementHistory, change: &StatementChange) {
    let statement = &history.statements[change.statement];
    let what = match (change.plans, change.verdict) {
        (Some(_), Verdict::Worse) => "regression, plan changed",
        (Some(_), Verdict::Better) => "improvement, plan changed",
        (Some(_), _) => "plan changed",
        (None, Verdict::Worse) => "regression",
        (None, _) => "improvement",
    };
    section.toned(format!("{what}: {}", one_line(&statement.text, TEXT)), tone_of(change));
    let (before, after) = change.mean_s;
    let word = match change.verdict {
        Verdict::NotSeen => ", no difference of time that can be seen",
        Verdict::Unknown => ", too few intervals to tell whether the time did",
        _ => "",
    };
    let figure = change.comparison.as_ref().filter(|one| one.interval.is_some());
    let figure =
        figure.map(|one| format!(", {}", number::comparison(one, "s"))).unwrap_or_default();
    section.indented(
        3,
        format!(
            "since {}: {} -> {} a run{figure}{word}",
            utc_second(change.since_ms),
            number::seconds(before),
            number::seconds(after)
        ),
        Tone::Plain,
    );
    if let Some((before, after)) = change.work {
        let unit = if history.has_pages { "pages" } else { "rows read" };
        let (before, after) = (number::figure(before), number::figure(after));
        section.indented(3, format!("{unit} a run: {before} -> {after}"), Tone::Plain);
    }
    if let Some((before, after)) = change.plans {
        for (name, plan) in [("before", before), ("since", after)] {
            section.indented(3, format!("plan {name}:"), Tone::Plain);
            for line in history.plans[plan].lines() {
                let depth = line.len() - line.trim_start().len();
                section.indented(6 + depth, line.trim_start(), Tone::Muted);
            }
        }
    }
}

fn tone_of(change: &StatementChange) -> Tone {
    match change.verdict {
        Verdict::NotSeen | Verdict::Unknown => Tone::Warning,
        verdict => tone(verdict),
    }
}

fn statements(history: &StatementHistory, rows: usize) -> Option<Section> {
    let mut section = Section::new("Statements by time");
    let intervals = history.intervals.len();
    let mut columns =
        Columns::for_rows(history.statements.iter().enumerate().take(rows).collect::<Vec<_>>());
    columns.right("time", |(_, one)| Cell::seconds(one.time_s));
    columns.right("calls", |(_, one)| Cell::count(one.calls));
    columns.left("mean over time", move |(_, one)| sparkline(&means(one, intervals))).optional = 1;
    columns
        .right("first", |(_, one)| one.points.first().map(|point| Cell::seconds(point.mean_s())))
        .optional = 2;
    columns
        .right("latest", |(_, one)| one.points.last().map(|point| Cell::seconds(point.mean_s())));
    let changes: Vec<usize> = (0..history.statements.len())
        .map(|at| history.changes.iter().filter(|change| change.statement == at).count())
        .collect();
    columns.right("changes", move |(at, _)| match changes[*at] {
        0 => Cell::new("none", Tone::Muted),
        some => Cell::from(some),
    });
    columns.name("statement", |(_, one)| joined(one.text.split_whitespace(), " "));
    section.table(columns);
    left_out(&mut section, history.statements.len(), rows);
    section.note("mean over time: of a run, from the smallest to the largest, not from zero.");
    Some(section).filter(|_| !history.statements.is_empty())
}

fn means(series: &StatementSeries, intervals: usize) -> Vec<Option<f64>> {
    let mut means = vec![None; intervals];
    for point in &series.points {
        means[point.interval] = Some(point.mean_s());
    }
    means
}
