//! Statements that became slower with another plan, found while intervals are recorded.

use crate::history::StatementHistory;
use analysis::Verdict;
use observations::QueryInterval;
use std::collections::{HashMap, HashSet, VecDeque};

/// Intervals that are looked at: the latest.
const INTERVALS_MAX: usize = 240;

/// The latest intervals, and the changes that were reported.
#[derive(Debug, Default)]
pub struct PlanWatch {
    intervals: VecDeque<QueryInterval>,
    /// Digests of statements, with the time at which the interval of the change began.
    reported: HashSet<(String, i64)>,
}

impl PlanWatch {
    /// Adds an interval. Returns the changes of plans with which statements became significantly
    /// slower, each once; `None` where there is none.
    pub fn add(&mut self, interval: QueryInterval) -> Option<StatementHistory> {
        self.intervals.push_back(interval);
        if self.intervals.len() > INTERVALS_MAX {
            self.intervals.pop_front();
        }
        if !self.has_changes() {
            return None;
        }
        let mut history = StatementHistory::default();
        self.intervals.iter().cloned().for_each(|interval| history.add(interval));
        let mut history = history.with_plan_changes();
        let mut changes = std::mem::take(&mut history.changes);
        changes.retain(|change| {
            let digest = history.statements[change.statement].digest.clone();
            change.verdict == Verdict::Worse && self.reported.insert((digest, change.since_ms))
        });
        history.changes = changes;
        (!history.changes.is_empty()).then_some(history)
    }

    /// Returns whether a statement has two plans: most intervals have no change, and need no
    /// comparison.
    fn has_changes(&self) -> bool {
        let mut plans = HashMap::new();
        let mut all = self.intervals.iter().flat_map(|interval| &interval.statements);
        all.any(|statement| {
            let Some(hash) = &statement.plan_hash else { return false };
            let known = plans
                .entry((&statement.digest, &statement.database, &statement.user))
                .or_insert(hash);
            *known != hash
        })
    }
}
