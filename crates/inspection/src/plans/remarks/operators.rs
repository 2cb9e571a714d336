//! Rules about the work of operators.

use super::reading::outer_rows;
use super::remark::{Measure, Remark, Rule, Share, shown};
use super::weights::{Weights, remark};
use crate::plans::{Access, Kind, Operator, Property};
use observations::number::percent;

/// Executions of the inner input of a join from which one scan with a hash is often cheaper: at
/// 1 to 10 us each, a tenth of a second to a second.
const EXECUTIONS: f64 = 100_000.0;
/// Threads finish together when each has its part. At half of that, one thread has twice its part
/// and the others wait.
const BALANCE: f64 = 0.5;
/// Rows that are distributed evenly or not in a moment.
const DISTRIBUTED: f64 = 1_000.0;
/// Indexes that a change maintains, beside the table.
const INDEXES: usize = 5;

pub fn find(nodes: &Weights<'_>) -> Vec<Remark> {
    let mut all = Vec::new();
    for (at, (_, operator)) in nodes.operators.iter().enumerate() {
        all.extend(warnings(nodes, at, operator));
        all.extend(executions(nodes, at, operator));
        all.extend(skew(nodes, at, operator));
        all.extend(stored_rows(nodes, at, operator));
        all.extend(changes(nodes, at, operator));
        all.extend(operator.properties.iter().filter_map(|entry| property(nodes, at, entry)));
    }
    all
}

/// The engine's warnings of an operator: several are often about the same.
fn warnings(nodes: &Weights<'_>, at: usize, operator: &Operator) -> Option<Remark> {
    if operator.warnings.is_empty() {
        return None;
    }
    let each = operator.warnings.iter().map(|warning| match warning.detail.as_str() {
        "" => warning.name.clone(),
        detail => format!("{} ({detail})", warning.name),
    });
    let text = format!("engine warning {}.", each.collect::<Vec<_>>().join("; "));
    // The cost of making a hash table is that of the join which reads it.
    let share = nodes.share(at).filter(|share| share.part > 0.0);
    let share = share.or_else(|| nodes.share(nodes.above(at).next().unwrap_or(at)));
    remark(Rule::Warning, at, share, text)
}

fn executions(nodes: &Weights<'_>, at: usize, operator: &Operator) -> Option<Remark> {
    if operator.kind != Kind::NestedLoops {
        return None;
    }
    let is_run = operator.rows.actual.is_some();
    let executions = |inner: usize| {
        let counted = nodes.operators[inner].1.executions;
        let count = if is_run { counted } else { outer_rows(nodes, inner) };
        count.filter(|count| *count > EXECUTIONS).map(|count| (inner, count))
    };
    let inputs = nodes.inputs(at);
    let all = inputs.iter().skip(1).filter_map(|inner| executions(*inner));
    let (inner, count) = all.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let expected = if is_run { "" } else { " as expected" };
    let text = format!(
        "The inner input runs {} times{expected}, once for each row of the outer one.",
        shown(count)
    );
    // PostgreSQL has the cost of one run at the input, and that of the others at the join.
    let join = nodes.share(at).map_or(0.0, |share| share.part);
    let share = nodes.within(inner);
    let share = share.map(|share| Share { part: (share.part + join).min(1.0), ..share });
    remark(Rule::Executions, at, share, text)
}

/// The busiest thread's part of the rows, where it is much more than that of the others.
fn skew(nodes: &Weights<'_>, at: usize, operator: &Operator) -> Option<Remark> {
    let is_skewed =
        |at: usize| balance(nodes.operators[at].1).is_some_and(|balance| balance <= BALANCE);
    let begins_here = is_skewed(at) && !nodes.inputs(at).into_iter().any(is_skewed);
    let threads = &operator.thread_rows;
    let (total, most) = (threads.iter().sum::<f64>(), threads.iter().copied().fold(0.0, f64::max));
    let text = format!(
        "One of {} threads has {} of {} rows; the others wait for it.",
        threads.len(),
        percent(most / total, 0),
        shown(total)
    );
    let share = nodes.consequences(at, is_skewed);
    if begins_here { remark(Rule::Skew, at, share, text) } else { None }
}

/// The mean rows of a thread by those of the busiest: 1 where all have the same.
fn balance(operator: &Operator) -> Option<f64> {
    let threads = &operator.thread_rows;
    let total: f64 = threads.iter().sum();
    let most = threads.iter().copied().fold(0.0, f64::max);
    let is_judged = operator.is_parallel && threads.len() > 1 && total >= DISTRIBUTED;
    is_judged.then(|| total / threads.len() as f64 / most)
}

