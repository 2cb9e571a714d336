//! Blocked sessions and their blockers during an interval, summed by statement.

use observations::{BlockedTime, WaitingTask, order};
use std::collections::BTreeMap;

/// Seconds between two looks at the blocking sessions.
pub(crate) const LOOK_S: f64 = 0.5;
/// Pairs of statements that are kept: those with most time.
const PAIRS_MAX: usize = 200;

/// The pair of a blocker and a victim, by their statements.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    blocker: String,
    state: String,
    victim: String,
    wait_type: String,
}

/// The times so far.
#[derive(Debug, Default)]
pub(crate) struct BlockedTimes {
    times: BTreeMap<Pair, BlockedTime>,
}

impl BlockedTimes {
    /// Adds a look: what is seen lasted since the look before.
    pub fn add(&mut self, tasks: &[WaitingTask], seconds: f64) {
        let mut now: BTreeMap<Pair, u32> = BTreeMap::new();
        for task in tasks {
            for blocker in &task.blocked_by {
                let pair = || Pair {
                    blocker: blocker.statement.clone(),
                    state: blocker.state.clone(),
                    victim: task.session.statement.clone(),
                    wait_type: task.wait_type.clone(),
                };
                let known = self.times.entry(pair()).or_insert_with(|| BlockedTime {
                    blocker: blocker.statement.clone(),
                    blocker_state: blocker.state.clone(),
                    blocker_client: format!("{} {}", blocker.user, blocker.application)
                        .trim()
                        .to_owned(),
                    victim: task.session.statement.clone(),
                    wait_type: task.wait_type.clone(),
                    ..BlockedTime::default()
                });
                known.resource = known.resource.take().or_else(|| task.resource.clone());
                // A wait that began since the look before lasted as long as the server says.
                known.seconds += task.waited_s.map_or(seconds, |waited| waited.min(seconds));
                *now.entry(pair()).or_default() += 1;
            }
        }
        for (pair, sessions) in now {
            if let Some(known) = self.times.get_mut(&pair) {
                known.looks += 1;
                known.sessions_max = known.sessions_max.max(sessions);
            }
        }
    }

    /// The pairs, the longest time first.
    pub fn longest(self) -> Vec<BlockedTime> {
        let mut all: Vec<BlockedTime> = self.times.into_values().collect();
        order::largest_first(&mut all, &|row| row.seconds);
        all.truncate(PAIRS_MAX);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::BlockedTimes;
    use observations::{TaskSession, WaitingTask};

    #[test]
    fn times_are_summed_by_statement_and_no_longer_than_the_waits() {
        let session = |pid, statement: &str| TaskSession {
            pid,
            statement: statement.into(),
            ..TaskSession::default()
        };
        let task = |pid, waited_s| WaitingTask {
            session: session(pid, "UPDATE t SET a = ?"),
            wait_type: "Lock:tuple".into(),
            waited_s: Some(waited_s),
            resource: Some("row 1 of t".into()),
            lock_mode: None,
            blocked_by: vec![session(1, "DELETE FROM t")],
        };
        let mut blocked = BlockedTimes::default();
        blocked.add(&[task(2, 0.25), task(3, 9.0)], 0.5);
        blocked.add(&[task(2, 0.75)], 0.5);
        blocked.add(&[], 0.5);
        let found = blocked.longest();
        assert_eq!(found.len(), 1);
        let blocked = &found[0];
        assert_eq!((blocked.seconds, blocked.sessions_max, blocked.looks), (1.25, 2, 2));
        assert_eq!(
            (blocked.blocker.as_str(), blocked.resource.as_deref()),
            ("DELETE FROM t", Some("row 1 of t"))
        );
    }
}
