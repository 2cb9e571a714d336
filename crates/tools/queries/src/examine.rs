use crate::advice::advice;
use crate::cross::{IndexUse, index_uses};
use observations::number::short_percent;
use queries::{Advice, Counter, Snapshot, Statement};
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
    let advice = advice(&snapshot, &uses);
    Queries { snapshot, uses, advice }
}
