//! Throughput and whatever else was recorded over time: whether it rises, falls or stalls.

use crate::figure::{coordinate, string};
use crate::model::{
    Bar, BarGroup, Block, Cell, Chart, ChartKind, Column, Columns, Figure, Line, Medium, Section,
    Table, Tone,
};
use crate::{number, text};
use analysis::response::distinct;
use analysis::timeline::Timeline;
use analysis::{ConfigurationRow, Standing, Summary};
use observations::{Series, TrialRecord};
use serde_json::{Value, json};
use std::collections::HashMap;

/// With fewer intervals there is no trend to see.
const INTERVALS_MIN: usize = 8;
/// An interval with less than this share of the mean is a stall.
const STALL: f64 = 0.1;

/// For texts the median trial of the baseline and of the best configuration, for pages every trial;
/// of each the stalls.
pub(crate) fn sections(summary: &Summary, timelines: &[Timeline]) -> Vec<Section> {
    let mut sections: Vec<Section> = drawn(timelines).into_iter().collect();
    if summary.done() > 0 {
        sections.extend(recorded(summary));
    }
    let mut stalled = Section::page("Over time: stalls");
    for line in sections.iter().flat_map(|section| &section.blocks) {
        if let Block::Line(Line { text, tone: Tone::Warning, .. }) = line {
            stalled.warn(text.clone());
        }
    }
    sections.extend(stalled.unless_empty());
    sections
}

/// `None` when no trial was long enough to see anything.
fn drawn(timelines: &[Timeline]) -> Option<Section> {
    let first = timelines.first()?;
    if timelines.iter().all(|timeline| timeline.measured().len() < INTERVALS_MIN) {
        return None;
    }
    let shown: Vec<&Timeline> = timelines
        .iter()
        .filter(|timeline| {
            (&timeline.series.name, &timeline.series.unit)
                == (&first.series.name, &first.series.unit)
        })
        .filter(|timeline| !timeline.measured().is_empty())
        .collect();
    let mut section = Section {
        medium: Medium::Text,
        ..Section::new(format!("{} over time", first.series.name))
    };
    let interval = shown.first().map(|timeline| number::seconds(timeline.series.interval_s));
    let intervals = interval.map_or_else(String::new, |interval| format!(", {interval} intervals"));
    section.chart(Chart {
        title: format!("Median trial of each configuration{intervals}").into(),
        unit: first.series.unit.as_str().into(),
        kind: ChartKind::OverTime,
        groups: shown.iter().map(|timeline| group(timeline)).collect(),
    });
    if shown.iter().any(|timeline| timeline.warm_up() > 0) {
        section.note("The warm-up is to the left of the bar.");
    }
    for stalls in shown.into_iter().filter_map(stalls) {
        section.warn(stalls);
    }
    Some(section)
}

fn group(timeline: &Timeline) -> BarGroup {
    let warm_up = timeline.warm_up();
    BarGroup {
        label: format!("{} (block {})", timeline.configuration, timeline.block).into(),
        bars: timeline
            .series
            .values
            .iter()
            .enumerate()
            .map(|(i, value)| {
                let tone = if i < warm_up { Tone::Muted } else { Tone::Plain };
                Bar { value: *value, tone, ..Bar::default() }
            })
            .collect(),
    }
}

fn stalls(timeline: &Timeline) -> Option<String> {
    // The last interval is cut short: connections have ended in it.
    let measured = timeline.measured().split_last()?.1;
    let mean = measured.iter().sum::<f64>() / measured.len() as f64;
    let mut stalled =
        measured.iter().enumerate().filter(|(_, value)| **value < STALL * mean).map(|(i, _)| i);
    let first = stalled.next()? as f64 * timeline.series.interval_s;
    let intervals = number::plural(1 + stalled.count(), "interval");
    Some(format!(
        "{} stalled: {intervals} of {} reached less than a tenth of the mean, the first after {}.",
        timeline.configuration,
        number::count(measured.len() as u64),
        number::seconds(first)
    ))
}

/// Numbers that all series of a report may take; about eight bytes each.
const NUMBERS_MAX: usize = 250_000;
/// A line has no more points than a figure has room for.
const POINTS_MAX: usize = 300;
/// Fewest points of a line, however many trials there are.
const POINTS_MIN: usize = 24;

/// The last interval ends with the trial; when that has cut it to less than this share, its rate is
/// of a moment and is left out.
const LAST_MIN: f64 = 0.1;

/// A series of a trial, and the values of it that are shown.
#[derive(Clone, Copy)]
struct Excerpt<'a> {
    trial: &'a TrialRecord,
    series: &'a Series,
    values: &'a [f64],
}

impl<'a> Excerpt<'a> {
    /// `None` when there is nothing to show.
    fn from_trial(trial: &'a TrialRecord, series: &'a Series, elapsed_s: f64) -> Option<Self> {
        let before_last = series.values.len().checked_sub(1)?;
        let last_s = elapsed_s - series.start_s - before_last as f64 * series.interval_s;
        let kept = before_last + usize::from(last_s >= LAST_MIN * series.interval_s);
        let values = &series.values[..kept];
        (series.interval_s > 0.0 && kept > 0).then_some(Self { trial, series, values })
    }

    /// Without the warm-up.
    fn measured(&self) -> &'a [f64] {
        let warm_up = (-self.series.start_s / self.series.interval_s).round().max(0.0) as usize;
        self.values.get(warm_up..).unwrap_or_default()
    }
}

/// A configuration, and what its trials recorded.
type Row<'a> = (&'a ConfigurationRow, Vec<&'a Excerpt<'a>>);

