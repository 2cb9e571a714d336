//! Findings about statements and indexes, each with its evidence, what a change would do and cost,
//! and how sure it is. Each rests on a count of the server, an estimate of its optimizer, or a rule
//! of its documentation.

mod execution;
mod indexes;
mod missing;
mod redundant;
mod repeated;
mod words;

use crate::IndexUse;
use statements::{Advice, Rules, Snapshot};

/// All findings by kind, the weightiest of a kind first.
pub fn advice(snapshot: &Snapshot, uses: &[IndexUse], rules: &Rules) -> Vec<Advice> {
    let redundant = redundant::redundant(snapshot, uses, rules);
    let mut all = indexes::of_use(snapshot, uses, rules, |table, index| {
        redundant.iter().any(|one| (one.table, one.index) == (Some(table), Some(index)))
    });
    all.extend(redundant.iter().cloned());
    all.extend(indexes::of_state(snapshot, rules));
    all.extend(missing::missing(snapshot, rules));
    all.extend(repeated::repeated(snapshot));
    all.extend(execution::of_statements(snapshot, rules));
    all.extend(execution::of_tables(snapshot));
    all.sort_by(|a, b| {
        a.kind.cmp(&b.kind).then(b.weight.total_cmp(&a.weight)).then(a.subject.cmp(&b.subject))
    });
    all
}
