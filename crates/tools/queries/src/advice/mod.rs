//! What to look at, each with what it rests on, what it would change, what it costs, and how sure
//! it is. Nothing is said without a count of the server, an estimate of its optimizer, or a rule
//! that its documentation has.

mod indexes;
mod missing;
mod redundant;
mod repeated;
mod statements;

use crate::IndexUse;
use observations::number::plural;
use queries::{Advice, Snapshot};

/// All that there is to say, by kind, the weightiest of a kind first.
pub(crate) fn advice(snapshot: &Snapshot, uses: &[IndexUse]) -> Vec<Advice> {
    let redundant = redundant::redundant(snapshot, uses);
    let mut all = indexes::of_use(snapshot, uses, |table, index| {
        redundant.iter().any(|one| (one.table, one.index) == (Some(table), Some(index)))
    });
    all.extend(redundant.iter().cloned());
    all.extend(indexes::of_state(snapshot));
    all.extend(missing::missing(snapshot));
    all.extend(repeated::repeated(snapshot));
    all.extend(statements::of_statements(snapshot));
    all.extend(statements::of_tables(snapshot));
    all.sort_by(|a, b| {
        a.kind.cmp(&b.kind).then(b.weight.total_cmp(&a.weight)).then(a.subject.cmp(&b.subject))
    });
    all
}

/// `1 run`, `2,000 runs`
fn runs(calls: u64) -> String {
    plural(usize::try_from(calls).unwrap_or(usize::MAX), "run")
}

/// Numbers that are listed.
const NUMBERS: usize = 12;

/// Statements by their numbers as people read them, from 1: `statement 3`, `statements 1, 4`.
fn numbers(statements: &[usize]) -> String {
    let shown: Vec<String> =
        statements.iter().take(NUMBERS).map(|at| (at + 1).to_string()).collect();
    let more = match statements.len().saturating_sub(NUMBERS) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("statement{} {}{more}", if statements.len() == 1 { "" } else { "s" }, shown.join(", "))
}
