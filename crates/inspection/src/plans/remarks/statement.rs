//! Rules about a whole statement.

use super::estimates::is_off;
use super::operators::functions;
use super::remark::{MATTERS, Measure, OFF, Remark, Rule, Share, shown};
use super::weights::Weights;
use crate::plans::{Memory, MissingIndex, Operator, Parameter, Plan, Statistics, Terms, Trait};
use observations::number::{bytes, figure, plain_percent, plural};
use report::text::joined;

/// Memory below this is not worth a word, KiB.
const MEMORY_KIB: f64 = 10_240.0;
/// Unused memory that other statements miss on any server, KiB.
const UNUSED_KIB: f64 = 1_048_576.0;
/// Planning of less time is not felt, ms.
const PLANNING_MS: f64 = 10.0;
/// Planning that matters where no run is recorded to compare with, ms.
const PLANNING_ALONE_MS: f64 = 1_000.0;
/// Shorter runs do not need several threads, ms.
const PARALLEL_MS: f64 = 100.0;
/// Part of its threads that a parallel plan keeps busy at least.
const BUSY: f64 = 0.5;
/// SQL Server gathers statistics again after the square root of 1,000 times the rows has changed
/// (<https://learn.microsoft.com/sql/relational-databases/statistics/statistics>), but not before
/// 500 changes.
const CHANGES_FACTOR: f64 = 1_000.0;
const CHANGES_MIN: f64 = 500.0;
/// Smaller samples miss values: 1 in 20 rows shows a value of 60 rows with 95 % probability.
const SAMPLED: f64 = 0.05;
/// Columns of an advised index from which its upkeep and size are those of a second table.
const COLUMNS: usize = 6;

pub fn find(plan: &Plan, nodes: &Weights<'_>, terms: &Terms) -> Vec<Remark> {
    let mut all: Vec<Remark> = plan
        .warnings
        .iter()
        .filter(|warning| !terms.judged_warnings.contains(&warning.name.as_str()))
        .map(|warning| {
            let parts = [warning.name.as_str(), &warning.detail];
            let text = joined(parts.into_iter().filter(|part| !part.is_empty()), ": ");
            whole(Rule::Warning, None, format!("Engine warning {text}."))
        })
        .collect();
    all.extend(values(plan, nodes));
    all.extend(plan.memory.into_iter().flat_map(|memory| reserved(plan, memory)));
    all.extend(serial(plan, terms));
    all.extend(threads(plan));
    all.extend(times(plan));
    all.extend(functions(nodes, plan.functions_ms, plan.elapsed_ms));
    all.extend(plan.missing_indexes.iter().filter_map(|index| missing(nodes, index)));
    all.extend(statistics(nodes, &plan.statistics));
    all
}

fn whole(rule: Rule, share: Option<Share>, text: String) -> Remark {
    Remark { rule, operator: None, share, text }
}

fn time(ms: f64, whole: f64) -> Option<Share> {
    (whole > 0.0).then(|| Share { part: (ms / whole).min(1.0), of: Measure::Time })
}

/// Values that the plan was made for, and what the statement says about them.
fn values(plan: &Plan, nodes: &Weights<'_>) -> Vec<Remark> {
    let differing: Vec<&Parameter> =
        plan.parameters.iter().filter(|parameter| parameter.differs).collect();
    // A plan whose estimates are right is not the worse for it.
    let is_wrong = nodes.operators.iter().any(|(_, operator)| is_off(operator));
    let mut all = Vec::new();
    if is_wrong && !differing.is_empty() {
        let each = differing.iter().map(|parameter| match (&parameter.compiled, &parameter.run) {
            // Hidden values look alike.
            (Some(compiled), Some(run)) if compiled != run => {
                format!("{} {compiled} compiled, {run} run", parameter.name)
            }
            _ => parameter.name.clone(),
        });
        let each = each.collect::<Vec<_>>().join("; ");
        all.push(whole(
            Rule::Parameters,
            None,
            format!("The plan was compiled for different values than it ran with: {each}."),
        ));
    }
    all.extend(plan.traits.iter().filter_map(|role| match role {
        Trait::UnknownValues { names, is_wanted } => {
            let why = if *is_wanted {
                "as the statement asks (OPTIMIZE FOR UNKNOWN)"
            } else {
                "as of local variables"
            };
            Some(whole(
                Rule::UnknownValues,
                None,
                format!(
                    "The plan was made without the values of {}, {why}: rows are estimated by \
                     averages.",
                    names.join(", ")
                ),
            ))
        }
        Trait::DynamicCursor(name) => Some(whole(
            Rule::DynamicCursor,
            None,
            format!(
                "The cursor {name} is dynamic: each fetch runs the plan again from its position, \
                 and only plans that can do so are considered."
            ),
        )),
        Trait::Variant { condition, low, high } => Some(whole(
            Rule::Variant,
            None,
            format!(
                "This is one of several plans by the rows of a value: for {} to {} rows of \
                 {condition}.",
                shown(*low),
                shown(*high)
            ),
        )),
        Trait::SerialByHint => None,
    }));
    all
}

