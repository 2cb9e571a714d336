//! Cost of a scan by page, row and column, and the error of the model.

use crate::analysis::{CostModel, CostRow};
use analysis::Summary;
use observations::UnmeasuredTable;
use report::Cell;
use report::number;
use report::text::joined;
use report::text::label;
use report::{Columns, Section};

/// An error of this size is more than rounding: the model misses something.
const MISFIT: f64 = 0.25;

/// A section for each model.
pub fn sections(_: &Summary, models: &[CostModel]) -> Vec<Section> {
    models.iter().map(section).collect()
}

fn section(model: &CostModel) -> Section {
    let parts = [Some(model.group.as_str()), model.access.as_deref()].into_iter().flatten();
    let subject = joined(parts.filter(|part| !part.is_empty()), ", ");
    let mut section = Section::about("Cost of a scan", &subject);
    let unit = number::plural(model.rows.len(), "configuration");
    section.line(format!("CPU time of a scan, by a model fitted to {unit}:"));
    let mut terms = Columns::for_rows(&model.terms);
    terms.name("for each", |term| term.name);
    terms.left("us", |term| {
        // At its least value a cost is one that the fit could not see.
        if term.cost_us <= 0.0 {
            return Cell::from("not measurable");
        }
        Cell::mean(term.cost_us, term.interval, "")
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
    rows.right("error", |row| row.error.map(Cell::change));
    section.table(rows);
    predictions(model, &mut section);
    section.note(
        "Costs are at least 0 and fitted by relative least squares. Intervals come from the \
         blocks: they cover the measurement of a cost, not the assumption that costs add up. The \
         errors test that assumption: the model of the other configurations predicts each \
         configuration like an unmeasured table.",
    );
    if !model.not_told.is_empty() {
        section.note(format!(
            "Not separable from the terms above (not varied on their own, or too few \
             configurations): {}.",
            joined(model.not_told.iter().copied(), ", ")
        ));
    }
    if model.access.is_some() {
        section.note(
            "Plans that read the table in different ways do different work: each way has its own \
             model.",
        );
    }
    for other in &model.excluded {
        let labels = joined(other.labels.iter().map(|name| label(name)), ", ");
        let access = if other.access.is_empty() { "unknown access path" } else { &other.access };
        section.note(format!("Omitted, too few for their own model ({access}): {labels}."));
    }
    section
}

/// Predictions of the model for tables that were not measured.
fn predictions(model: &CostModel, section: &mut Section) {
    if model.predictions.is_empty() {
        return;
    }
    section.line("Estimates of the model for unmeasured tables:");
    let mut tables = Columns::for_rows(&model.predictions);
    tables.name("table", |row| label(&row.table.name));
    tables.left("rows", |row| number::grouped(row.table.rows as f64));
    tables.left("rows a page", |row| number::figure(row.table.rows_per_page));
    tables.left("what", |row| description(&row.table));
    tables.left("CPU ms of a scan (estimate)", |row| {
        row.ms.map(|ms| Cell::mean(ms, row.interval, ""))
    });
    section.table(tables);
    for prediction in &model.predictions {
        let name = label(&prediction.table.name);
        if !prediction.lacks.is_empty() {
            let lacks = joined(prediction.lacks.iter().copied(), ", ");
            section
                .note(format!("{name} cannot be estimated: the model lacks the cost of: {lacks}."));
        }
        if let Some((low, high)) = prediction.outside {
            let [low, high] = [low, high].map(number::figure);
            section.note(format!(
                "{name} is outside the measured range: {low} to {high} rows a page."
            ));
        }
        if let Some(largest) = prediction.larger_than_bytes {
            let largest = number::bytes(largest as u64);
            section.note(format!("{name} is larger than any measured table ({largest})."));
        }
    }
}

/// `max of 11 columns, from storage`
fn description(table: &UnmeasuredTable) -> String {
    let what = match table.aggregate.as_str() {
        "count" => "count".to_owned(),
        aggregate => format!("{aggregate} of {}", number::plural(table.columns as usize, "column")),
    };
    if table.cold { format!("{what}, from storage") } else { what }
}

/// `The model is off by 5 % (median), 22 % at worst (rows_per_page=323).`
fn error(model: &CostModel) -> Option<String> {
    let median = model.error_median?;
    let worst: &CostRow = &model.rows[model.worst?];
    let largest = worst.error?;
    let misfit = if largest.abs() > MISFIT {
        " Costs do not add up as the model assumes there."
    } else {
        ""
    };
    Some(format!(
        "Prediction error of the model for a configuration left out of its fit: {} (median), {} \
         at worst ({}).{misfit}",
        number::short_percent(median),
        number::short_percent(largest.abs()),
        label(&worst.label),
    ))
}
