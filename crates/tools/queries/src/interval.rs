//! Differences of two snapshots.

use observations::number::plural;
use statements::{Counter, Snapshot, Spread, Statement, Table};
use std::collections::{BTreeMap, HashMap};

/// How servers tell statements apart.
type Identity<'a> = (&'a str, &'a str, &'a str, bool);

fn identity(statement: &Statement) -> Identity<'_> {
    (&statement.digest, &statement.database, &statement.user, statement.is_top)
}

/// The difference of two snapshots of one server. Counters that were reset in between, or whose
/// statement was evicted, cover only the time since then: the statement is marked, and a note says
/// so. Statements that did not run are left out.
pub fn between(first: &Snapshot, mut last: Snapshot) -> Snapshot {
    let was_reset = last.span.from_ms > first.span.from_ms && last.span.from_ms.is_some();
    let known = first.statements.iter().filter(|_| !was_reset);
    let before: HashMap<Identity, &Statement> = known.map(|one| (identity(one), one)).collect();
    let (mut partial, mut aged) = (0, 0);
    let mut statements = Vec::new();
    let mut still_there = 0;
    for statement in std::mem::take(&mut last.statements) {
        let known = before.get(&identity(&statement));
        still_there += usize::from(known.is_some());
        let statement = match known {
            Some(known) => difference(known, statement),
            None => Statement {
                is_partial: was_reset,
                spread: stddev_only(statement.spread),
                ..statement
            },
        };
        if statement.is_partial && statement.is_stored {
            aged += 1;
            continue;
        }
        partial += usize::from(statement.is_partial && !was_reset);
        if statement.get(Counter::Calls) != Some(0) {
            statements.push(statement);
        }
    }
    if was_reset {
        last.notes.push(
            "Statement statistics were reset during the interval: figures count from the reset."
                .into(),
        );
    }
    if partial > 0 {
        last.notes.push(format!(
            "{}: evicted or reset during the interval and then counted again; its figures start \
             there.",
            plural(partial, "statement")
        ));
    }
    if aged > 0 {
        last.notes.push(format!(
            "{}: the Query Store removed its old runs during the interval; its work in the \
             interval is unknown.",
            plural(aged, "statement")
        ));
    }
    let gone = before.len() - still_there;
    if gone > 0 {
        last.notes.push(format!(
            "{}: counted at the beginning, gone at the end; its work in the interval is unknown.",
            plural(gone, "statement")
        ));
    }
    let evicted =
        last.evictions.zip(first.evictions).map(|(last, first)| last.saturating_sub(first));
    last.evictions = evicted;
    last.span.is_interval = true;
    last.span.from_ms = if was_reset { last.span.from_ms } else { Some(first.span.to_ms) };
    last.statements = statements;
    scans(first, &mut last);
    last
}

/// Drops minimum and maximum, because the time of the shortest and longest run is unknown.
fn stddev_only(spread: Option<Spread>) -> Option<Spread> {
    spread.map(|spread| Spread { min_ms: None, max_ms: None, ..spread })
}

fn difference(first: &Statement, last: Statement) -> Statement {
    let counters: Option<BTreeMap<Counter, u64>> = last
        .counters
        .iter()
        .map(|(counter, value)| {
            Some((*counter, value.checked_sub(first.get(*counter).unwrap_or(0))?))
        })
        .collect();
    match counters {
        Some(counters) => {
            let mut between = Statement { counters, ..last.clone() };
            between.spread = stddev_only(last.spread)
                .map(|spread| Spread { stddev_ms: stddev(first, &last), ..spread });
            between
        }
        None => Statement { is_partial: true, spread: stddev_only(last.spread), ..last },
    }
}

/// From the sums of squares of both: n (s² + m²). Where they are nearly the same, rounding leaves
/// nothing to be said.
fn stddev(first: &Statement, last: &Statement) -> Option<f64> {
    let sums = |one: &Statement| {
        let calls = one.get(Counter::Calls)? as f64;
        let mean = one.mean_ms().unwrap_or(0.0);
        let deviation = one.spread.and_then(|spread| spread.stddev_ms)?;
        Some((calls, calls * mean, calls * (deviation * deviation + mean * mean)))
    };
    let ((n0, sum0, squares0), (n1, sum1, squares1)) = (sums(first)?, sums(last)?);
    let (calls, mean) = (n1 - n0, (sum1 - sum0) / (n1 - n0));
    let variance = (squares1 - squares0) / calls - mean * mean;
    let rounding = 1e-9 * squares1 / calls;
    (calls > 0.0 && variance >= rounding).then(|| variance.sqrt())
}

/// How often each index was read in between.
fn scans(first: &Snapshot, last: &mut Snapshot) {
    let key = |table: &Table| (table.database.clone(), table.schema.clone(), table.name.clone());
    let before: HashMap<_, &Table> = first.tables.iter().map(|table| (key(table), table)).collect();
    for table in &mut last.tables {
        let Some(known) = before.get(&key(table)) else { continue };
        for index in &mut table.indexes {
            let known = known.indexes.iter().find(|one| one.name == index.name);
            index.interval_scans = known.and_then(|known| index.scans?.checked_sub(known.scans?));
        }
    }
}