/// Memory that was waited for, and memory that was not used.
fn reserved(plan: &Plan, memory: Memory) -> Vec<Remark> {
    let Memory { granted_kib, used_kib, wait_ms } = memory;
    let size = |kib: f64| bytes((kib * 1024.0) as u64);
    let unused = granted_kib - used_kib;
    let is_unused = granted_kib >= MEMORY_KIB && granted_kib > OFF * used_kib
        || unused >= UNUSED_KIB && used_kib < granted_kib / 2.0;
    let run = plan.elapsed_ms.unwrap_or(0.0) + wait_ms;
    let share = time(wait_ms, run).filter(|share| share.part >= MATTERS);
    let waited = share.map(|_| {
        whole(
            Rule::MemoryWait,
            share,
            format!("The statement waited {} ms until memory was granted.", shown(wait_ms)),
        )
    });
    let unused = is_unused.then(|| {
        whole(
            Rule::MemoryUnused,
            None,
            format!(
                "{} of memory granted, {} used: other statements may have waited for it.",
                size(granted_kib),
                size(used_kib)
            ),
        )
    });
    waited.into_iter().chain(unused).collect()
}

fn serial(plan: &Plan, terms: &Terms) -> Vec<Remark> {
    let matters = |reason: &&String| !terms.harmless_reasons.contains(&reason.as_str());
    // A cheap plan would be serial anyway.
    let is_large = plan.cost.is_none_or(|cost| cost >= terms.parallel_cost);
    let reason = plan.serial_reason.iter().filter(matters).filter(|_| is_large);
    let mut all: Vec<Remark> = reason
        .map(|reason| whole(Rule::Serial, None, format!("The plan is serial: {reason}.")))
        .collect();
    if is_large && plan.traits.contains(&Trait::SerialByHint) {
        let text = "A hint of the statement (MAXDOP 1) makes the plan serial.".into();
        all.push(whole(Rule::SerialByHint, None, text));
    }
    let early = plan.early_abort.iter().filter(matters).map(|reason| {
        let text = format!("The optimizer stopped before comparing all plans: {reason}.");
        whole(Rule::EarlyAbort, None, text)
    });
    all.extend(early);
    all
}

/// A parallel plan that keeps few of its threads busy.
fn threads(plan: &Plan) -> Option<Remark> {
    let degree = f64::from(plan.degree.filter(|degree| *degree > 1)?);
    let (cpu, elapsed) = (plan.cpu_ms?, plan.elapsed_ms?);
    let busy = cpu / elapsed;
    (elapsed >= PARALLEL_MS && busy < BUSY * degree).then(|| {
        whole(
            Rule::IdleThreads,
            None,
            format!(
                "Of {degree} threads {} were busy on average: the others waited, for one thread \
                 with most of the rows, for pages or for locks.",
                figure(busy)
            ),
        )
    })
}

/// Time before the run: planning, compilation.
fn times(plan: &Plan) -> Vec<Remark> {
    let mut all = Vec::new();
    let planning = plan.planning_cpu_ms.or(plan.planning_ms).unwrap_or(0.0);
    let total = plan.planning_ms.unwrap_or(planning);
    let share = plan.elapsed_ms.and_then(|run| time(total, run + total));
    let is_long = share.map_or(planning >= PLANNING_ALONE_MS, |share| {
        planning >= PLANNING_MS && share.part >= MATTERS
    });
    if is_long {
        let text = format!(
            "Planning took {} ms of processor time. A kept or prepared plan saves that.",
            shown(planning)
        );
        all.push(whole(Rule::Planning, share, text));
    }
    let compiled = plan.compilation_ms.zip(plan.elapsed_ms);
    if let Some((ms, run)) = compiled
        && let Some(share) = time(ms, run).filter(|share| share.part >= MATTERS)
    {
        let text = format!(
            "Compilation to machine code took {} ms (JIT). A higher jit_above_cost spares shorter \
             statements that.",
            shown(ms)
        );
        all.push(whole(Rule::Compilation, Some(share), text));
    }
    all
}

