//! Rules about reading: rows that were dropped, conditions for which an index is of no use, rows
//! fetched one at a time.

use super::remark::{OFF, ROWS, Remark, Rule, shown};
use super::weights::{Weights, remark};
use crate::plans::{Access, Kind, Obstacle, Operator, Property};

/// Rows that are read in a moment, by whatever condition.
const READ: f64 = OFF * ROWS;
/// Lookups of single rows that cost something: each may read a page of its own.
const LOOKUPS: f64 = 100.0;
/// The part of an index's rows that may need a look at the table: more shows a table that is not
/// vacuumed as often as it changes.
const FETCHED: f64 = 0.1;
/// The part of a bitmap's pages that lost their rows.
const LOSSY: f64 = 0.1;

pub fn find(nodes: &Weights<'_>) -> Vec<Remark> {
    let mut all = Vec::new();
    for (at, (_, operator)) in nodes.operators.iter().enumerate() {
        all.extend(dropped(nodes, at, operator));
        all.extend(lookups(nodes, at, operator));
        all.extend(row_goal(nodes, at, operator));
        all.extend(pages(nodes, at, operator));
        all.extend(obstacles(nodes, at, operator));
    }
    all
}

/// Rows that were read for nothing. Of operators with inputs the work of these was for nothing.
fn dropped(nodes: &Weights<'_>, at: usize, operator: &Operator) -> Option<Remark> {
    let is_run = operator.rows.actual.is_some();
    let of = |rows: crate::plans::Rows| if is_run { rows.actual } else { rows.estimated };
    let is_late = operator.access.is_none();
    let input = || nodes.inputs(at).first().and_then(|input| of(nodes.operators[*input].1.rows));
    let read = match operator.kind {
        Kind::Filter => input(),
        // Estimates of what a scan reads are those of the whole table, without a condition too.
        _ if !is_run && operator.predicates.is_empty() => None,
        _ => of(operator.rows_read),
    };
    let (read, kept) = (read?, of(operator.rows)?);
    if read < READ || read <= OFF * kept {
        return None;
    }
    let what = if is_run { "read" } else { "expected to be read" };
    let (rule, share, text) = if is_late {
        (
            Rule::LateFilter,
            nodes.within(at),
            format!(
                "{} rows {what}, {} kept: the others are dropped only here, after the operators \
                 below have worked on them.",
                shown(read),
                shown(kept)
            ),
        )
    } else {
        (
            Rule::ReadForNothing,
            nodes.share(at),
            format!("{} rows {what}, {} kept.", shown(read), shown(kept)),
        )
    };
    remark(rule, at, share, text)
}

fn lookups(nodes: &Weights<'_>, at: usize, operator: &Operator) -> Option<Remark> {
    // One with inputs fetches all rows that these have found, in the order of the table.
    let is_single = operator.kind == Kind::Lookup && operator.inputs.is_empty();
    let count =
        operator.executions.or_else(|| outer_rows(nodes, at)).filter(|count| *count >= LOOKUPS)?;
    let text = format!(
        "{} rows fetched one at a time from the table, because the index lacks columns of the \
         statement.",
        shown(count)
    );
    if is_single { remark(Rule::Lookups, at, nodes.share(at), text) } else { None }
}

/// The rows for which the inner input of a join is expected to run.
pub(crate) fn outer_rows(nodes: &Weights<'_>, inner: usize) -> Option<f64> {
    let join = nodes.above(inner).next()?;
    let inputs = nodes.inputs(join);
    let outer = nodes.operators[*inputs.first()?].1;
    (nodes.operators[join].1.kind == Kind::NestedLoops && inputs.first() != Some(&inner))
        .then_some(outer.rows.estimated)
        .flatten()
}

