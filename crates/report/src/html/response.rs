//! The main figure: the response against the main factor.

use super::figure::{Drawing, Figure, coordinate, string, strings};
use super::panels::{Panels, Place, named};
use crate::model::{Cell, Column, Table};
use crate::number;
use analysis::{ConfigurationRow, Estimate, Summary};
use observations::{Direction, Recording};
use serde_json::{Value, json};

/// A line a series with 95 % intervals, and every trial as a point.
pub fn figure(recording: &Recording, summary: &Summary) -> Figure {
    let Some(response) = &summary.response else {
        return Figure::Nothing("No trial was done: there is nothing to show yet.".to_owned());
    };
    let measured: Vec<(&ConfigurationRow, &Estimate)> =
        summary.configurations.iter().filter_map(|row| Some((row, row.response.as_ref()?))).collect();
    let panels = Panels::with_series(summary).filter(|_| measured.len() > 1);
    let Some(panels) = panels else {
        return Figure::Nothing(alone(&measured));
    };
    let means = measured.iter().filter_map(|(row, estimate)| {
        let tip = format!("{}\n{}, n = {}", named(row), number::estimate(estimate), estimate.n);
        Some(mark(panels.place(row)?, estimate.mean, &tip, estimate))
    });
    let points = recording.done().filter_map(|(trial, observations)| {
        let value = response.value(observations)?;
        let row = summary.configurations.iter().find(|row| row.index == trial.configuration)?;
        let place = panels.place(row)?;
        let figure = number::quantity(value, &response.unit);
        let tip = format!("{}\nblock {}: {figure}", named(row), trial.block);
        Some(json!([place.panel, place.series, place.level, coordinate(value), string(&tip)]))
    });
    let better = match response.direction {
        Direction::HigherIsBetter => "higher",
        Direction::LowerIsBetter => "lower",
    };
    Figure::Drawn(Drawing {
        spec: json!({
            "kind": "response",
            "x": panels.axis(),
            "y": string(&format!("{} ({}), {better} is better", response.name, response.unit)),
            "seriesLabel": string(&panels.series_factor),
            "series": strings(panels.series.iter().map(String::as_str)),
            "panels": strings(panels.titles.iter().map(String::as_str)),
            "means": means.collect::<Vec<Value>>(),
            "points": points.collect::<Vec<Value>>(),
        }),
        caption: caption(&panels, &response.name, better),
        alternative: alternative(&panels, &response.name, &measured),
        data: data(&measured),
        data_heading: "Means, intervals and n".to_owned(),
    })
}

/// One mean with its interval.
fn mark(place: Place, mean: f64, tip: &str, estimate: &Estimate) -> Value {
    let end =
        |pick: fn(analysis::Interval) -> f64| estimate.interval.map_or(Value::Null, |i| coordinate(pick(i)));
    let (low, high) = (end(|i| i.low), end(|i| i.high));
    json!([place.panel, place.series, place.level, coordinate(mean), low, high, string(tip)])
}

fn alone(measured: &[(&ConfigurationRow, &Estimate)]) -> String {
    match measured {
        [(_, estimate)] => format!(
            "One configuration has figures: {} over {}. There is nothing to draw it against.",
            number::estimate(estimate),
            number::plural(estimate.n, "block")
        ),
        _ => "No configuration has figures to draw.".to_owned(),
    }
}

fn caption(panels: &Panels, response: &str, better: &str) -> String {
    let series = match panels.series_factor.as_str() {
        "" => String::new(),
        factor => format!(", one line for each {factor}"),
    };
    let shared = if panels.titles.len() > 1 { " All panels share their axes." } else { "" };
    format!(
        "Mean {response} against {}{series}; vertical lines are 95 % intervals over blocks, small marks are single \
         trials. {} is better; the vertical axis begins at zero, where \
         intervals are cut.{shared}",
        panels.factor,
        if better == "higher" { "Higher" } else { "Lower" },
    )
}

fn alternative(panels: &Panels, response: &str, measured: &[(&ConfigurationRow, &Estimate)]) -> String {
    const SAID: usize = 12;
    let one = |(row, estimate): &(&ConfigurationRow, &Estimate)| {
        format!("{}: {}", named(row), number::estimate(estimate))
    };
    let said: Vec<String> = measured.iter().take(SAID).map(one).collect();
    let more = if measured.len() > SAID { "; more in the table below" } else { "" };
    format!("Line chart of {response} against {}. {}{more}.", panels.factor, said.join("; "))
}

fn data(measured: &[(&ConfigurationRow, &Estimate)]) -> Table {
    let row = |(row, estimate): &(&ConfigurationRow, &Estimate)| {
        let unit = estimate.unit.as_str();
        let one = |value| Cell::plain(number::quantity(value, unit));
        vec![
            Cell::plain(named(row)),
            Cell::plain(estimate.n.to_string()),
            Cell::plain(number::estimate(estimate)),
            one(estimate.median),
            one(estimate.min),
            one(estimate.max),
        ]
    };
    let columns = vec![
        Column::name("configuration"),
        Column::right("n"),
        Column::left("mean, 95 % interval"),
        Column::right("median"),
        Column::right("smallest"),
        Column::right("largest"),
    ];
    Table { columns, rows: measured.iter().map(row).collect(), fixed: false }
}
