//! Every trial in one table, which `report.js` sorts and filters.

use super::markup::text;
use crate::names::short_name;
use crate::number;
use analysis::Accounting;
use observations::{Observations, Recording, TrialRecord, TrialStatus};
use std::fmt::Write;

/// A column: its heading, and the cell of a trial.
struct Column<'a> {
    heading: String,
    /// Whether its cells are numbers.
    number: bool,
    cell: Box<dyn Fn(&TrialRecord) -> Value + 'a>,
}

/// What a cell says, and by what it is sorted.
struct Value {
    shown: String,
    exact: Option<f64>,
}

impl Value {
    fn text(shown: &str) -> Self {
        Self { shown: shown.to_owned(), exact: None }
    }

    fn number(value: Option<f64>, show: impl Fn(f64) -> String) -> Self {
        let value = value.filter(|value| value.is_finite());
        Self { shown: value.map(show).unwrap_or_default(), exact: value }
    }

    fn whole(value: u32) -> Self {
        Self { shown: value.to_string(), exact: Some(f64::from(value)) }
    }
}

/// The table with its filters; without scripts it is a plain table in the order of the trials.
pub fn table(recording: &Recording) -> String {
    if recording.trials.is_empty() {
        return "<p class=\"muted\">No trial was recorded.</p>\n".to_owned();
    }
    let columns = columns(recording);
    let mut out = filters(recording);
    // Writing to a string cannot fail.
    out.push_str("<div class=\"scroll tall\" tabindex=\"0\"><table id=\"trials\">\n<thead><tr>");
    for column in &columns {
        let class = if column.number { " class=\"num\"" } else { "" };
        let _ = write!(out, "<th scope=\"col\"{class}>{}</th>", text(&column.heading));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for trial in &recording.trials {
        let failed =
            if matches!(trial.status, TrialStatus::Failed { .. }) { " class=\"failed\"" } else { "" };
        let _ = write!(out, "<tr{failed}>");
        for column in &columns {
            let value = (column.cell)(trial);
            let class = if column.number { " class=\"num\"" } else { "" };
            let exact = value.exact.map_or_else(String::new, |exact| format!(" data-value=\"{exact}\""));
            let _ = write!(out, "<td{class}{exact}>{}</td>", text(&value.shown));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table></div>\n");
    out
}

/// A field for any text, and one for each factor.
fn filters(recording: &Recording) -> String {
    let names = names(recording);
    let mut out = "<div class=\"filters\" hidden>\n<label>any column contains <input type=\"search\" id=\"filter-text\"></label>\n"
        .to_owned();
    for (i, factor) in recording.factors.iter().enumerate() {
        let name = text(short_name(&factor.name, &names));
        let _ =
            write!(out, "<label>{name} <select data-column=\"{}\"><option value=\"\">all</option>", 3 + i);
        for level in &factor.levels {
            let level = text(level);
            let _ = write!(out, "<option value=\"{level}\">{level}</option>");
        }
        out.push_str("</select></label>\n");
    }
    out.push_str("<output id=\"filter-count\" aria-live=\"polite\"></output>\n</div>\n");
    out
}

fn names(recording: &Recording) -> Vec<&str> {
    recording.factors.iter().map(|factor| factor.name.as_str()).collect()
}

fn columns(recording: &Recording) -> Vec<Column<'_>> {
    let mut columns = vec![
        whole("trial", |trial| trial.sequence),
        whole("block", |trial| trial.block),
        whole("try", |trial| trial.attempt),
    ];
    let names = names(recording);
    for factor in &recording.factors {
        let cell = |trial: &TrialRecord| {
            let levels = recording.configurations.get(trial.configuration).map(|own| &own.levels);
            let own = levels.into_iter().flatten().find(|level| level.factor == factor.name);
            // Levels that are numbers are sorted as such.
            let exact = own.and_then(|own| {
                let position = factor.levels.iter().position(|level| *level == own.level)?;
                factor.numeric.as_ref()?.get(position).copied()
            });
            Value {
                shown: own.map_or_else(String::new, |own| crate::Text::from(own.level.as_str()).to_string()),
                exact,
            }
        };
        columns.push(Column {
            heading: short_name(&factor.name, &names).to_owned(),
            number: factor.numeric.is_some(),
            cell: Box::new(cell),
        });
    }
    columns.push(words("status", status));
    columns.extend(responses(recording));
    columns.push(share("CPU", |accounting| accounting.share(accounting.cpu_s)));
    columns.push(share("unaccounted", Accounting::unaccounted_share));
    columns.push(words("warnings", warnings));
    if recording.trials.iter().any(|trial| matches!(trial.status, TrialStatus::Failed { .. })) {
        columns.push(words("cause of failure", cause));
    }
    columns
}

fn words<'a>(heading: &str, cell: fn(&TrialRecord) -> Value) -> Column<'a> {
    Column { heading: heading.to_owned(), number: false, cell: Box::new(cell) }
}

fn whole<'a>(heading: &str, of: fn(&TrialRecord) -> u32) -> Column<'a> {
    Column { heading: heading.to_owned(), number: true, cell: Box::new(move |trial| Value::whole(of(trial))) }
}

/// A column for elapsed time, and one for each response that any trial has, in the order of the first.
fn responses(recording: &Recording) -> Vec<Column<'_>> {
    let mut known: Vec<(&str, &str)> = Vec::new();
    for response in recording.done().flat_map(|(_, seen)| &seen.responses) {
        let own = (response.name.as_str(), response.unit.as_str());
        if !known.contains(&own) {
            known.push(own);
        }
    }
    let elapsed = Column {
        heading: "elapsed (s)".to_owned(),
        number: true,
        cell: Box::new(|trial| Value::number(done(trial).map(|seen| seen.elapsed_s), number::grouped)),
    };
    let recorded = known.iter().any(|(name, _)| *name == "elapsed");
    let of = |(name, unit): (&str, &str)| {
        let (name, unit) = (name.to_owned(), unit.to_owned());
        let heading = if unit.is_empty() { name.clone() } else { format!("{name} ({unit})") };
        let cell = move |trial: &TrialRecord| {
            let own = done(trial).and_then(|o| o.responses.iter().find(|r| r.name == name && r.unit == unit));
            Value::number(own.map(|response| response.value), number::grouped)
        };
        Column { heading, number: true, cell: Box::new(cell) }
    };
    (!recorded).then_some(elapsed).into_iter().chain(known.into_iter().map(of)).collect()
}

fn share<'a>(heading: &str, of: fn(&Accounting) -> f64) -> Column<'a> {
    let cell = move |trial: &TrialRecord| {
        let accounting = done(trial).map(Accounting::of).filter(|own| own.session_s > 0.0);
        Value::number(accounting.as_ref().map(of), |share| number::percent(share, 1))
    };
    Column { heading: heading.to_owned(), number: true, cell: Box::new(cell) }
}

fn done(trial: &TrialRecord) -> Option<&Observations> {
    trial.observations.as_ref().filter(|_| trial.status == TrialStatus::Done)
}

fn status(trial: &TrialRecord) -> Value {
    Value::text(match &trial.status {
        TrialStatus::Done => "done",
        TrialStatus::Failed { .. } => "failed",
    })
}

/// Why a trial failed, in its first line: what may follow is in the section on failures.
fn cause(trial: &TrialRecord) -> Value {
    Value::text(match &trial.status {
        TrialStatus::Done => "",
        TrialStatus::Failed { cause } => cause.lines().next().unwrap_or_default(),
    })
}

fn warnings(trial: &TrialRecord) -> Value {
    let all = trial.observations.iter().flat_map(|seen| &seen.warnings);
    Value::text(&all.map(|warning| warning.kind.name()).collect::<Vec<_>>().join(", "))
}
