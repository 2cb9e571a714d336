//! What a server counts of its statements, tables and indexes, and what follows from it. Pure: data
//! in, data out.
//!
//! - [`Snapshot`]: what a server says at one time; [`between`]: what two of them say of the time
//!   between
//! - [`Statement`], [`Table`], [`Index`]: the model, with one vocabulary of [`Counter`]s for all
//!   engines
//! - [`record`]: an interval as it is recorded; [`joined`]: recorded ones put together
//! - [`attach_logged`]: plans of a log, to the statements that they are of
//! - [`Captured`]: the same in a file
//! - [`examine`]: which statements use which index, and [`Advice`]

mod advice;
mod captured;
mod counter;
mod cross;
mod interval;
mod logged;
mod model;
mod record;
mod statement;
mod text;

pub use advice::{Advice, AdviceKind, Certainty, Hypothetical};
pub use captured::{Captured, Thought};
pub use counter::{Counter, Unit};
pub use cross::{IndexUse, TableScan, index_uses, statements_of, table_scans};
pub use interval::between;
pub use logged::{attach_logged, with_values};
pub use model::{Column, ForeignKey, Index, Key, Missed, Snapshot, Span, Table};
pub use record::{joined, record};
pub use statement::{Origin, Spread, Statement, StatementPlan};
pub use text::{aliases, condition, fingerprint, has_names, skeleton, syntax};

use observations::number::short_percent;
use serde::Serialize;

/// A server's statements, tables and indexes, and what was found about them.
#[derive(Debug, Clone, Serialize)]
pub struct Queries {
    /// What the server counted.
    #[serde(flatten)]
    pub snapshot: Snapshot,
    /// Which indexes the plans use.
    pub uses: Vec<IndexUse>,
    /// What to look at, the most urgent first.
    pub advice: Vec<Advice>,
}

/// Puts the statements in order, the one that took most time first, and keeps so many; a note says
/// what the others took.
pub fn keep(snapshot: &mut Snapshot, statements: usize) {
    let time = |one: &Statement| one.get(Counter::TimeNs).unwrap_or(0);
    snapshot.statements.sort_by(|a, b| {
        let key = |one: &Statement| (one.digest.clone(), one.database.clone(), one.user.clone());
        time(b).cmp(&time(a)).then_with(|| key(a).cmp(&key(b)))
    });
    let sum = |statements: &[Statement]| statements.iter().map(time).fold(0, u64::saturating_add);
    let all = sum(&snapshot.statements);
    let left_out = snapshot.statements.split_off(statements.min(snapshot.statements.len()));
    if !left_out.is_empty() {
        let share = sum(&left_out) as f64 / all.max(1) as f64;
        snapshot.notes.push(format!(
            "{} more statements took {} of the time; --statements keeps more.",
            left_out.len(),
            short_percent(share)
        ));
    }
}

/// Finds what there is to say of a server.
pub fn examine(snapshot: Snapshot) -> Queries {
    let uses = index_uses(&snapshot);
    let advice = advice::advice(&snapshot, &uses);
    Queries { snapshot, uses, advice }
}
