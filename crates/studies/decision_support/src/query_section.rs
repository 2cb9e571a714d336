//! The tables of reports with the time of each query by CPU and wait.

use crate::analysis::DecisionSupportFigures;
use crate::query_times::{Event, QueryTime, TimePart, UNACCOUNTED, WaitChange, WaitChanges};
use analysis::response::distinct;
use analysis::{Estimate, Summary};
use observations::order;
use report::text::label;
use report::{Cell, Column, Columns, Section, number};
use std::cmp::Reverse;

/// The least share of a query's time that a wait event in the table has.
const SHARE_MIN: f64 = 0.01;

/// The text of a time that was not seen, which is not zero.
const NOT_SEEN: &str = "not seen";

/// A query of a configuration.
#[derive(Clone, Copy)]
struct Row<'a> {
    configuration: &'a str,
    figures: &'a QueryTime,
}

/// A wait event of a query of a configuration.
#[derive(Clone, Copy)]
struct EventRow<'a> {
    query: Row<'a>,
    event: &'a Event,
}

/// Adds the tables of power runs to a section, and the reasons where a run has no such table.
pub fn times(section: &mut Section, all: &[DecisionSupportFigures]) {
    for times in all {
        if let Some(why) = times.no_waits {
            let name = label(&times.configuration);
            section.line(format!("Waits of single queries ({name}): not known; {why}."));
        }
    }
    let rows: Vec<Row<'_>> = all
        .iter()
        .filter_map(|times_of| Some((times_of.configuration.as_str(), times_of.waits.as_ref()?)))
        .flat_map(|(configuration, times)| {
            times.queries.iter().map(move |query| Row { configuration, figures: query })
        })
        .collect();
    if rows.is_empty() {
        return;
    }
    parts_table(section, &rows);
    events_table(section, &rows);
    for times_of in all {
        let undivided = times_of.waits.iter().flat_map(|times| &times.undivided);
        let named: Vec<String> = undivided
            .map(|wait| format!("{} {}", wait.event, number::seconds(wait.mean_s)))
            .collect();
        if !named.is_empty() {
            section.line(format!(
                "{}: the server counted waits that no sample saw; they are in no query: {}.",
                label(&times_of.configuration),
                named.join(", ")
            ));
        }
    }
}

/// A row for each query: its time, and the parts of it.
fn parts_table(section: &mut Section, rows: &[Row<'_>]) {
    let named = || rows.iter().flat_map(|row| &row.figures.parts);
    let names = distinct(named().map(|part| part.name).filter(|name| *name != UNACCOUNTED));
    // Where there is no room, the classes with the least time are left out first.
    let total_s = |name: &str| -> f64 {
        let parts = named().filter(|part| part.name == name);
        parts.filter_map(|part| Some(part.time.as_ref()?.mean)).sum()
    };
    let mut by_time = names.clone();
    order::largest_first(&mut by_time, &|row| total_s(row));
    let mut table = Columns::for_rows(rows.to_vec());
    table.name("configuration", |row| label(row.configuration).to_owned());
    table.left("query", |row| row.figures.query.clone());
    table.left("time s", |row| estimate(row.figures.time.as_ref()));
    for name in names.into_iter().chain([UNACCOUNTED]) {
        let rank = by_time.iter().position(|time| *time == name).unwrap_or(by_time.len());
        let column = table.with(Column::left(format!("{name} s")), move |row| {
            let part = row.figures.parts.iter().find(|part| part.name == name);
            part.map_or_else(|| Cell::from(NOT_SEEN), |part| part_cell(row.figures, part))
        });
        // The first three always stay.
        column.optional(rank.saturating_sub(2).min(usize::from(u8::MAX)) as u8);
    }
    section.table(table);
    section.note(
        "Seconds a run of each query in a power run, with 95 % intervals over blocks: the parts \
         sum to the time. Less than (<): samples saw none, and would have missed at most that. \
         Not seen: none was counted, or the query is shorter than what samples see. The time \
         contains the pause behind the query in which its waits were read: it is in the class \
         client. That pause is in the elapsed time of the run and not in the latency of a query.",
    );
}

/// The text of a part that was not seen says so: nothing seen is not zero.
fn part_cell(query: &QueryTime, part: &TimePart) -> Cell {
    if let Some(time) = &part.time {
        return Cell::estimate_without_unit(time);
    }
    let time_s = query.time.as_ref().map_or(0.0, |time| time.mean);
    match part.below_s {
        Some(below_s) if below_s < time_s => Cell::from(format!("<{}", number::figure(below_s))),
        _ => Cell::from(NOT_SEEN),
    }
}

fn estimate(estimate: Option<&Estimate>) -> Cell {
    estimate.map_or_else(Cell::default, Cell::estimate_without_unit)
}

/// A row for each wait event that takes a part of a query.
fn events_table(section: &mut Section, rows: &[Row<'_>]) {
    let events: Vec<EventRow<'_>> = rows
        .iter()
        .flat_map(|query| {
            query.figures.events.iter().map(move |event| EventRow { query: *query, event })
        })
        .filter(|row| row.event.share >= SHARE_MIN && row.event.class != "client")
        .collect();
    if events.is_empty() {
        return;
    }
    let mut table = Columns::for_rows(events);
    table.name("configuration", |row| label(row.query.configuration).to_owned());
    table.left("query", |row| row.query.figures.query.clone());
    table.name("wait", |row| row.event.event.clone());
    table.left("class", |row| row.event.class);
    table.left("s a run", |row| Cell::estimate_without_unit(&row.event.time));
    table.right("% of the query", |row| number::fixed(100.0 * row.event.share, 1));
    section.table(table);
    section.note("Waits that take at least 1 % of a query, without those for the client.");
}

/// The section of queries whose waits differ; `None` where nothing was compared.
pub fn changes(_: &Summary, found: Option<&WaitChanges>) -> Option<Section> {
    let found = found?;
    let mut section = Section::new("Queries whose waits differ");
    let tested = number::count(found.tested as u64);
    if found.differ.is_empty() {
        section.line(format!(
            "No significant difference of CPU time or waits of a query ({tested} comparisons)."
        ));
        return Some(section);
    }
    let mut rows: Vec<&WaitChange> = found.differ.iter().collect();
    order::by_key(&mut rows, &|row| (row.index, Reverse((row.difference.mean.abs() * 1e9) as u64)));
    let mut table = Columns::for_rows(rows);
    table.name("configuration", |row| label(&row.configuration).to_owned());
    table.left("query", |row| row.query.clone());
    table.left("part", |row| row.part);
    table.left("before s", |row| side(row.times[0].as_ref()));
    table.left("here s", |row| side(row.times[1].as_ref()));
    table.left("difference s", |row| Cell::estimate_without_unit(&row.difference));
    table.right("adjusted p", |row| number::p_value(row.adjusted_p));
    section.table(table);
    let reference = found.differ.first().map_or("", |change| change.reference.as_str());
    section.note(format!(
        "Seconds a run, before: {}. Differences by paired blocks with 95 % intervals; p-values are \
         adjusted for all {tested} comparisons of queries, CPU time and classes of waits (Holm). \
         A part that is not listed does not differ significantly.",
        label(reference)
    ));
    Some(section)
}

fn side(estimate: Option<&Estimate>) -> Cell {
    estimate.map_or_else(|| Cell::from(NOT_SEEN), Cell::estimate_without_unit)
}
