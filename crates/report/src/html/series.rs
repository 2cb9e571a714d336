//! Figures over time: throughput, and whatever else was recorded, of every trial.

use super::figure::{Drawing, Figure, coordinate, string};
use super::panels::named;
use crate::model::{Cell, Column, Table};
use crate::number;
use analysis::{ConfigurationRow, Standing, Summary};
use observations::{Recording, Series, TrialRecord};
use serde_json::{Value, json};

/// Numbers that all series of a report may take; about eight bytes each.
const NUMBERS_MAX: usize = 250_000;
/// A line has no more points than a figure has room for.
const POINTS_MAX: usize = 300;
/// However many trials there are, a line keeps so many points.
const POINTS_MIN: usize = 24;

/// The last interval ends with the trial; when that has cut it to less than this share, its rate is
/// of a moment and is left out.
const LAST_MIN: f64 = 0.1;

/// A series of a trial, and the values of it that are shown.
#[derive(Clone, Copy)]
struct Shown<'a> {
    trial: &'a TrialRecord,
    series: &'a Series,
    values: &'a [f64],
}

impl<'a> Shown<'a> {
    /// `None` when there is nothing to show.
    fn of(trial: &'a TrialRecord, series: &'a Series, elapsed_s: f64) -> Option<Self> {
        let before_last = series.values.len().checked_sub(1)?;
        let last_s = elapsed_s - series.start_s - before_last as f64 * series.interval_s;
        let kept = before_last + usize::from(last_s >= LAST_MIN * series.interval_s);
        let values = &series.values[..kept];
        (series.interval_s > 0.0 && kept > 0).then_some(Self { trial, series, values })
    }
}

/// One figure a name of series; one that says so when none was recorded.
pub fn figures(recording: &Recording, summary: &Summary) -> Vec<(String, Figure)> {
    let all: Vec<Shown> = recording
        .done()
        .flat_map(|(trial, seen)| seen.series.iter().filter_map(|s| Shown::of(trial, s, seen.elapsed_s)))
        .collect();
    if all.iter().all(|shown| shown.values.len() < 2) {
        let why = "No trial was longer than one interval: there is nothing to see over time.".to_owned();
        return vec![("Over time".to_owned(), Figure::Nothing(why))];
    }
    // A thinned point is three numbers.
    let points = (NUMBERS_MAX / 3 / all.len()).clamp(POINTS_MIN, POINTS_MAX);
    let mut names: Vec<&str> = Vec::new();
    for shown in &all {
        if !names.contains(&shown.series.name.as_str()) {
            names.push(&shown.series.name);
        }
    }
    let of = |name: &str| all.iter().filter(|shown| shown.series.name == name).copied().collect::<Vec<_>>();
    names
        .iter()
        .map(|name| (format!("Over time: {name}"), figure(summary, name, &of(name), points)))
        .collect()
}

fn figure(summary: &Summary, name: &str, recorded: &[Shown], points: usize) -> Figure {
    let unit = recorded.first().map_or("", |shown| shown.series.unit.as_str());
    let own = |row: &ConfigurationRow| -> Vec<&Shown> {
        recorded.iter().filter(|shown| shown.trial.configuration == row.index).collect()
    };
    let rows: Vec<_> = summary.configurations.iter().filter(|row| !own(row).is_empty()).collect();
    let best = rows.iter().position(|row| row.standing == Standing::Best).unwrap_or(0);
    let configurations: Vec<Value> = rows
        .iter()
        .map(|row| {
            let trials: Vec<Value> = own(row).iter().map(|shown| trial_of(shown, points)).collect();
            json!({ "label": string(named(row)), "trials": trials })
        })
        .collect();
    let warm = recorded.iter().any(|shown| shown.series.start_s < 0.0);
    let cut = if recorded.iter().any(|shown| shown.values.len() < shown.series.values.len()) {
        " A last interval that the end of the trial has cut to less than a tenth is left out."
    } else {
        ""
    };
    let thinned = recorded.iter().map(|shown| bucket(shown, points)).max().unwrap_or(1);
    let warm =
        if warm { " Second 0 is where the measured part begins; what is before it is warm-up." } else { "" };
    let thinned = match thinned {
        0 | 1 => String::new(),
        n => format!(
            " Thinned: a line is the mean of up to {n} intervals, the band around it their smallest and largest."
        ),
    };
    Figure::Drawn(Drawing {
        spec: json!({
            "kind": "series", "unit": string(unit), "name": string(name),
            "first": best, "configurations": configurations,
        }),
        caption: format!(
            "{name} ({unit}) over the seconds of a trial, one line a block.{warm}{cut}{thinned}"
        ),
        alternative: format!(
            "Lines of {name} over time for one configuration; means are in the table below."
        ),
        data: data(&rows, own),
        data_heading: "Mean, smallest and largest interval of the measured part".to_owned(),
    })
}

/// Intervals that are one point.
fn bucket(shown: &Shown, points: usize) -> usize {
    shown.values.len().div_ceil(points)
}

fn trial_of(shown: &Shown, points: usize) -> Value {
    let bucket = bucket(shown, points);
    let chunks = || shown.values.chunks(bucket);
    let (trial, series) = (shown.trial, shown.series);
    let mean = |chunk: &[f64]| coordinate(chunk.iter().sum::<f64>() / chunk.len() as f64);
    let mut own = json!({
        "block": trial.block,
        "start": coordinate(series.start_s),
        "step": coordinate(series.interval_s * bucket as f64),
        "mean": chunks().map(mean).collect::<Vec<Value>>(),
    });
    if bucket > 1 {
        let extreme = |pick: fn(f64, f64) -> f64, start: f64| -> Value {
            chunks().map(|chunk| coordinate(chunk.iter().copied().fold(start, pick))).collect()
        };
        own["low"] = extreme(f64::min, f64::MAX);
        own["high"] = extreme(f64::max, f64::MIN);
    }
    own
}

fn data<'a>(rows: &[&ConfigurationRow], own: impl Fn(&ConfigurationRow) -> Vec<&'a Shown<'a>>) -> Table {
    let columns = vec![
        Column::name("configuration"),
        Column::right("block"),
        Column::right("intervals"),
        Column::right("mean"),
        Column::right("smallest"),
        Column::right("largest"),
    ];
    let line = |row: &ConfigurationRow, shown: &Shown| {
        let series = shown.series;
        let warmup = (-series.start_s / series.interval_s).round().max(0.0) as usize;
        let measured = shown.values.get(warmup..).unwrap_or_default();
        let show = |value: f64| {
            let nothing = || "-".to_owned();
            Cell::plain(if measured.is_empty() { nothing() } else { number::quantity(value, &series.unit) })
        };
        vec![
            Cell::plain(named(row)),
            Cell::plain(shown.trial.block.to_string()),
            Cell::plain(format!("{} of {}", measured.len(), number::seconds(series.interval_s))),
            show(measured.iter().sum::<f64>() / measured.len() as f64),
            show(measured.iter().copied().fold(f64::INFINITY, f64::min)),
            show(measured.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
        ]
    };
    let rows =
        rows.iter().flat_map(|row| own(row).into_iter().map(|shown| line(row, shown)).collect::<Vec<_>>());
    Table { columns, rows: rows.collect(), fixed: false }
}
