//! A server's statements over many intervals: what changed, and since when.

use crate::document::{left_out, on_both};
use crate::history::{SampledWait, StatementChange, StatementHistory, StatementSeries};
use analysis::Verdict;
use observations::number::plural;
use report::model::{Cell, Column, Columns, Document, Section, Tone};
use report::number;
use report::text::{joined, one_line, utc, utc_second};
use report::{sparkline, tone};

/// Notes that are repeated from the intervals.
const NOTES: usize = 10;
/// Waits that are listed of a statement.
const WAITS: usize = 5;
/// Characters of a statement in the line that names it.
const TEXT: usize = 100;

/// The times of a server's statements, interval after interval, and their changes.
pub(crate) fn statement_history(history: &StatementHistory) -> Document {
    let mut sections = vec![introduction(history)];
    sections.extend(on_both(|rows| Some(changes(history, rows))));
    sections.extend(on_both(|rows| statements(history, rows)));
    Document { title: format!("{}: statements over time", history.server).into(), sections }
}

/// Statements that became slower with another plan, as soon as that is known.
pub(crate) fn plan_regressions(history: &StatementHistory) -> Document {
    let mut section = Section::new("");
    for change in &history.changes {
        add_change(&mut section, history, change);
    }
    section.note(
        "Steelbench compares the times before and since after each interval; over many intervals \
         some differences appear by chance. `history` has all changes.",
    );
    Document { title: "Slower with another plan".into(), sections: vec![section] }
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
        section.warn(format!(
            "{} between the intervals were not observed.",
            number::seconds(unobserved_s)
        ));
    }
    let evicted: u64 = history
        .intervals
        .iter()
        .filter_map(|interval| interval.evictions)
        .fold(0, u64::saturating_add);
    if evicted > 0 {
        let times = number::count(evicted);
        section.warn(format!(
            "The server evicted statements ({times} times); these figures lack their work."
        ));
    }
    let notes = history
        .intervals
        .iter()
        .flat_map(|interval| interval.notes.iter().map(move |note| (interval, note)));
    let (shown, more) = (notes.clone().take(NOTES), notes.count().saturating_sub(NOTES));
    for (interval, note) in shown {
        section.note(format!("{}: {note}", utc_second(interval.from_ms)));
    }
    if more > 0 {
        section.note(format!("{more} more notes in --json."));
    }
    section
}

fn changes(history: &StatementHistory, rows: usize) -> Section {
    let mut section = Section::new("Changes");
    for change in history.changes.iter().take(rows) {
        add_change(&mut section, history, change);
    }
    left_out(&mut section, history.changes.len(), rows);
    if history.changes.is_empty() {
        section.line("No plan changed, and no time changed significantly by 10 % or more.");
    }
    if history.intervals.len() < 8 {
        section.note(
            "Too few intervals (fewer than 8) to detect a change in time unless the plan changed \
             too.",
        );
    }
    section.note(
        "Statements are re-explained at the end of each interval; these plans are not the \
         executed ones. The times before and after a plan change are compared without the \
         interval of the change. E-divisive finds other time changes in the interval means. They \
         are listed if they reach 10 % and are significant: at most 5 % of histories show one by \
         chance in any statement. Above 1x is better; [low, high]: 95 % interval. A change \
         shared by most statements comes from the machine or its load.",
    );
    section
}

fn add_change(section: &mut Section, history: &StatementHistory, change: &StatementChange) {
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
        Verdict::NotSeen => ", no significant difference in time",
        Verdict::Unknown => ", too few intervals to compare the times",
        _ => "",
    };
    let figure = change.comparison.as_ref().filter(|comparison| comparison.interval.is_some());
    let figure =
        figure.map(|figure| format!(", {}", number::comparison(figure, "s"))).unwrap_or_default();
    let mut lines = vec![format!(
        "since {}: {} -> {} a run{figure}{word}",
        utc_second(change.since_ms),
        number::seconds(before),
        number::seconds(after)
    )];
    if let Some((before, after)) = change.work {
        let unit = if history.has_pages { "pages" } else { "rows read" };
        let (before, after) = (number::figure(before), number::figure(after));
        lines.push(format!("{unit} a run: {before} -> {after}"));
    }
    let (before, since) = &change.waits;
    if !before.is_empty() || !since.is_empty() {
        lines.push(format!("sampled before: {}", sampled(before)));
        lines.push(format!("sampled since: {}", sampled(since)));
    }
    for line in lines {
        section.indented(3, line, Tone::Plain);
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

/// The most frequent waits of samples: `CPU 12, IO:DataFileRead 8 of 20 samples`.
fn sampled(waits: &[SampledWait]) -> String {
    let all: u64 = waits.iter().map(|wait| wait.samples).sum();
    if all == 0 {
        return "not seen running".to_owned();
    }
    let each = waits.iter().take(WAITS).map(|wait| format!("{} {}", wait.wait, wait.samples));
    format!("{} of {}", joined(each, ", "), plural(all as usize, "sample"))
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
    columns.right("time", |(_, statement)| Cell::seconds(statement.time_s));
    columns.right("calls", |(_, statement)| Cell::count(statement.calls));
    columns
        .with(Column::left("mean over time"), move |(_, statement)| {
            sparkline(&means(statement, intervals))
        })
        .optional = 1;
    columns
        .right("first", |(_, statement)| {
            statement.points.first().map(|point| Cell::seconds(point.mean_s()))
        })
        .optional = 2;
    columns.right("latest", |(_, statement)| {
        statement.points.last().map(|point| Cell::seconds(point.mean_s()))
    });
    let changes: Vec<usize> = (0..history.statements.len())
        .map(|at| history.changes.iter().filter(|change| change.statement == at).count())
        .collect();
    columns.with(Column::right("changes"), move |(at, _)| match changes[*at] {
        0 => Cell::new("none", Tone::Muted),
        some => Cell::from(some),
    });
    columns.with(Column::statement("statement"), |(_, entry)| one_line(&entry.text, usize::MAX));
    section.table(columns);
    left_out(&mut section, history.statements.len(), rows);
    section.note(
        "mean over time: mean time of a run; the scale spans the smallest to the \
                  largest value, not from zero.",
    );
    (!history.statements.is_empty()).then_some(section)
}

fn means(series: &StatementSeries, intervals: usize) -> Vec<Option<f64>> {
    let mut means = vec![None; intervals];
    for point in &series.points {
        means[point.interval] = Some(point.mean_s());
    }
    means
}
