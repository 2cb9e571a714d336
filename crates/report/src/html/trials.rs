//! Every trial in one table, which `report.js` sorts and filters.

use super::markup::text;
use crate::data::{self, Column, Datum, Kind};
use crate::names::short_name;
use crate::number;
use observations::{Recording, TrialRecord, TrialStatus};
use std::fmt::Write;

/// The table with its filters; without scripts it is a plain table in the order of the trials.
pub fn table(recording: &Recording) -> String {
    if recording.trials.is_empty() {
        return "<p class=\"muted\">No trial was recorded.</p>\n".to_owned();
    }
    let table = data::trials(recording);
    let shown: Vec<(usize, &Column)> =
        table.columns.iter().enumerate().filter(|(_, column)| column.on_page).collect();
    let names: Vec<&str> = recording.factors.iter().map(|factor| factor.name.as_str()).collect();
    let mut out = filters(recording, &names, &shown);
    // Writing to a string cannot fail.
    out.push_str("<div class=\"scroll tall\" tabindex=\"0\"><table id=\"trials\">\n<thead><tr>");
    for (_, column) in &shown {
        let heading = column.heading();
        let heading = if column.is_factor() { short_name(&heading, &names) } else { &heading };
        let _ = write!(out, "<th scope=\"col\"{}>{}</th>", class(column), text(heading));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for (trial, row) in recording.trials.iter().zip(table.rows()) {
        let failed =
            if matches!(trial.status, TrialStatus::Failed { .. }) { " class=\"failed\"" } else { "" };
        let _ = write!(out, "<tr{failed}>");
        for (at, column) in &shown {
            let (mut shown, exact) = cell(&row[*at]);
            if column.is_factor() {
                // As the filters have it: `320k`, sorted as the number.
                level(recording, trial, column.name()).unwrap_or_default().clone_into(&mut shown);
            }
            let exact = exact.map_or_else(String::new, |exact| format!(" data-value=\"{exact}\""));
            let _ = write!(out, "<td{}{exact}>{}</td>", class(column), text(&shown));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table></div>\n");
    out
}

fn class(column: &Column) -> &'static str {
    if matches!(column.kind, Kind::Text | Kind::Bool) { "" } else { " class=\"num\"" }
}

/// What a cell says, and the number by which it is sorted. Of several lines the first: the section on failures has all.
pub fn cell(datum: &Datum) -> (String, Option<f64>) {
    match datum {
        Datum::Empty => (String::new(), None),
        Datum::Text(text) => (text.lines().next().unwrap_or_default().to_owned(), None),
        Datum::Bool(value) => (value.to_string(), None),
        Datum::Count(value) => (value.to_string(), Some(*value as f64)),
        Datum::Integer(value) | Datum::Time(value) => (value.to_string(), Some(*value as f64)),
        Datum::Number(value) | Datum::Share(value) if !value.is_finite() => (String::new(), None),
        Datum::Number(value) => (number::grouped(*value), Some(*value)),
        Datum::Share(value) => (number::percent(*value, 1), Some(*value)),
    }
}

fn level<'a>(recording: &'a Recording, trial: &TrialRecord, factor: &str) -> Option<&'a str> {
    let levels = &recording.configurations.get(trial.configuration)?.levels;
    levels.iter().find(|level| level.factor == factor).map(|level| level.level.as_str())
}

/// A field for any text, and one for each factor.
fn filters(recording: &Recording, names: &[&str], shown: &[(usize, &Column)]) -> String {
    let mut out = "<div class=\"filters\" hidden>\n<label>any column contains <input type=\"search\" id=\"filter-text\"></label>\n"
        .to_owned();
    let columns = shown.iter().enumerate().filter(|(_, (_, column))| column.is_factor());
    for (factor, (at, _)) in recording.factors.iter().zip(columns) {
        let name = text(short_name(&factor.name, names));
        let _ = write!(out, "<label>{name} <select data-column=\"{at}\"><option value=\"\">all</option>");
        for level in &factor.levels {
            let level = text(level);
            let _ = write!(out, "<option value=\"{level}\">{level}</option>");
        }
        out.push_str("</select></label>\n");
    }
    out.push_str("<output id=\"filter-count\" aria-live=\"polite\"></output>\n</div>\n");
    out
}