/// A section a name of series; one that says so when none was recorded.
fn recorded(summary: &Summary) -> Vec<Section> {
    let all: Vec<Excerpt> = summary
        .recording
        .done()
        .flat_map(|(trial, observations)| {
            observations
                .series
                .iter()
                .filter_map(|s| Excerpt::from_trial(trial, s, observations.elapsed_s))
        })
        .collect();
    if all.iter().all(|shown| shown.values.len() < 2) {
        let mut section = Section::page("Over time");
        section.note("No trial lasted longer than one interval, so there is no course over time.");
        return vec![section];
    }
    // A thinned point is three numbers.
    let points = (NUMBERS_MAX / 3 / all.len()).clamp(POINTS_MIN, POINTS_MAX);
    let names = distinct(all.iter().map(|shown| shown.series.name.as_str()));
    let sections = names.into_iter().map(|name| {
        let mut section = Section::page(format!("Over time: {name}"));
        let timelines: Vec<Excerpt> =
            all.iter().filter(|shown| shown.series.name == name).copied().collect();
        section.figure(figure(summary, name, &timelines, points));
        section
    });
    sections.collect()
}

fn figure(summary: &Summary, name: &str, recorded: &[Excerpt], points: usize) -> Figure {
    let unit = recorded.first().map_or("", |shown| shown.series.unit.as_str());
    let mut by_configuration: HashMap<usize, Vec<&Excerpt>> = HashMap::new();
    for shown in recorded {
        by_configuration.entry(shown.trial.configuration).or_default().push(shown);
    }
    let rows = summary
        .configurations
        .iter()
        .filter_map(|row| Some((row, by_configuration.remove(&row.index)?)));
    let rows: Vec<Row> = rows.collect();
    let best = rows.iter().position(|(row, _)| row.standing == Standing::Best).unwrap_or(0);
    let configurations: Vec<Value> = rows
        .iter()
        .map(|(row, timelines)| {
            let trials: Vec<Value> =
                timelines.iter().map(|shown| trial_of(shown, points)).collect();
            json!({ "label": string(text::label(&row.label)), "trials": trials })
        })
        .collect();
    Figure {
        spec: json!({
            "kind": "series", "unit": string(unit), "name": string(name),
            "first": best, "configurations": configurations,
        }),
        caption: caption(name, unit, recorded, points).into(),
        alternative: format!(
            "Lines of {name} over time for one configuration; the table below lists means."
        )
        .into(),
        data: data(&rows),
        data_heading: "Mean, smallest and largest interval".into(),
        chart: None,
    }
}

fn caption(name: &str, unit: &str, recorded: &[Excerpt], points: usize) -> String {
    let mut caption = format!("{name} ({unit}) over the seconds of a trial, one line per block.");
    if recorded.iter().any(|shown| shown.series.start_s < 0.0) {
        caption += " The measurement starts at second 0, after the warm-up.";
    }
    if recorded.iter().any(|shown| shown.values.len() < shown.series.values.len()) {
        caption += " A last interval shorter than a tenth is left out.";
    }
    if let Some(thinned @ 2..) = recorded.iter().map(|shown| bucket(shown, points)).max() {
        let note = format!(
            " Thinned: each point is the mean of up to {thinned} intervals; the band spans the \
             smallest to the largest."
        );
        caption += &note;
    }
    caption
}

/// Intervals that are one point.
fn bucket(shown: &Excerpt, points: usize) -> usize {
    shown.values.len().div_ceil(points)
}

fn trial_of(shown: &Excerpt, points: usize) -> Value {
    let bucket = bucket(shown, points);
    let chunks = || shown.values.chunks(bucket);
    let (trial, series) = (shown.trial, shown.series);
    let means = chunks().map(|chunk| coordinate(chunk.iter().sum::<f64>() / chunk.len() as f64));
    let mut object = json!({
        "block": trial.block,
        "start": coordinate(series.start_s),
        "step": coordinate(series.interval_s * bucket as f64),
        "mean": means.collect::<Vec<Value>>(),
    });
    if bucket > 1 {
        let extreme = |pick: fn(f64, f64) -> f64| -> Value {
            chunks().map(|chunk| chunk.iter().copied().reduce(pick).map(coordinate)).collect()
        };
        object["low"] = extreme(f64::min);
        object["high"] = extreme(f64::max);
    }
    object
}

fn data(rows: &[Row]) -> Table<'static> {
    let all = rows.iter().flat_map(|(row, timelines)| {
        timelines.iter().map(|shown| (text::label(&row.label), *shown))
    });
    let rows: Vec<(&str, &Excerpt)> = all.collect();
    let mut table = Columns::for_rows(&rows);
    table.name("configuration", |(label, _)| *label);
    table.right("block", |(_, shown)| shown.trial.block);
    table.right("intervals", |(_, shown)| {
        format!("{} of {}", shown.measured().len(), number::seconds(shown.series.interval_s))
    });
    for (heading, figure) in FIGURES {
        table.with(Column::right(heading), move |(_, shown)| {
            let measured = shown.measured().iter().copied().filter(|value| value.is_finite());
            let measured: Vec<f64> = measured.collect();
            (!measured.is_empty()).then(|| Cell::quantity(figure(&measured), &shown.series.unit))
        });
    }
    table.into()
}

/// Heading, and its figure of the values.
type Extent = (&'static str, fn(&[f64]) -> f64);

const FIGURES: [Extent; 3] = [
    ("mean", |values| values.iter().sum::<f64>() / values.len() as f64),
    ("smallest", |values| values.iter().copied().fold(f64::INFINITY, f64::min)),
    ("largest", |values| values.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
];
