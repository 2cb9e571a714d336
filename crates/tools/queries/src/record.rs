//! Intervals as they are recorded, and recorded intervals put together.

use inspection::statements::{Counter, Origin, Snapshot, Span, Statement, StatementPlan};
use observations::number::seconds;
use observations::{CountedStatement, QueryInterval};
use std::collections::HashMap;

/// The identity of a statement in several intervals: digest, database, user, sent by a client.
pub type StatementKey = (String, String, String, bool);

/// The identity of a statement.
pub fn key(statement: &CountedStatement) -> StatementKey {
    let CountedStatement { digest, database, user, is_top, .. } = statement;
    (digest.clone(), database.clone(), user.clone(), *is_top)
}

/// The record of an interval: its statements, in their order, each with the first of its
/// plans that is not of a log.
pub fn record(snapshot: &Snapshot, steelbench: &str, address: String) -> QueryInterval {
    let unread = snapshot.missing().map(|gap| format!("Not read: {}: {}.", gap.what, gap.why));
    QueryInterval {
        id: 0,
        steelbench: steelbench.to_owned(),
        address,
        engine: snapshot.engine.clone(),
        server: snapshot.server.clone(),
        from_ms: snapshot.span.from_ms.unwrap_or(snapshot.span.to_ms),
        to_ms: snapshot.span.to_ms,
        block_bytes: snapshot.block_bytes,
        evictions: snapshot.evictions,
        notes: snapshot.notes.iter().cloned().chain(unread).collect(),
        statements: snapshot.statements.iter().map(counted).collect(),
    }
}

fn counted(statement: &Statement) -> CountedStatement {
    let plan = statement.plans.iter().find(|plan| plan.origin != Origin::Logged);
    let counters = serde_json::to_value(&statement.counters).unwrap_or_default();
    CountedStatement {
        digest: statement.digest.clone(),
        database: statement.database.clone(),
        user: statement.user.clone(),
        is_top: statement.is_top,
        text: statement.text.clone(),
        is_partial: statement.is_partial,
        counters: serde_json::from_value(counters).unwrap_or_default(),
        plan_hash: plan.map(StatementPlan::hash),
        plan: plan.map(StatementPlan::shape),
    }
}

/// Intervals of one server put together in the order of time, without plans, tables and indexes:
/// these are not recorded. Counts are exact sums. `None` without an interval.
pub fn joined(intervals: impl IntoIterator<Item = QueryInterval>) -> Option<Snapshot> {
    let mut places = HashMap::new();
    let mut joined: Option<Snapshot> = None;
    let mut unobserved_ms: i64 = 0;
    for interval in intervals {
        let snapshot = match &mut joined {
            Some(snapshot) => snapshot,
            none => none.insert(empty(&interval)),
        };
        let gap_ms = interval.from_ms.saturating_sub(snapshot.span.to_ms).max(0);
        unobserved_ms = unobserved_ms.saturating_add(gap_ms);
        snapshot.span.to_ms = interval.to_ms;
        snapshot.server = interval.server;
        let evictions = snapshot.evictions.into_iter().chain(interval.evictions);
        snapshot.evictions = evictions.reduce(u64::saturating_add);
        for note in interval.notes {
            if !snapshot.notes.contains(&note) && snapshot.notes.len() < NOTES_MAX {
                snapshot.notes.push(note);
            }
        }
        interval
            .statements
            .into_iter()
            .for_each(|statement| add(&mut snapshot.statements, &mut places, statement));
    }
    if let Some(snapshot) = joined.as_mut()
        && unobserved_ms > 0
    {
        let unobserved = seconds(unobserved_ms as f64 / 1e3);
        snapshot
            .notes
            .insert(0, format!("{unobserved} between the recorded intervals were not observed."));
    }
    joined
}

fn add(
    statements: &mut Vec<Statement>,
    places: &mut HashMap<StatementKey, usize>,
    counted: CountedStatement,
) {
    let place = *places.entry(key(&counted)).or_insert_with(|| {
        statements.push(Statement {
            digest: counted.digest,
            database: counted.database,
            user: counted.user,
            is_top: counted.is_top,
            text: counted.text,
            not_explained: Some(NO_PLAN.to_owned()),
            ..Statement::default()
        });
        statements.len() - 1
    });
    let statement = &mut statements[place];
    statement.is_partial |= counted.is_partial;
    for (name, value) in counted.counters {
        // A later version may count more than this one knows.
        let Ok(counter) = serde_json::from_value::<Counter>(name.into()) else { continue };
        let sum = statement.counters.entry(counter).or_default();
        *sum = sum.saturating_add(value);
    }
}

const NO_PLAN: &str = "recorded intervals have no plans here; `history` shows the plans that \
                       changed";
/// Notes of joined intervals.
const NOTES_MAX: usize = 20;

fn empty(first: &QueryInterval) -> Snapshot {
    let span = Span { from_ms: Some(first.from_ms), to_ms: first.to_ms, is_interval: true };
    Snapshot::new(&first.engine, first.server.clone(), span, first.block_bytes)
}
