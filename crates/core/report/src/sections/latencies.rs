//! Latency by percentile: a figure for each kind.

use crate::figure::{coordinate, string, strings};
use crate::model::{Cell, Column, Columns, Figure, Section, Table};
use crate::panels::Panels;
use crate::text::{joined, listed};
use crate::{number, text};
use analysis::latency::PERCENTILES;
use analysis::{ConfigurationLatency, Latencies, Summary};
use observations::{Histogram, Percentile};
use serde_json::{Value, json};

/// A curve ends where fewer slower ones than this are left: further out it would show single
/// events.
const TAIL_MIN: f64 = 10.0;
/// Points for each power of ten of the share that is slower.
const POINTS_PER_DECADE: f64 = 12.0;
/// Most configurations that are described in words.
const DESCRIBED_MAX: usize = 12;
/// Most curves of a figure: more are not distinguishable.
const CURVES_MAX: usize = 100;

/// A page section a kind of latency.
pub(crate) fn sections(summary: &Summary, kinds: &[Latencies]) -> Vec<Section> {
    kinds.iter().map(|kind| section(summary, kind)).collect()
}

fn section(summary: &Summary, kind: &Latencies) -> Section {
    let Latencies { name, configurations: curves } = kind;
    let mut section = Section::page(format!("Latency: {name}"));
    let panels = Panels::without_series(summary);
    let lines: Vec<Value> = curves
        .iter()
        .take(CURVES_MAX)
        .filter_map(|curve| {
            let points = points(&summary.merged_latency(curve.configuration, name));
            let row = summary.configurations.get(curve.configuration)?;
            let position = panels.as_ref().map_or(Some((0, 0)), |panels| {
                panels.position(row).map(|position| (position.panel, position.level))
            });
            let (panel, series) = position?;
            (points.len() > 1).then(|| json!([panel, series, points]))
        })
        .collect();
    if lines.is_empty() {
        let most = number::count(curves.iter().map(|curve| curve.recorded).max().unwrap_or(0));
        let why = format!(
            "No configuration recorded more than {most} latencies of {name}: too few for a \
             percentile curve."
        );
        section.note(why);
        return section;
    }
    let factor = panels.as_ref().map_or("", |panels| panels.factor.as_str());
    let unnamed = [String::new()];
    let titles = panels.as_ref().map_or(unnamed.as_slice(), |panels| panels.titles.as_slice());
    let levels = panels.as_ref().map_or_else(|| vec![""], |panels| panels.levels.clone());
    section.figure(Figure {
        spec: json!({
            "kind": "latency",
            "seriesLabel": string(factor),
            "series": strings(levels),
            "panels": strings(titles.iter().map(String::as_str)),
            "lines": lines,
        }),
        caption: format!(
            "Latency of {name} by percentile, all trials of a configuration merged; both axes \
             are logarithmic. A curve ends where fewer than {TAIL_MIN} slower values remain.{}",
            if curves.len() > CURVES_MAX {
                format!(
                    " Drawn: the first {CURVES_MAX} of {} configurations.",
                    number::count(curves.len() as u64)
                )
            } else {
                String::new()
            }
        )
        .into(),
        alternative: format!("Curves of {name} latency by percentile. {}.", texts(summary, kind))
            .into(),
        data: data(curves),
        data_heading: "Percentiles: means over trials with 95 % intervals".into(),
        chart: None,
    });
    if let Some(why) = unavailable(curves) {
        section.note(why);
    }
    section
}

/// `Not estimated where a trial has too few latencies: p99.9 (10,000 needed).`
fn unavailable(curves: &[ConfigurationLatency]) -> Option<String> {
    let lacking = PERCENTILES
        .into_iter()
        .enumerate()
        .filter(|(at, _)| curves.iter().any(|curve| curve.percentiles[*at].is_none()));
    let named = listed(lacking.map(|(_, percent)| {
        let needed = number::count(Percentile::needed(percent));
        format!("{} ({needed} needed)", Percentile::name(percent))
    }))?;
    Some(format!("Not estimated where a trial has too few latencies: {named}."))
}

/// Share that is slower as a power of ten, and the latency in seconds there.
fn points(histogram: &Histogram) -> Vec<Value> {
    let decades = (histogram.len() as f64 / TAIL_MIN).log10();
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

fn texts(summary: &Summary, kind: &Latencies) -> String {
    joined(
        kind.configurations.iter().take(DESCRIBED_MAX).map(|curve| {
            let merged = summary.merged_latency(curve.configuration, &kind.name);
            let [median, high] =
                merged.percentiles_ns([50.0, 99.0]).map(|ns| number::seconds(ns as f64 / 1e9));
            let is_available = Percentile { percent: 99.0, values: merged.len() }.is_available();
            let high = format!(", 99th percentile {high}");
            let high = if is_available { high } else { String::new() };
            format!("{}: median {median}{high}", text::label(&curve.label))
        }),
        "; ",
    )
}

fn data(curves: &[ConfigurationLatency]) -> Table<'static> {
    let mut table = Columns::for_rows(curves);
    table.name("configuration", |curve| text::label(&curve.label));
    table.right("trials", |curve| curve.trials);
    table.right("recorded", |curve| Cell::count(curve.recorded));
    for (at, percentile) in PERCENTILES.into_iter().enumerate() {
        table.with(Column::left(format!("p{percentile}")), move |curve| {
            curve.percentiles[at].as_ref()
        });
    }
    table.right("largest", |curve| Cell::seconds(curve.largest_s));
    table.into()
}
