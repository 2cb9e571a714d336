//! The operators of an execution plan as a table, with remarks.

use crate::model::{Cell, Columns, Section, Tone};
use crate::number;
use crate::text::joined;
use plans::{Operator, Own, Plan, Remark, Terms, remarks};

/// The part of a run outside of its operators that is named.
const OUTSIDE: f64 = 0.05;

/// An operator in its row.
struct Row<'a> {
    depth: usize,
    operator: &'a Operator,
    own: Own,
}

/// Adds the operators of a plan, with its remarks by the terms of its engine.
pub fn plan_tree(section: &mut Section, plan: &Plan, terms: &Terms) {
    section.line(overview(plan));
    let all = plan.operators();
    let rows: Vec<Row> = all
        .iter()
        .zip(plan.own())
        .map(|((depth, operator), own)| Row { depth: *depth, operator, own })
        .collect();
    let total_cost = plan.root.as_ref().and_then(|root| root.cost).filter(|cost| *cost > 0.0);
    let mut columns = Columns::for_rows(&rows);
    // A page keeps these spaces, too.
    columns.name("operator", |row| {
        let part = row.operator.part.as_ref().map(|part| format!("{part}: ")).unwrap_or_default();
        format!("{}{part}{}", "\u{a0}\u{a0}".repeat(row.depth), row.operator.title())
    });
    columns.name("of", |row| row.operator.objects.first().map(plans::Object::label));
    columns.right("cost", move |row| Some(Cell::percent(row.own.cost? / total_cost?, 0)));
    columns.right("est. rows", |row| row.operator.rows.estimated.map(grouped));
    if all.iter().any(|(_, operator)| operator.rows.actual.is_some()) {
        columns.right("rows", |row| row.operator.rows.actual.map(grouped));
        columns.right("runs", |row| row.operator.executions.map(grouped)).optional = 1;
        columns.right("own ms", |row| row.own.ms.map(grouped)).optional = 2;
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
    for remark in remarks(plan, terms) {
        section.toned(sentence(&remark, &all), Tone::Warning);
    }
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

fn overview(plan: &Plan) -> String {
    let said = [
        plan.cost.map(|cost| format!("estimated cost {}", grouped(cost).text())),
        plan.degree.filter(|degree| *degree > 1).map(|degree| format!("up to {degree} threads")),
        plan.elapsed_ms.map(|ms| format!("run in {} ms", grouped(ms).text())),
        plan.cpu_ms.map(|ms| format!("{} ms CPU time", grouped(ms).text())),
        plan.planning_ms.map(|ms| format!("planned in {} ms", grouped(ms).text())),
    ];
    let said = joined(said.into_iter().flatten(), ", ");
    let said = if said.is_empty() { "no costs and no run recorded".to_owned() } else { said };
    let mut characters = said.chars();
    let first = characters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", characters.as_str())
}

/// Formats a remark with its figures.
fn sentence(remark: &Remark, all: &[(usize, &Operator)]) -> String {
    let place = |at: usize| {
        let operator = all[at].1;
        let object = operator.objects.first().map(|object| format!(" of {}", object.label()));
        format!("{}{}", operator.name, object.unwrap_or_default())
    };
    let detail =
        |detail: &str| if detail.is_empty() { String::new() } else { format!(": {detail}") };
    match remark {
        Remark::Estimate { operator, rows, above } => {
            let (estimated, actual) = (rows.estimated.unwrap_or(0.0), rows.actual.unwrap_or(0.0));
            let above = match above {
                0 => String::new(),
                above => format!(
                    " The error continues into {} above it.",
                    number::plural(*above, "operator")
                ),
            };
            format!(
                "{}: {} rows estimated, {} actual. Its inputs match their estimates, so the \
                 error starts here.{above}",
                place(*operator),
                grouped(estimated).text(),
                grouped(actual).text()
            )
        }
        Remark::ReadForNothing { operator, read, kept } => {
            format!(
                "{}: {} rows read, {} kept.",
                place(*operator),
                grouped(*read).text(),
                grouped(*kept).text()
            )
        }
        Remark::Lookups { operator, count } => format!(
            "{}: {} rows fetched one at a time from the table, because the index lacks columns \
             of the statement.",
            place(*operator),
            grouped(*count).text()
        ),
        Remark::Operator { operator, name, detail: said } => {
            format!("{}: engine warning {name}{}.", place(*operator), detail(said))
        }
        Remark::Statement { name, detail: said } => {
            format!("Engine warning: {name}{}.", detail(said))
        }
        Remark::Memory { granted_kib, used_kib } => format!(
            "{} of memory granted, {} used: other statements may have waited for it.",
            number::bytes((granted_kib * 1024.0) as u64),
            number::bytes((used_kib * 1024.0) as u64)
        ),
        Remark::Parameters { differing } => {
            format!(
                "The plan was compiled for different values than it ran with: {}.",
                joined(
                    differing.iter().map(|one| match (&one.compiled, &one.run) {
                        // Hidden values look alike.
                        (Some(compiled), Some(run)) if compiled != run => {
                            format!("{} {compiled} compiled, {run} run", one.name)
                        }
                        _ => one.name.clone(),
                    }),
                    "; "
                )
            )
        }
        Remark::Serial { reason } => format!("The plan is serial: {reason}."),
        Remark::EarlyAbort { reason } => {
            format!("The optimizer stopped before comparing all plans: {reason}.")
        }
    }
}

/// A figure of an optimizer, whole where it is.
pub fn grouped(value: f64) -> Cell {
    let is_whole = value.fract() == 0.0 && (0.0..9e15).contains(&value);
    let shown = if is_whole { number::count(value as u64) } else { number::grouped(value) };
    Cell::from(value).shown(shown)
}
