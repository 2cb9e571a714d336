//! Every response of every configuration.

use crate::model::{Cell, Columns, Medium, Section};
use analysis::{ConfigurationRow, Estimate, Standing, Summary};
use observations::Direction;

const LEGEND: &str = "CV: standard deviation relative to the mean; ± and [ ]: 95 % intervals.";

/// On pages all, in texts what there is room for.
pub(crate) fn sections(summary: &Summary) -> Vec<Section> {
    let all = all(summary).map(|section| Section { medium: Medium::Page, ..section });
    let brief = brief(summary).map(|section| Section { medium: Medium::Text, ..section });
    brief.into_iter().chain(all).collect()
}

/// Mean, median and spread of all that trials recorded, a table for each response; `None` when there was no trial.
fn all(summary: &Summary) -> Option<Section> {
    let names = names(summary);
    let mut section = Section::new("Every response");
    for name in &names {
        let rows = with_response(summary, name);
        section.line(format!("{name}, {} is better", better(&rows)));
        section.table(table(summary, name, &rows));
    }
    section.note(LEGEND);
    (!names.is_empty()).then_some(section)
}

/// The response compared in full, the others of the baseline and the best configuration only: what a terminal has
/// room for. [`all`] says no less.
fn brief(summary: &Summary) -> Option<Section> {
    let compared_on = summary.response.as_ref()?.name.as_str();
    let mut section = Section::new("Every response");
    let rows = with_response(summary, compared_on);
    section.line(format!("{compared_on}, {} is better", better(&rows)));
    section.table(table(summary, compared_on, &rows));
    section.note(LEGEND);
    let shown = |row: &&ConfigurationRow| row.baseline || row.standing == Standing::Best;
    let shown: Vec<&ConfigurationRow> = summary.configurations.iter().filter(shown).collect();
    let others: Vec<&str> = names(summary).into_iter().filter(|name| *name != compared_on).collect();
    if others.is_empty() || shown.is_empty() {
        return Some(section);
    }
    let mut table = Columns::of(others);
    table.name("response", |name| *name);
    table.left("better", |name| better(&with_response(summary, name)));
    for row in shown {
        let own = |name: &&str| row.responses.iter().find(|(own, _)| own == name);
        table.left(&row.label, move |name| own(name).map(|(_, estimate)| estimate));
    }
    section.table(table);
    Some(section)
}

/// Names of all responses, in the order in which they occur.
fn names<'s>(summary: &'s Summary) -> Vec<&'s str> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in summary.configurations.iter().flat_map(|row| &row.responses) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names
}

fn with_response<'a>(summary: &'a Summary<'_>, name: &str) -> Vec<(&'a ConfigurationRow, &'a Estimate)> {
    let all = summary.configurations.iter().flat_map(|row| row.responses.iter().map(move |own| (row, own)));
    all.filter(|(_, (own, _))| own == name).map(|(row, (_, estimate))| (row, estimate)).collect()
}

fn better(rows: &[(&ConfigurationRow, &Estimate)]) -> &'static str {
    match rows.first().map(|(_, estimate)| estimate.direction) {
        Some(Direction::HigherIsBetter) => "higher",
        _ => "lower",
    }
}

fn table<'a>(
    summary: &'a Summary,
    name: &str,
    rows: &'a [(&'a ConfigurationRow, &'a Estimate)],
) -> Columns<'a, &'a (&'a ConfigurationRow, &'a Estimate)> {
    let mut table = Columns::of(rows);
    table.name("configuration", |(row, _)| &row.label);
    table.right("n", |(_, estimate)| estimate.n);
    table.left("mean", |(_, estimate)| *estimate);
    table.left("median", |(_, estimate)| Cell::quantity(estimate.median, &estimate.unit));
    table.right("CV", |(_, estimate)| estimate.cv().map(|cv| Cell::percent(cv, 1)));
    if let Some(response) = summary.response.as_ref().filter(|response| response.name == name) {
        table.left("vs best", |(row, _)| against_best(row, &response.unit)).optional(1);
    }
    table
}

fn against_best(row: &ConfigurationRow, unit: &str) -> Cell {
    match &row.against_best {
        Some(comparison) => Cell::comparison(comparison, unit),
        None if row.standing == Standing::Best => "best".into(),
        None => Cell::default(),
    }
}
