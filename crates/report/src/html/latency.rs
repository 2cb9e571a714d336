//! Latency by percentile, from the histograms of all trials of a configuration.

use super::figure::{Drawing, Figure, coordinate, string, strings};
use super::panels::{Panels, named};
use crate::model::{Cell, Column, Table};
use crate::number;
use analysis::{ConfigurationRow, Estimate, Summary};
use observations::{Direction, Histogram, Observations, Recording};
use serde_json::{Value, json};

/// A curve ends where fewer slower ones than this are left: further out it would show single events.
const TAIL_MIN: f64 = 10.0;
/// Points for each power of ten of the share that is slower.
const POINTS_PER_DECADE: f64 = 12.0;
/// Percentiles of the table.
const PERCENTILES: [f64; 4] = [50.0, 90.0, 99.0, 99.9];

/// The latencies of one configuration.
struct Curve<'a> {
    row: &'a ConfigurationRow,
    merged: Histogram,
    trials: Vec<Histogram>,
}

/// One figure a kind of latency: `transaction`, `service`, those of streams. Kinds that are in one
/// before them are left out: without an open loop, service time is latency.
pub fn figures(recording: &Recording, summary: &Summary) -> Vec<(String, Figure)> {
    let mut names: Vec<&str> = Vec::new();
    for latency in recording.done().flat_map(|(_, seen)| &seen.latencies) {
        if !names.contains(&latency.name.as_str()) {
            names.push(&latency.name);
        }
    }
    let mut shown: Vec<(&str, Vec<Curve>)> = Vec::new();
    for name in names {
        let curves = curves(recording, summary, name);
        if !curves.is_empty() && !shown.iter().any(|(_, other)| contains(other, &curves)) {
            shown.push((name, curves));
        }
    }
    shown.iter().map(|(name, curves)| (format!("Latency: {name}"), figure(summary, name, curves))).collect()
}

/// Whether each of some curves is among others.
fn contains(all: &[Curve], some: &[Curve]) -> bool {
    let known = |own: &Curve| all.iter().any(|c| c.row.index == own.row.index && c.merged == own.merged);
    some.iter().all(known)
}

fn curves<'a>(recording: &Recording, summary: &'a Summary, name: &str) -> Vec<Curve<'a>> {
    let of = |row: &'a ConfigurationRow| {
        let own = recording.done().filter(|(trial, _)| trial.configuration == row.index);
        let trials: Vec<Histogram> = own.filter_map(|(_, seen)| histogram(seen, name)).collect();
        let mut merged = Histogram::default();
        for one in &trials {
            merged.merge(one);
        }
        (!merged.is_empty()).then_some(Curve { row, merged, trials })
    };
    summary.configurations.iter().filter_map(of).collect()
}

fn histogram(seen: &Observations, name: &str) -> Option<Histogram> {
    let latency = seen.latencies.iter().find(|latency| latency.name == name)?;
    (!latency.histogram.is_empty()).then(|| latency.histogram.clone())
}

fn figure(summary: &Summary, name: &str, curves: &[Curve]) -> Figure {
    let panels = Panels::without_series(summary);
    let lines: Vec<Value> = curves
        .iter()
        .filter_map(|curve| {
            let points = points(&curve.merged);
            let place =
                panels.as_ref().map_or(Some((0, 0)), |p| p.place(curve.row).map(|at| (at.panel, at.level)));
            let (panel, series) = place?;
            (points.len() > 1).then(|| json!([panel, series, points]))
        })
        .collect();
    let most = curves.iter().map(|curve| curve.merged.len()).max().unwrap_or(0);
    if lines.is_empty() {
        let most = number::count(most);
        return Figure::Nothing(format!(
            "No configuration has recorded more than {most} latencies of {name}: too few for a curve of percentiles."
        ));
    }
    let factor = panels.as_ref().map_or("", |panels| panels.factor.as_str());
    let one = [String::new()];
    let titles = panels.as_ref().map_or(one.as_slice(), |panels| panels.titles.as_slice());
    let levels = panels.as_ref().map_or_else(|| vec![""], |panels| panels.levels.clone());
    Figure::Drawn(Drawing {
        spec: json!({
            "kind": "latency",
            "seriesLabel": string(factor),
            "series": strings(levels),
            "panels": strings(titles.iter().map(String::as_str)),
            "lines": lines,
        }),
        caption: format!(
            "Latency of {name} by percentile, all trials of a configuration together; both axes are logarithmic. A curve \
             ends where fewer than {TAIL_MIN} slower ones are left."
        ),
        alternative: format!("Curves of {name} latency by percentile. {}.", said(curves)),
        data: data(curves),
        data_heading: "Percentiles: means over trials with 95 % intervals".to_owned(),
    })
}

/// Share that is slower as a power of ten, and the latency in seconds there.
fn points(histogram: &Histogram) -> Vec<Value> {
    let n = histogram.len() as f64;
    let decades = (n / TAIL_MIN).log10();
    if decades <= 0.0 {
        return Vec::new();
    }
    let count = (decades * POINTS_PER_DECADE).floor() as usize;
    (0..=count)
        .map(|i| {
            let slower = 10_f64.powf(-(i as f64) / POINTS_PER_DECADE);
            let latency_s = histogram.percentile_ns(100.0 * (1.0 - slower)) as f64 / 1e9;
            json!([coordinate(1.0 / slower), coordinate(latency_s)])
        })
        .collect()
}

fn said(curves: &[Curve]) -> String {
    let seconds = |histogram: &Histogram, p| number::seconds(histogram.percentile_ns(p) as f64 / 1e9);
    let one = |curve: &Curve| {
        let (median, tail) = (seconds(&curve.merged, 50.0), seconds(&curve.merged, 99.0));
        format!("{}: median {median}, 99th percentile {tail}", named(curve.row))
    };
    curves.iter().take(12).map(one).collect::<Vec<_>>().join("; ")
}

fn data(curves: &[Curve]) -> Table {
    let mut columns = vec![Column::name("configuration"), Column::right("trials"), Column::right("recorded")];
    columns.extend(PERCENTILES.map(|p| Column::left(format!("p{p}"))));
    columns.push(Column::right("largest"));
    let rows = curves.iter().map(|curve| {
        let mut cells = vec![
            Cell::plain(named(curve.row)),
            Cell::plain(curve.trials.len().to_string()),
            Cell::plain(number::count(curve.merged.len())),
        ];
        cells.extend(PERCENTILES.map(|p| Cell::plain(percentile(&curve.trials, p))));
        cells.push(Cell::plain(number::seconds(curve.merged.min_mean_max_ns().2 as f64 / 1e9)));
        cells
    });
    Table { columns, rows: rows.collect(), fixed: false }
}

/// Over trials; a dash where a trial has too few latencies to have that percentile.
fn percentile(trials: &[Histogram], p: f64) -> String {
    if trials.iter().any(|one| one.len() as f64 * (100.0 - p) < 100.0) {
        return "-".to_owned();
    }
    let values: Vec<f64> = trials.iter().map(|one| one.percentile_ns(p) as f64 / 1e9).collect();
    Estimate::of(&values, "s", Direction::LowerIsBetter)
        .map_or_else(|| "-".to_owned(), |e| number::estimate(&e))
}
