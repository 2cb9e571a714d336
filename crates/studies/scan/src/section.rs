//! What a scan costs, by page, row and column, and how far such a model is off.

use crate::analysis::{CostModel, CostRow};
use analysis::{Interval, Summary};
use observations::UnmeasuredTable;
use report::Cell;
use report::number;
use report::text::joined;
use report::text::label;
use report::{Columns, Section};

/// An error of this size is no rounding: the model misses something.
const MISFIT: f64 = 0.25;

/// A section for each model.
pub fn sections(_: &Summary, models: &[CostModel]) -> Vec<Section> {
    models.iter().map(section).collect()
}

fn section(model: &CostModel) -> Section {
    let told = [Some(model.group.as_str()), model.access.as_deref()].into_iter().flatten();
    let told = joined(told.filter(|part| !part.is_empty()), ", ");
    let heading = if told.is_empty() {
        "Cost of a scan".to_owned()
    } else {
        format!("Cost of a scan: {told}")
    };
    let mut section = Section::new(heading);
    let unit = number::plural(model.rows.len(), "configuration");
    section.line(format!("Processor time of a scan by a model fitted to {unit}:"));
    let mut terms = Columns::for_rows(&model.terms);
    terms.name("for each", |term| term.name);
    terms.left("us", |term| {
        let ends = term.interval.map(|Interval { low, high }| (low, high));
        Cell::from(term.cost_us).within(term.interval).shown(number::within(term.cost_us, ends, ""))
    });
    section.table(terms);
    if let Some(line) = error(model) {
        section.line(line);
    }
    let mut rows = Columns::for_rows(&model.rows);
    rows.name("configuration", |row| label(&row.label));
    rows.left("measured ms", |row| Cell::estimate_without_unit(&row.measured));
    rows.right("predicted ms", |row| {
        row.predicted_ms.map(|ms| Cell::from(ms).shown(number::figure(ms)))
    });
    rows.right("error", |row| row.error.map(signed));
    section.table(rows);
    predictions(model, &mut section);
    section.note(
        "Costs are not below 0 and are fitted by relative least squares; intervals are over \
         blocks, they say how well a cost is measured and not whether costs add up as the model \
         says. That is what the errors say: each configuration is predicted by a model of the \
         others, as a table that was not measured would be.",
    );
    if !model.not_told.is_empty() {
        section.note(format!(
            "Cannot be told apart from the terms above, because it was not varied on its own or \
             there are too few configurations: {}.",
            joined(model.not_told.iter().copied(), ", ")
        ));
    }
    if model.access.is_some() {
        section.note(
            "Scans whose plans read the table in different ways are different work: each way has \
             a model of its own.",
        );
    }
    for other in &model.apart {
        let labels = joined(other.labels.iter().map(|own| label(own)), ", ");
        let access = if other.access.is_empty() {
            "in a way that the plan does not tell"
        } else {
            &other.access
        };
        section.note(format!(
            "Not in the model, and too few for one of their own ({access}): {labels}."
        ));
    }
    section
}

/// What the model says of tables that were not measured.
fn predictions(model: &CostModel, section: &mut Section) {
    if model.predictions.is_empty() {
        return;
    }
    section.line("Estimates of the model for tables that were not measured:");
    let mut tables = Columns::for_rows(&model.predictions);
    tables.name("table", |own| label(&own.table.name));
    tables.left("rows", |own| number::grouped(own.table.rows as f64));
    tables.left("rows a page", |own| number::figure(own.table.rows_per_page));
    tables.left("what", |own| asked(&own.table));
    tables.left("CPU ms of a scan (estimate)", |own| {
        own.ms.map(|ms| {
            let ends = own.interval.map(|Interval { low, high }| (low, high));
            Cell::from(ms).within(own.interval).shown(number::within(ms, ends, ""))
        })
    });
    section.table(tables);
    for own in &model.predictions {
        let name = label(&own.table.name);
        if !own.lacks.is_empty() {
            let lacks = joined(own.lacks.iter().copied(), ", ");
            section.note(format!(
                "{name} cannot be estimated: the model cannot tell the cost of: {lacks}."
            ));
        }
        if let Some((low, high)) = own.outside {
            let [low, high] = [low, high].map(number::figure);
            section.note(format!(
                "{name} lies outside of what was measured: {low} to {high} rows a page."
            ));
        }
        if let Some(largest) = own.larger_than_bytes {
            let largest = number::bytes(largest as u64);
            section.note(format!("{name} is larger than any table that was measured ({largest})."));
        }
    }
}

/// `max of 11 columns, from storage`
fn asked(table: &UnmeasuredTable) -> String {
    let what = match table.aggregate.as_str() {
        "count" => "count".to_owned(),
        aggregate => format!("{aggregate} of {}", number::plural(table.columns as usize, "column")),
    };
    if table.cold { format!("{what}, from storage") } else { what }
}

fn signed(share: f64) -> Cell {
    Cell::percent(share, 1).shown(format!("{} %", number::signed(100.0 * share, 1)))
}

/// `The model is off by 5 % (median), 22 % at worst (rows_per_page=323).`
fn error(model: &CostModel) -> Option<String> {
    let median = model.error_median?;
    let worst: &CostRow = &model.rows[model.worst?];
    let largest = worst.error?;
    let misfit =
        if largest.abs() > MISFIT { " Costs do not add up there as the model says." } else { "" };
    Some(format!(
        "The model is off by {} (median), {} at worst ({}), when it predicts a configuration from \
         the others.{misfit}",
        number::short_percent(median),
        number::short_percent(largest.abs()),
        label(&worst.label),
    ))
}