/// A plan for the first rows is a bet that they are found early.
fn row_goal(nodes: &Weights<'_>, at: usize, operator: &Operator) -> Option<Remark> {
    let without = operator.properties.iter().find_map(|property| match property {
        Property::RowGoal { without } => Some(*without),
        _ => None,
    })?;
    let estimated = operator.rows.estimated?;
    let read = operator.rows_read.actual.or(operator.rows.actual);
    let is_lost =
        read.map_or(without > OFF * estimated, |read| read >= READ && read > OFF * estimated);
    let result = match read {
        Some(read) => format!("{} were read", shown(read)),
        None => format!("without this goal {} are expected", shown(without)),
    };
    let text = format!(
        "It was chosen to return {} rows early, for a TOP, EXISTS or similar; {result}. An index \
         that finds these rows first does not depend on their position.",
        shown(estimated)
    );
    let reads = operator.access.is_some() && is_lost;
    if reads { remark(Rule::RowGoal, at, nodes.share(at), text) } else { None }
}

fn pages(nodes: &Weights<'_>, at: usize, operator: &Operator) -> Option<Remark> {
    operator.properties.iter().find_map(|property| match property {
        Property::Bitmap { exact, lossy } if *lossy > LOSSY * (exact + lossy) => remark(
            Rule::LossyBitmap,
            at,
            nodes.share(at),
            format!(
                "{} of {} pages are lossy in the bitmap: all of their rows were compared again. \
                 More memory for the bitmap (work_mem in PostgreSQL) keeps single rows.",
                shown(*lossy),
                shown(exact + lossy)
            ),
        ),
        Property::HeapFetches(count)
            if *count >= READ && *count > FETCHED * operator.rows.actual? =>
        {
            remark(
                Rule::HeapFetches,
                at,
                nodes.share(at),
                format!(
                    "{} rows were fetched from the table to see whether they are visible, though \
                     the index has all columns: VACUUM marks their pages.",
                    shown(*count)
                ),
            )
        }
        Property::ChosenPerRow => remark(
            Rule::ChosenPerRow,
            at,
            nodes.within(at),
            "The way to read this table is chosen again for each row of the tables before it, \
             because no index fits the join."
                .into(),
        ),
        _ => None,
    })
}

/// Conditions that an index cannot answer by its order.
fn obstacles(nodes: &Weights<'_>, at: usize, operator: &Operator) -> Vec<Remark> {
    let reads = matches!(operator.access, Some(Access::Scan | Access::Seek | Access::Lookup));
    let rows = operator.rows_read;
    let is_small = rows.actual.or(rows.estimated).is_some_and(|read| read < READ);
    let found = operator.predicates.iter().flat_map(|predicate| {
        predicate.obstacles.iter().map(move |obstacle| (*obstacle, predicate.text.as_str()))
    });
    let mut all: Vec<Remark> = Vec::new();
    for (obstacle, text) in found {
        let is_join = obstacle == Obstacle::AlternativeKeys;
        if !is_join && (!reads || is_small) {
            continue;
        }
        let (rule, why) = judged(obstacle);
        let share = if is_join { nodes.within(at) } else { nodes.share(at) };
        if all.iter().all(|known| known.rule != rule) {
            all.extend(remark(rule, at, share, format!("{why} The condition: {text}")));
        }
    }
    all
}

fn judged(obstacle: Obstacle) -> (Rule, &'static str) {
    match obstacle {
        Obstacle::Function => (
            Rule::Function,
            "A function of a column is compared: the order of an index on the column is of no \
             use, and the estimate is a guess.",
        ),
        Obstacle::Conversion => (
            Rule::Conversion,
            "A column is converted before it is compared: the order of an index on it is of no \
             use. Compare with a value of the column's type.",
        ),
        Obstacle::Arithmetic => (
            Rule::Arithmetic,
            "A column is compared through arithmetic: the order of an index on it is of no use. \
             Move the arithmetic to the other side.",
        ),
        Obstacle::Case => (
            Rule::Case,
            "The condition depends on a CASE: the optimizer cannot estimate it, and an index \
             seldom helps.",
        ),
        Obstacle::LeadingWildcard => (
            Rule::LeadingWildcard,
            "The pattern begins with a wildcard: an ordered index cannot find its rows.",
        ),
        Obstacle::AlternativeKeys => (
            Rule::AlternativeKeys,
            "Rows are joined by one of several comparisons (OR): each needs an access of its own, \
             and the join cannot be hashed or merged. Two joins with UNION can.",
        ),
    }
}