/// The time or cost of the operators that read a table: an index can save at most that.
fn reading(nodes: &Weights<'_>, table: &str) -> Option<Share> {
    let parts = (0..nodes.operators.len()).filter(|at| {
        let operator = nodes.operators[*at].1;
        operator.access.is_some() && operator.objects.iter().any(|object| object.table == table)
    });
    let shares: Vec<Share> = parts.filter_map(|at| nodes.share(at)).collect();
    let part = shares.iter().map(|share| share.part).sum::<f64>().min(1.0);
    shares.first().map(|first| Share { part, of: first.of })
}

/// An index that the optimizer missed, and the quality of its advice.
fn missing(nodes: &Weights<'_>, index: &MissingIndex) -> Option<Remark> {
    let share = reading(nodes, &index.object.table);
    if share.is_some_and(|share| share.part < MATTERS) {
        return None;
    }
    let keys = index.equality.len() + index.inequality.len();
    let columns = keys + index.included.len();
    let mut doubts = Vec::new();
    if columns >= COLUMNS {
        doubts.push(format!("it would carry {columns} columns, a large part of the table"));
    }
    if index.equality.is_empty() && !index.inequality.is_empty() {
        doubts.push("no column is compared with =, so that it only narrows a range".into());
    }
    if keys > 1 {
        doubts.push("the order of its key columns is not advised".into());
    }
    let saved = index
        .impact
        .map(|impact| format!(" It would save {} of the estimated cost.", plain_percent(impact)));
    let doubts =
        (!doubts.is_empty()).then(|| format!(" Before creating it: {}.", doubts.join("; ")));
    let columns = plural(keys, "key column");
    let text = format!(
        "The optimizer misses an index of {} with {columns}.{}{}",
        index.object.label(),
        saved.unwrap_or_default(),
        doubts.unwrap_or_default()
    );
    Some(whole(Rule::MissingIndex, share, text))
}

/// Statistics of a table that are older than their data, or of a sample that is too small for the
/// estimates that rest on them; one remark for each table.
fn statistics(nodes: &Weights<'_>, all: &[Statistics]) -> Vec<Remark> {
    let mut tables: Vec<&str> =
        all.iter().map(|statistics| statistics.object.table.as_str()).collect();
    tables.sort_unstable();
    tables.dedup();
    let remarks = tables.into_iter().filter_map(|table| {
        let table_statistics: Vec<&Statistics> =
            all.iter().filter(|statistics| statistics.object.table == table).collect();
        let operators: Vec<&Operator> = nodes
            .operators
            .iter()
            .map(|(_, operator)| *operator)
            .filter(|operator| operator.objects.iter().any(|object| object.table == table))
            .collect();
        let is_run = operators.iter().any(|operator| operator.rows.actual.is_some());
        let is_doubtful = !is_run || operators.iter().any(|operator| is_off(operator));
        let stale: Vec<&str> = table_statistics
            .iter()
            .filter(|statistic| is_stale(statistic))
            .map(|statistic| statistic.name.as_str())
            .collect();
        let thin =
            table_statistics.iter().filter(|statistic| statistic.sampled < SAMPLED && is_doubtful);
        let least = thin.clone().map(|statistics| statistics.sampled).reduce(f64::min);
        let thin: Vec<&str> = thin.map(|statistics| statistics.name.as_str()).collect();
        let label = table_statistics.first()?.object.label();
        let text = if stale.is_empty() {
            let sample = plain_percent(least?);
            let names = thin.join(", ");
            format!("Statistics of {label} are of a sample of {sample} of its rows: {names}.")
        } else {
            let changes =
                table_statistics.iter().map(|statistic| statistic.changes).fold(0.0, f64::max);
            let names = stale.join(", ");
            let changes = shown(changes);
            format!("Statistics of {label} are older than up to {changes} changes: {names}.")
        };
        let share = reading(nodes, table);
        let matters = share.is_none_or(|share| share.part >= MATTERS);
        matters.then(|| whole(Rule::Statistics, share, text))
    });
    remarks.collect()
}

fn is_stale(statistics: &Statistics) -> bool {
    let limit = statistics.rows.map(|rows| (CHANGES_FACTOR * rows).sqrt().max(CHANGES_MIN));
    limit.is_some_and(|limit| statistics.changes > limit)
}
