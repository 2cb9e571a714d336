//! The record of a run's models in the history of its experiment: predictions for held-out levels,
//! with the measurements.

use crate::models::hold_out::{Candidate, HoldOut};
use crate::{section, throughput};
use analysis::estimate::median;
use analysis::settings::CONCURRENCY;
use command_line::{Context, HistoryPart, results};
use observations::Recording;
use report::text::label;
use report::{Columns, Section, number};
use serde::Serialize;

/// How a model of a run fared.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct ModelRecord {
    /// The configuration with the fewest connections.
    label: String,
    /// The model that missed the held-out levels least.
    model: Candidate,
    /// Unit of its throughput.
    unit: String,
}

/// A prediction of a run's model for a held-out level.
struct Row<'r> {
    run: i64,
    record: &'r ModelRecord,
    tested: &'r HoldOut,
}

/// The models of an experiment's runs: of each run the levels that its own report holds out.
///
/// # Errors
/// Errors of serializing the records.
pub fn history_part(context: &Context, runs: &[Recording]) -> serde_json::Result<HistoryPart> {
    let records: Vec<Vec<ModelRecord>> = runs.iter().map(|run| records(context, run)).collect();
    let rows: Vec<Row> = runs
        .iter()
        .zip(&records)
        .flat_map(|(run, records)| records.iter().map(move |record| (run.run.id, record)))
        .flat_map(|(run, record)| {
            record.model.tested.iter().map(move |tested| Row { run, record, tested })
        })
        .collect();
    Ok(HistoryPart {
        name: "models",
        runs: records.iter().map(serde_json::to_value).collect::<Result<_, _>>()?,
        section: (!rows.is_empty()).then(|| record_section(&rows)),
    })
}

fn records(context: &Context, run: &Recording) -> Vec<ModelRecord> {
    // Without a model nothing is summarised: a history may have hundreds of runs.
    if !run.factors.iter().any(|factor| run.roles.has(&factor.name, &CONCURRENCY)) {
        return Vec::new();
    }
    let models = throughput::models(&results::summary_alone(context, run)).into_iter();
    models
        .filter_map(|model| {
            Some(ModelRecord {
                label: run.configurations[model.configuration].label.clone(),
                model: model.candidates.into_iter().next()?,
                unit: model.unit,
            })
        })
        .collect()
}

fn record_section(rows: &[Row<'_>]) -> Section {
    let mut section = Section::new("Record of the models");
    let predicted = || rows.iter().map(|row| row.tested).filter(|test| test.prediction.is_useful());
    let held = predicted().filter(|test| test.covered).count();
    let factors: Vec<f64> = predicted().map(|test| test.prediction.factor()).collect();
    let mut table = Columns::for_rows(rows);
    table.right("run", |row| row.run);
    table.name("fitted from", |row| label(&row.record.label));
    table.left("model", |row| row.record.model.model.name());
    table.right("at", |row| number::whole(row.tested.prediction.n));
    table.left("predicted", |row| section::predicted(row.tested, &row.record.unit));
    table.right("measured", |row| number::quantity(row.tested.measured, &row.record.unit));
    table.left("held", |row| section::in_interval(row.tested));
    section.table(table);
    section.note(
        "Each run's model predicts its held-out levels: those of `[model] hold_out`, or the \
         highest third.",
    );
    if let Some(factor) = median(&factors) {
        let factor = number::ratio(factor);
        section.note(format!(
            "The 95 % intervals held {held} of {}; their ends are a factor of {factor} apart \
             (median).",
            factors.len()
        ));
    }
    section
}
