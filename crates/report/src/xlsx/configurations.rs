//! One row for each response of each configuration.

use super::book::{Book, Size};
use super::cell::Value;
use super::columns::{Columns, level};
use analysis::{Comparison, ConfigurationRow, Estimate, ResponseChoice, Standing, Summary};
use observations::{Direction, Recording, Response};
use rust_xlsxwriter::XlsxError;
use std::collections::BTreeMap;

struct Row<'a> {
    of: &'a ConfigurationRow,
    response: ResponseChoice,
    /// Whether configurations are compared on it.
    chosen: bool,
    estimate: Option<Estimate>,
}

pub fn sheet(book: &mut Book, recording: &Recording, summary: &Summary) -> Result<(), XlsxError> {
    let rows = rows(recording, summary);
    let mut columns: Columns<'_, &Row<'_>> = Columns::new();
    columns.add("configuration", |row| Value::text(&row.of.label));
    for factor in &recording.factors {
        columns.add(&factor.name, |row| level(recording, factor, row.of.index));
    }
    columns.add("baseline", |row| Value::Bool(row.of.baseline));
    columns.add("response", |row| Value::text(&row.response.name));
    columns.add("unit", |row| Value::text(&row.response.unit));
    columns.add("better", |row| {
        Value::text(match row.response.direction {
            Direction::HigherIsBetter => "higher",
            Direction::LowerIsBetter => "lower",
        })
    });
    columns.add("n", |row| Value::Count(row.estimate.as_ref().map_or(0, |e| e.n as u64)));
    figures(&mut columns);
    compared(&mut columns);
    columns.add("failed attempts", |row| Value::Count(row.of.failed as u64));
    book.table("Configurations", Size::Large, &columns, rows.iter())
}

fn figures<'a>(columns: &mut Columns<'a, &'a Row<'a>>) {
    let mut figure = |heading: &str, figure: fn(&Estimate) -> Option<f64>| {
        columns.add(heading, move |row| Value::number(row.estimate.as_ref().and_then(figure)));
    };
    figure("mean", |e| Some(e.mean));
    figure("low (95 %)", |e| e.interval.map(|interval| interval.low));
    figure("high (95 %)", |e| e.interval.map(|interval| interval.high));
    figure("median", |e| Some(e.median));
    figure("smallest", |e| Some(e.min));
    figure("largest", |e| Some(e.max));
    figure("standard deviation", |e| e.sd);
    columns.add("CV", |row| Value::share(row.estimate.as_ref().and_then(Estimate::cv)));
}

/// Against the baseline and the best, of the response on which configurations are compared.
fn compared<'a>(columns: &mut Columns<'a, &'a Row<'a>>) {
    let mut figure = |heading: &str, figure: fn(&Comparison) -> Option<f64>| {
        columns.add(heading, move |row: &&Row| {
            let factor = row.of.factor.as_ref().filter(|_| row.chosen);
            Value::number(factor.and_then(figure))
        });
    };
    figure("against baseline", |c| Some(c.value));
    figure("against baseline, low", |c| c.interval.map(|interval| interval.low));
    figure("against baseline, high", |c| c.interval.map(|interval| interval.high));
    figure("adjusted p", |c| c.adjusted_p);
    columns.add("standing", |row| match row.of.standing {
        _ if !row.chosen => Value::Empty,
        Standing::Best => Value::text("best"),
        Standing::AsGoodAsBest => Value::text("as good as the best"),
        Standing::Worse => Value::text("worse"),
        Standing::Unknown => Value::Empty,
    });
}

/// The response that matters first.
fn rows<'a>(recording: &Recording, summary: &'a Summary) -> Vec<Row<'a>> {
    let responses = responses(recording, summary);
    let mut rows = Vec::new();
    for (position, response) in responses.iter().enumerate() {
        let chosen = position == 0 && summary.response.is_some();
        let mut values: BTreeMap<usize, BTreeMap<u32, f64>> = BTreeMap::new();
        for (trial, seen) in recording.done() {
            if let Some(value) = response.value(seen) {
                values.entry(trial.configuration).or_default().insert(trial.block, value);
            }
        }
        for of in &summary.configurations {
            let own: Vec<f64> =
                values.get(&of.index).into_iter().flat_map(|blocks| blocks.values().copied()).collect();
            let estimate = Estimate::of(&own, &response.unit, response.direction);
            rows.push(Row { of, response: response.clone(), chosen, estimate });
        }
    }
    rows
}

/// Every response that a trial recorded, in the order of first appearance, after the one that configurations are
/// compared on.
fn responses(recording: &Recording, summary: &Summary) -> Vec<ResponseChoice> {
    let choice = |response: &Response| ResponseChoice {
        name: response.name.clone(),
        unit: response.unit.clone(),
        direction: response.direction,
        missing: None,
    };
    let mut found: Vec<ResponseChoice> = summary.response.iter().cloned().collect();
    for response in recording.done().flat_map(|(_, seen)| &seen.responses) {
        if !found.iter().any(|known| known.name == response.name) {
            found.push(choice(response));
        }
    }
    found
}
