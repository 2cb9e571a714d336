//! The operators of an execution plan as a table, with remarks.

use crate::plans::{self, Measure, NetCost, Operator, Plan, Remark, Terms, remarks};
use report::model::{Cell, Column, Columns, Section, Tone};
use report::number;
use report::text::joined;
use std::fmt::{self, Display, Formatter};

/// The part of a run outside of its operators that is named.
const OUTSIDE: f64 = 0.05;

/// An operator in its row.
struct Row<'a> {
    depth: usize,
    operator: &'a Operator,
    net: NetCost,
}

/// Adds the operators of a plan, with its remarks by the terms of its engine.
pub fn plan_tree(section: &mut Section, plan: &Plan, terms: &Terms) {
    section.line(overview(plan));
    let all = plan.operators();
    for remark in remarks(plan, terms) {
        let place = remark.operator.map(|at| place(all[at].1)).unwrap_or_default();
        section.toned(Placed { remark: &remark, place }.to_string(), Tone::Warning);
    }
    table(section, plan);
    rest(section, plan);
}

/// Adds the operators of a plan as a tree.
pub fn table(section: &mut Section, plan: &Plan) {
    let all = plan.operators();
    let rows: Vec<Row> = all
        .iter()
        .zip(plan.net_costs())
        .map(|((depth, operator), share)| Row { depth: *depth, operator, net: share })
        .collect();
    let total_cost = plan.root.as_ref().and_then(|root| root.cost).filter(|cost| *cost > 0.0);
    let mut columns = Columns::for_rows(&rows);
    // A page keeps these spaces, too.
    columns.name("operator", |row| {
        let part = row.operator.part.as_ref().map(|part| format!("{part}: ")).unwrap_or_default();
        format!("{}{part}{}", "\u{a0}\u{a0}".repeat(row.depth), row.operator.title())
    });
    columns.name("of", |row| row.operator.objects.first().map(plans::Object::label));
    columns.with(Column::right("cost"), move |row| {
        Some(Cell::percent(row.net.cost? / total_cost?, 0))
    });
    columns.right("est. rows", |row| row.operator.rows.estimated.map(grouped));
    if all.iter().any(|(_, operator)| operator.rows.actual.is_some()) {
        columns.right("rows", |row| row.operator.rows.actual.map(grouped));
        columns.right("runs", |row| row.operator.executions.map(grouped)).optional = 1;
        columns.right("own ms", |row| row.net.ms.map(grouped)).optional = 2;
    }
    section.table(columns);
    let in_operators = plan.root.as_ref().and_then(Operator::time);
    if let (Some(run), Some(ms)) = (plan.elapsed_ms, in_operators)
        && run - ms > OUTSIDE * run
    {
        section.note(format!(
            "{} of the {} ms of the run are outside of its operators: start and end of the run, \
             triggers, functions that were not timed, or the client.",
            number::grouped(run - ms),
            number::grouped(run)
        ));
    }
}

/// Adds the waits of a run, and the parts of the file that are not read.
pub fn rest(section: &mut Section, plan: &Plan) {
    let waits = plan.waits.iter().map(|wait| {
        format!(
            "{} {} ms in {}",
            wait.name,
            number::grouped(wait.wait_ms),
            number::plural(wait.count as usize, "wait")
        )
    });
    if !plan.waits.is_empty() {
        section.line(format!("Waits of the run: {}.", joined(waits, ", ")));
    }
    if !plan.unknown.is_empty() {
        section.note(format!("Unknown parts of the file: {}.", joined(&plan.unknown, ", ")));
    }
}

pub fn overview(plan: &Plan) -> String {
    let figures = [
        plan.cost.map(|cost| format!("estimated cost {}", grouped(cost).text())),
        plan.degree.filter(|degree| *degree > 1).map(|degree| format!("up to {degree} threads")),
        plan.elapsed_ms.map(|ms| format!("run in {} ms", grouped(ms).text())),
        plan.cpu_ms.map(|ms| format!("{} ms CPU time", grouped(ms).text())),
        plan.planning_ms.map(|ms| format!("planned in {} ms", grouped(ms).text())),
    ];
    let summary = joined(figures.into_iter().flatten(), ", ");
    let text = if summary.is_empty() { "no costs and no run recorded".to_owned() } else { summary };
    let mut characters = text.chars();
    let first = characters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", characters.as_str())
}

/// An operator with its table, before a remark on it.
fn place(operator: &Operator) -> String {
    let object = operator.objects.first().map(|object| format!(" of {}", object.label()));
    format!("{}{}: ", operator.name, object.unwrap_or_default())
}

/// A remark with its share and, where it does not stand at its operator, its place.
pub struct Placed<'a> {
    pub remark: &'a Remark,
    pub place: String,
}

impl Display for Placed<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(share) = self.remark.share {
            let whole = match share.of {
                Measure::Time => "time",
                Measure::Cost => "cost",
            };
            write!(f, "{} of the {whole}: ", number::short_percent(share.part))?;
        }
        write!(f, "{}{}", self.place, self.remark.text)
    }
}

/// A figure of an optimizer, whole where it is.
pub fn grouped(value: f64) -> Cell {
    let is_whole = value.fract() == 0.0 && (0.0..9e15).contains(&value);
    let shown = if is_whole { number::count(value as u64) } else { number::grouped(value) };
    Cell::from(value).shown(shown)
}