/// Rows that are kept: an index for this run, a copy, a cache.
fn stored_rows(nodes: &Weights<'_>, at: usize, operator: &Operator) -> Option<Remark> {
    let rows = operator.rows.actual.or(operator.rows.estimated).map(shown).unwrap_or_default();
    let properties = &operator.properties;
    if properties.contains(&Property::IndexBuilt) {
        let text = "An index is made for this run and dropped after it: a permanent one saves \
                    that."
            .into();
        return remark(Rule::IndexBuilt, at, nodes.share(at), text);
    }
    let cache = properties.iter().find_map(|property| match property {
        Property::Cache { misses, hits } => Some((*misses, *hits)),
        _ => None,
    });
    if let Some((misses, hits)) = cache.filter(|(misses, hits)| misses > hits) {
        let text = format!(
            "Results are kept for values that seldom come again: {} were computed, {} reused.",
            shown(misses),
            shown(hits)
        );
        return remark(Rule::CacheMissed, at, nodes.share(at), text);
    }
    let reused = cache.map(|(misses, hits)| {
        format!(" It was filled {} times and reused {} times.", shown(misses), shown(hits))
    });
    let text = format!(
        "A copy of rows is written and read again, {rows} rows in all.{}",
        reused.unwrap_or_default()
    );
    let is_known = properties.contains(&Property::PartKept) || nodes.share(at).is_none();
    if operator.kind == Kind::Spool && !is_known {
        remark(Rule::Materialized, at, nodes.share(at), text)
    } else {
        None
    }
}

fn changes(nodes: &Weights<'_>, at: usize, operator: &Operator) -> Option<Remark> {
    let indexes = operator.objects.len().saturating_sub(1);
    let is_judged = operator.access == Some(Access::Change) && indexes >= INDEXES;
    let text = format!("The change maintains {indexes} more indexes of the table.");
    if is_judged { remark(Rule::ManyIndexes, at, nodes.share(at), text) } else { None }
}

fn property(nodes: &Weights<'_>, at: usize, property: &Property) -> Option<Remark> {
    let (rule, share, text) = match property {
        Property::ManyToMany => (
            Rule::ManyToMany,
            nodes.share(at),
            "Both inputs of the merge join may repeat a key: rows are kept in a work table and \
             read again for each repetition."
                .to_owned(),
        ),
        Property::AlternativeKeys => (
            Rule::AlternativeKeys,
            nodes.within(at),
            "Rows are joined by one of several comparisons (OR), whose ranges are merged for each \
             outer row. Two joins with UNION can be hashed or merged."
                .to_owned(),
        ),
        Property::NullAware => (
            Rule::NullAware,
            nodes.within(at),
            "NOT IN with values that may be NULL: each row is compared with the whole list, also \
             for NULL. NOT EXISTS, or NOT NULL columns, avoid that."
                .to_owned(),
        ),
        Property::MismatchedTypes => (
            Rule::MismatchedTypes,
            nodes.consequences(at, |_| false),
            "A column is compared with a value of another type: the range to seek is computed in \
             the run, and the estimate is a guess."
                .to_owned(),
        ),
        Property::TableVariable => (
            Rule::TableVariable,
            nodes.consequences(at, |_| false),
            "A table variable has no statistics: its values are guessed. A temporary table has \
             them."
                .to_owned(),
        ),
        Property::PartKept => (
            Rule::Materialized,
            nodes.within(at),
            "The rows of a part of the statement are computed and kept before the rest begins."
                .to_owned(),
        ),
        Property::Workers { planned, launched } if launched < planned => (
            Rule::WorkersMissing,
            nodes.within(at),
            format!(
                "{} of {} planned workers were launched: others had taken those of the server.",
                shown(*launched),
                shown(*planned)
            ),
        ),
        _ => return None,
    };
    remark(rule, at, share, text)
}

/// The operators with user-defined functions, by their share of the run.
pub fn functions(
    nodes: &Weights<'_>,
    functions_ms: Option<f64>,
    elapsed_ms: Option<f64>,
) -> Vec<Remark> {
    let time =
        |ms: f64| elapsed_ms.map(|run| Share { part: (ms / run).min(1.0), of: Measure::Time });
    let in_operators = nodes.operators.first().and_then(|(_, root)| root.time()).unwrap_or(0.0);
    let outside = elapsed_ms.map_or(0.0, |run| run - in_operators).max(0.0);
    let mut all = Vec::new();
    for (at, (_, operator)) in nodes.operators.iter().enumerate() {
        for property in &operator.properties {
            let (rule, share, text) = match property {
                Property::FunctionPerRow(name) => (
                    Rule::FunctionPerRow,
                    functions_ms.map_or(Some(None), |ms| time(ms).map(Some)).flatten(),
                    format!(
                        "The user-defined function {name} is called for each row. Its cost is \
                         not estimated."
                    ),
                ),
                Property::TableFunction => (
                    Rule::TableFunction,
                    // Statements in the function are not among the operators.
                    time(outside)
                        .filter(|share| share.part > 0.5)
                        .or(nodes.consequences(at, |_| false)),
                    "A user-defined function fills a table first: its statements are not in this \
                     plan, and its rows have no statistics."
                        .to_owned(),
                ),
                _ => continue,
            };
            all.extend(remark(rule, at, share, text));
        }
    }
    all
}
