//! Plans of the server's log, to the statements that they are of.

use crate::{Origin, Snapshot, StatementPlan, fingerprint};
use std::collections::HashMap;

/// Plans of one statement that are kept: those that took longest.
const PLANS_MAX: usize = 5;

/// Adds what a log has of plans to the statements that they are of, by the server's number or by the text; of one shape the
/// run that took longest. Returns how many plans belong to none.
pub fn attach_logged(snapshot: &mut Snapshot, logged: Vec<plans::Statement>) -> usize {
    let mut by_digest: HashMap<String, Vec<usize>> = HashMap::new();
    let mut by_text: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, one) in snapshot.statements.iter().enumerate() {
        by_digest.entry(one.digest.clone()).or_default().push(at);
        by_text.entry(fingerprint(&one.text, snapshot.engine)).or_default().push(at);
    }
    let mut unknown = 0;
    for one in logged {
        let by_hash = one.query_hash.as_ref().and_then(|hash| by_digest.get(hash));
        let found = by_hash.or_else(|| by_text.get(&fingerprint(&one.text, snapshot.engine)));
        let (Some(found), Some(plan)) = (found, one.plan) else {
            unknown += 1;
            continue;
        };
        for at in found {
            add(
                &mut snapshot.statements[*at].plans,
                StatementPlan { origin: Origin::Logged, runs: 1, plan: plan.clone() },
            );
        }
    }
    unknown
}

fn add(known: &mut Vec<StatementPlan>, new: StatementPlan) {
    let shape = new.shape();
    let same = known.iter_mut().find(|one| one.origin == Origin::Logged && one.shape() == shape);
    if let Some(same) = same {
        let runs = same.runs + 1;
        if new.plan.elapsed_ms > same.plan.elapsed_ms {
            *same = new;
        }
        same.runs = runs;
        return;
    }
    known.push(new);
    let logged = known.iter().filter(|one| one.origin == Origin::Logged).count();
    if logged > PLANS_MAX {
        let ms = |at: &usize| known[*at].plan.elapsed_ms.unwrap_or(0.0);
        let logged = (0..known.len()).filter(|at| known[*at].origin == Origin::Logged);
        if let Some(quickest) = logged.min_by(|a, b| ms(a).total_cmp(&ms(b))) {
            known.remove(quickest);
        }
    }
}
