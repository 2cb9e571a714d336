//! Findings about statements and indexes, each with its evidence, what a change would do and cost,
//! and how sure it is. Each rests on a count of the server, an estimate of its optimizer, or a rule
//! of its documentation.

mod demand;
mod execution;
mod hinted;
mod indexes;
mod missing;
mod place;
mod price;
mod redundant;
mod repeated;
mod rewrite;
mod structure;

use crate::IndexUse;
use inspection::statements::{Advice, AdviceKind, Rules, Snapshot, Statement, TimeShare};
use observations::order;

/// All findings: those about statements by their share of the server's time, then the others by
/// kind.
pub fn advice(
    snapshot: &Snapshot,
    uses: &[IndexUse],
    health: Vec<Advice>,
    rules: &Rules,
) -> Vec<Advice> {
    let redundant = redundant::redundant(snapshot, uses, rules);
    let mut all = indexes::of_use(snapshot, uses, rules, |table, index| {
        redundant.iter().any(|redundant| redundant.is_about(table, index))
    });
    all.extend(redundant.into_iter().map(|redundant| redundant.advice));
    all.extend(indexes::of_state(snapshot, rules));
    let total: f64 = snapshot.statements.iter().map(Statement::time_s).sum();
    let missing = missing::missing(snapshot, rules, total);
    all.extend(structure::structure(snapshot, rules, &missing));
    all.extend(rewrite::rewrites(snapshot, rules, total));
    all.extend(missing);
    all.extend(repeated::repeated(snapshot));
    all.extend(execution::of_statements(snapshot, rules));
    all.extend(execution::of_tables(snapshot));
    all.extend(health);
    for advice in &mut all {
        let statements = advice.statements.iter().filter_map(|at| snapshot.statements.get(*at));
        let seconds: f64 = statements.map(Statement::time_s).sum();
        let is_about = is_about_statements(advice.kind) && total > 0.0;
        advice.time = is_about.then(|| TimeShare { seconds, share: seconds / total });
        let changes = advice.ddl.as_ref().is_some_and(|ddl| !ddl.starts_with("ANALYZE"));
        let before = rules.before_change.filter(|_| changes && advice.before_ddl.is_none());
        advice.before_ddl = advice.before_ddl.take().or(before.map(str::to_owned));
    }
    order::sort(&mut all, &|a, b| {
        let share = |advice: &Advice| advice.time.map_or(-1.0, |time| time.share);
        let urgent = |advice: &Advice| advice.kind > AdviceKind::HeldUp;
        urgent(a)
            .cmp(&urgent(b))
            .then(share(b).total_cmp(&share(a)))
            .then(a.kind.cmp(&b.kind))
            .then(b.weight.total_cmp(&a.weight))
            .then(a.subject.cmp(&b.subject))
    });
    all
}

/// Returns true for findings whose statements would take less time.
fn is_about_statements(kind: AdviceKind) -> bool {
    matches!(
        kind,
        AdviceKind::MissingIndex
            | AdviceKind::UnusableIndex
            | AdviceKind::InfixSearch
            | AdviceKind::LargeOffset
            | AdviceKind::RepeatedSubquery
            | AdviceKind::Spill
            | AdviceKind::RepeatedStatement
            | AdviceKind::EstimateOff
            | AdviceKind::VaryingTimes
            | AdviceKind::SeveralPlans
    )
}
