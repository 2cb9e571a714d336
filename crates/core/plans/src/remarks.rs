//! Findings of a plan by itself, each with a figure or a warning of the engine behind it.

use crate::{Kind, Operator, Parameter, Plan, Rows, Terms, Warning};
use serde::Serialize;

/// An estimate that is further off than this changes which plan is the cheapest: three joins
/// multiply errors of 2 to this (Leis and others, "How Good Are Query Optimizers, Really?", VLDB
/// 2015, show errors by joins).
const OFF: f64 = 10.0;
/// Fewer rows than this are nothing to look at, however far off they are.
const ROWS: f64 = 100.0;
/// Lookups of single rows that cost something.
const LOOKUPS: f64 = 1_000.0;
/// Memory below this is not worth a word, KiB.
const MEMORY_KIB: f64 = 10_240.0;

/// A finding. `operator` is a number in [`Plan::operators`], from 0.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Remark {
    /// Rows came that were not expected, or the other way round, though its inputs are as expected:
    /// here it begins.
    Estimate {
        /// Where.
        operator: usize,
        /// Both numbers.
        rows: Rows,
        /// How many operators above it are off as well.
        above: usize,
    },
    /// Many rows were read and few were kept.
    ReadForNothing {
        /// Where.
        operator: usize,
        /// Rows that were read.
        read: f64,
        /// Rows that were kept.
        kept: f64,
    },
    /// Many single rows were fetched from the table by what an index has found.
    Lookups {
        /// Where.
        operator: usize,
        /// How often.
        count: f64,
    },
    /// The engine warns of an operator.
    Operator {
        /// Where.
        operator: usize,
        /// The engine's name of it.
        name: String,
        /// The engine's details.
        detail: String,
    },
    /// The engine warns of the statement.
    Statement {
        /// The engine's name of it.
        name: String,
        /// The engine's details.
        detail: String,
    },
    /// Much more memory was reserved than was used.
    Memory {
        /// KiB.
        granted_kib: f64,
        /// KiB.
        used_kib: f64,
    },
    /// The plan was made for other values than it ran with.
    Parameters {
        /// Those that differ, with both values.
        differing: Vec<Parameter>,
    },
    /// It is serial for a reason.
    Serial {
        /// The reason, in the engine's words.
        reason: String,
    },
    /// The optimizer gave up before it had looked at all plans.
    EarlyAbort {
        /// The reason, in the engine's words.
        reason: String,
    },
}

/// The findings of a plan: warnings of the engine first.
pub fn remarks(plan: &Plan, terms: &Terms) -> Vec<Remark> {
    let operators = plan.operators();
    let mut all: Vec<Remark> = plan
        .warnings
        .iter()
        .map(|one| Remark::Statement { name: one.name.clone(), detail: one.detail.clone() })
        .collect();
    let mut warnings: Vec<(usize, &Warning)> = operators
        .iter()
        .enumerate()
        .flat_map(|(at, (_, operator))| operator.warnings.iter().map(move |one| (at, one)))
        .collect();
    // The largest spill first; the sort is stable.
    warnings.sort_by(|a, b| b.1.bytes.unwrap_or(0.0).total_cmp(&a.1.bytes.unwrap_or(0.0)));
    all.extend(warnings.into_iter().map(|(at, one)| Remark::Operator {
        operator: at,
        name: one.name.clone(),
        detail: one.detail.clone(),
    }));
    all.extend(
        operators.iter().enumerate().filter_map(|(at, (_, operator))| of_operator(at, operator)),
    );
    all.extend(estimates(&operators));
    let differing: Vec<Parameter> =
        plan.parameters.iter().filter(|one| one.differs).cloned().collect();
    if !differing.is_empty() {
        all.push(Remark::Parameters { differing });
    }
    if let Some((granted_kib, used_kib)) = plan.memory_kib
        && granted_kib >= MEMORY_KIB
        && granted_kib > OFF * used_kib
    {
        all.push(Remark::Memory { granted_kib, used_kib });
    }
    let matters = |reason: &&String| !terms.harmless_reasons.contains(&reason.as_str());
    let serial = plan.serial_reason.iter().filter(matters);
    all.extend(serial.map(|reason| Remark::Serial { reason: reason.clone() }));
    let early = plan.early_abort.iter().filter(matters);
    all.extend(early.map(|reason| Remark::EarlyAbort { reason: reason.clone() }));
    all
}

fn of_operator(at: usize, operator: &Operator) -> Option<Remark> {
    let (read, kept) = (operator.rows_read.actual, operator.rows.actual);
    match (operator.kind, operator.executions) {
        // One with inputs fetches all rows that these have found, in the order of the table.
        (Kind::Lookup, Some(count)) if count >= LOOKUPS && operator.inputs.is_empty() => {
            Some(Remark::Lookups { operator: at, count })
        }
        _ => {
            let (read, kept) = (read?, kept?);
            (read >= OFF * ROWS && read > OFF * kept).then_some(Remark::ReadForNothing {
                operator: at,
                read,
                kept,
            })
        }
    }
}

/// Where estimates go wrong: operators that are off although all of their inputs are right.
fn estimates(operators: &[(usize, &Operator)]) -> Vec<Remark> {
    let off: Vec<bool> = operators.iter().map(|(_, operator)| is_off(operator)).collect();
    let mut all = Vec::new();
    for (at, (depth, operator)) in operators.iter().enumerate() {
        let below = || {
            operators[at + 1..]
                .iter()
                .zip(&off[at + 1..])
                .take_while(|((below, _), _)| below > depth)
        };
        if !off[at] || below().any(|(_, off)| *off) || is_stopped_early(operators, at) {
            continue;
        }
        let above = above(operators, at).filter(|above| off[*above]).count();
        all.push(Remark::Estimate { operator: at, rows: operator.rows, above });
    }
    all
}

fn is_off(operator: &Operator) -> bool {
    let (Some(estimated), Some(actual)) = (operator.rows.estimated, operator.rows.actual) else {
        return false;
    };
    let was_run = operator.executions.is_none_or(|executions| executions > 0.0);
    let (low, high) = (estimated.min(actual).max(1.0), estimated.max(actual));
    was_run && high >= ROWS && high > OFF * low
}

/// Below an operator that needs only the first rows, fewer come than there are.
fn is_stopped_early(operators: &[(usize, &Operator)], at: usize) -> bool {
    let rows = operators[at].1.rows;
    let fewer = rows.actual < rows.estimated;
    fewer
        && above(operators, at).any(|above| {
            let operator = operators[above].1;
            operator.kind == Kind::Limit || operator.detail.contains("Semi")
        })
}

/// The operators that an operator's rows go through, from below.
fn above<'a>(
    operators: &'a [(usize, &'a Operator)],
    at: usize,
) -> impl Iterator<Item = usize> + 'a {
    let mut depth = operators[at].0;
    (0..at).rev().filter(move |above| {
        let is_above = operators[*above].0 < depth;
        if is_above {
            depth = operators[*above].0;
        }
        is_above
    })
}
