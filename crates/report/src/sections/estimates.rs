//! Every response of every configuration.

use crate::model::{Cell, Column, Medium, NOTHING, Section, Table, Tone};
use crate::number;
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
    section.toned(LEGEND, Tone::Muted);
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
    section.toned(LEGEND, Tone::Muted);
    let shown = |row: &&ConfigurationRow| row.baseline || row.standing == Standing::Best;
    let shown: Vec<&ConfigurationRow> = summary.configurations.iter().filter(shown).collect();
    let others: Vec<&str> = names(summary).into_iter().filter(|name| *name != compared_on).collect();
    if others.is_empty() || shown.is_empty() {
        return Some(section);
    }
    let cell = |row: &&ConfigurationRow, name: &str| {
        let own = row.responses.iter().find(|(own, _)| own == name);
        Cell::estimate(own.map(|(_, estimate)| estimate))
    };
    let cells = |name: &&str| -> Vec<Cell> {
        let better = better(&with_response(summary, name));
        let first = [Cell::plain(*name), Cell::plain(better)];
        first.into_iter().chain(shown.iter().map(|row| cell(row, name))).collect()
    };
    let columns = [Column::name("response"), Column::left("better")];
    section.table(Table {
        columns: columns
            .into_iter()
            .chain(shown.iter().map(|row| Column::left(row.label.as_str())))
            .collect(),
        rows: others.iter().map(cells).collect(),
        fixed: false,
    });
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

fn table(summary: &Summary, name: &str, rows: &[(&ConfigurationRow, &Estimate)]) -> Table {
    let compared_on = summary.response.as_ref().filter(|response| response.name == name);
    let mut columns = vec![
        Column::name("configuration"),
        Column::right("n"),
        Column::left("mean"),
        Column::left("median"),
        Column::right("CV"),
    ];
    columns.extend(compared_on.map(|_| Column::left("vs best").optional(1)));
    let cells = |(row, estimate): &(&ConfigurationRow, &Estimate)| {
        let mut cells = vec![
            Cell::plain(row.label.as_str()),
            Cell::plain(estimate.n.to_string()),
            Cell::plain(number::estimate(estimate)),
            Cell::plain(number::quantity(estimate.median, &estimate.unit)),
            Cell::plain(estimate.cv().map_or_else(|| NOTHING.to_owned(), |cv| number::percent(cv, 1))),
        ];
        cells.extend(compared_on.map(|response| against_best(row, &response.unit)));
        cells
    };
    Table { columns, rows: rows.iter().map(cells).collect(), fixed: false }
}

fn against_best(row: &ConfigurationRow, unit: &str) -> Cell {
    match &row.against_best {
        Some(comparison) => Cell::comparison(comparison, unit),
        None if row.standing == Standing::Best => Cell::plain("best"),
        None => Cell::plain(NOTHING),
    }
}
