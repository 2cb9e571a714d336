//! Findings from the counters of a server: the indexes that plans use, and advice.

use crate::advice::advice;
use crate::cross::{IndexUse, index_uses};
use crate::logged::attach_logged;
use command_line::{Context, Failure};
use engine::{Server, ServerError};
use inspection::plans;
use inspection::statements::{Advice, AdviceKind, Certainty, Counter, Rules, Snapshot, Statement};
use inspection::{Inspection, OpenedReader, QueryLimits, QueryReader};
use observations::number::short_percent;
use observations::order;
use serde::Serialize;
use std::rc::Rc;
use work::Stop;

/// The rules of the engine with this name.
///
/// # Errors
/// When no adapter inspects it.
pub(crate) fn statement_rules(context: &Context, engine: &str) -> Result<&'static Rules, Failure> {
    inspection::rules(context.registry.adapter(engine), engine).map_err(Failure::usage)
}

/// Connects to a server, to read the statistics of statements, tables and indexes.
///
/// # Errors
/// When the server refuses or does not answer in time, or this is not done for its engine.
pub(crate) fn open(
    context: &Context,
    server: &Rc<dyn Server>,
    limits: QueryLimits,
    stop: &Stop,
) -> OpenedReader {
    let engine = server.engine();
    let inspection = context.registry.adapter::<Inspection>(engine);
    let open = inspection.and_then(|inspection| inspection.queries);
    let unknown = || ServerError::new(format!("queries does not support {engine} yet"));
    open.ok_or_else(unknown)?(server, limits, stop)
}

/// The cost with an index, as a share of that without it, above which the index is not worth its
/// upkeep.
const GAIN_MIN: f64 = 0.9;

/// A server's statements, tables and indexes, and the findings about them.
#[derive(Debug, Clone, Serialize)]
pub struct Queries {
    /// The counters of the server.
    #[serde(flatten)]
    pub snapshot: Snapshot,
    /// The indexes that the plans use.
    pub uses: Vec<IndexUse>,
    /// The findings, the most urgent first.
    pub advice: Vec<Advice>,
    /// The rules of the server's engine.
    #[serde(skip)]
    pub rules: &'static Rules,
}

/// Sorts the statements, the one that took most time first, and keeps the first `statements`; a
/// note has the time of the others.
pub fn keep(snapshot: &mut Snapshot, statements: usize) {
    let time = |statement: &Statement| statement.get(Counter::TimeNs).unwrap_or(0);
    order::sort(&mut snapshot.statements, &|a, b| {
        let key = |statement: &Statement| {
            (statement.digest.clone(), statement.database.clone(), statement.user.clone())
        };
        time(b).cmp(&time(a)).then_with(|| key(a).cmp(&key(b)))
    });
    let sum = |statements: &[Statement]| statements.iter().map(time).fold(0, u64::saturating_add);
    let all = sum(&snapshot.statements);
    let left_out = snapshot.statements.split_off(statements.min(snapshot.statements.len()));
    if !left_out.is_empty() {
        let share = sum(&left_out) as f64 / all.max(1) as f64;
        snapshot.notes.push(format!(
            "{} more statements took {} of the time; raise --statements to list more.",
            left_out.len(),
            short_percent(share)
        ));
    }
}

/// Finds what follows from a snapshot, with the findings about the health of its server.
pub fn examine(snapshot: Snapshot, health: Vec<Advice>, rules: &'static Rules) -> Queries {
    let uses = index_uses(&snapshot);
    let advice = advice(&snapshot, &uses, health, rules);
    Queries { snapshot, uses, advice, rules }
}

/// Examines a snapshot with plans: those of a log, and those that the reader makes for the
/// kept statements, which took most time.
pub fn explained(
    reader: &mut dyn QueryReader,
    mut snapshot: Snapshot,
    logged: Vec<plans::Statement>,
    statements: usize,
    rules: &'static Rules,
) -> Queries {
    keep(&mut snapshot, statements);
    // The values that were logged are those to explain with.
    attach_logged(&mut snapshot, logged, rules);
    reader.explain(&mut snapshot);
    if let Some(advice) = reader.advised(&snapshot) {
        let uses = index_uses(&snapshot);
        return Queries { snapshot, uses, advice, rules };
    }
    let health = reader.health(&mut snapshot);
    let mut found = examine(snapshot, health, rules);
    for advice in found.advice.iter_mut().filter(|advice| advice.kind == AdviceKind::MissingIndex) {
        advice.hypothetical = reader.hypothetical(&found.snapshot, advice);
    }
    // An index of which its optimizer expects nothing is advised on counts only.
    found.advice.retain(|advice| {
        advice.certainty == Certainty::Counted
            || advice.hypothetical.is_none_or(|cost| cost.cost_with <= GAIN_MIN * cost.cost_without)
    });
    found
}
