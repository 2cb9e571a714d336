//! The waits between two readings of cumulative counters.

use super::class;
use observations::{Wait, WaitSource};
use std::collections::{BTreeMap, BTreeSet};

/// Cumulative counters of a server at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// When the server (or its statistics) started, in any form that stays the same while it runs.
    pub started: String,
    /// Wait type to counters.
    pub counters: BTreeMap<String, Counters>,
}

/// Counters of one wait type since the server started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Waits that ended.
    pub count: u64,
    /// Time of them, signal wait included, ms.
    pub wait: u64,
    /// The signal part, ms.
    pub signal: u64,
}

/// What was waited for between two snapshots.
#[derive(Debug, Clone, PartialEq)]
pub struct Delta {
    /// Wait types that changed.
    pub waits: Vec<Wait>,
    /// Wait types whose counters contradict each other, and how: shown, not hidden.
    pub doubtful: Vec<String>,
}

/// Two snapshots that have no meaningful difference, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}; measure again")]
pub struct SnapshotError(String);

impl Snapshot {
    /// What was waited for from `self` to `after`. A wait type that is new in `after` started at 0.
    ///
    /// # Errors
    /// When a counter decreased, a wait type vanished, or the server was restarted.
    pub fn delta(&self, after: &Self) -> Result<Delta, SnapshotError> {
        if self.started != after.started {
            let times = (&self.started, &after.started);
            let error =
                format!("the server was restarted between the snapshots ({}, then {})", times.0, times.1);
            return Err(SnapshotError(error));
        }
        let mut delta = Delta { waits: Vec::new(), doubtful: Vec::new() };
        // A wait type that vanished has fallen to 0.
        let types: BTreeSet<&String> = self.counters.keys().chain(after.counters.keys()).collect();
        for wait_type in types {
            let at =
                |counters: &BTreeMap<String, Counters>| counters.get(wait_type).copied().unwrap_or_default();
            let (start, end) = (at(&self.counters), at(&after.counters));
            let change = Counters {
                count: increase(wait_type, "count", start.count, end.count)?,
                wait: increase(wait_type, "wait time", start.wait, end.wait)?,
                signal: increase(wait_type, "signal time", start.signal, end.signal)?,
            };
            if change == Counters::default() {
                continue;
            }
            delta.doubtful.extend(contradiction(wait_type, change));
            let seconds = |ms: u64| ms as f64 / 1e3;
            let signal = change.signal.min(change.wait);
            let (resource_s, signal_s) = (seconds(change.wait - signal), seconds(signal));
            let (class, count) = (class(wait_type), Some(change.count));
            let (wait_type, source) = (wait_type.clone(), WaitSource::Counted);
            delta.waits.push(Wait { wait_type, class, count, resource_s, signal_s, source });
        }
        Ok(delta)
    }
}

fn increase(wait_type: &str, counter: &str, before: u64, after: u64) -> Result<u64, SnapshotError> {
    after.checked_sub(before).ok_or_else(|| {
        SnapshotError(format!(
            "the wait statistics were reset between the snapshots: {wait_type} {counter} fell from {before} \
             to {after}; discard this interval"
        ))
    })
}

/// What a server's own counters should never say.
fn contradiction(wait_type: &str, change: Counters) -> Option<String> {
    if change.signal > change.wait {
        Some(format!("{wait_type}: more signal wait than wait; all of it is taken as signal wait"))
    } else if change.count == 0 && change.wait > 0 {
        Some(format!("{wait_type}: time but no waits; it has no averages"))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use observations::WaitClass;

    fn snapshot(counters: &[(&str, u64, u64, u64)]) -> Snapshot {
        let counters = counters
            .iter()
            .map(|(name, count, wait, signal)| {
                ((*name).to_owned(), Counters { count: *count, wait: *wait, signal: *signal })
            })
            .collect();
        Snapshot { started: "2026-01-01".into(), counters }
    }

    #[test]
    fn subtracts_and_starts_new_types_at_zero() {
        let before = snapshot(&[("WRITELOG", 10, 5000, 1000), ("LATCH_EX", 3, 30, 0)]);
        let after =
            snapshot(&[("WRITELOG", 14, 7500, 1500), ("LATCH_EX", 3, 30, 0), ("PAGELATCH_UP", 2, 40, 1)]);
        let delta = before.delta(&after).unwrap();
        let names: Vec<_> = delta.waits.iter().map(|w| (w.wait_type.as_str(), w.count)).collect();
        assert_eq!(names, [("PAGELATCH_UP", Some(2)), ("WRITELOG", Some(4))]);
        assert_eq!((delta.waits[1].resource_s, delta.waits[1].signal_s), (2.0, 0.5));
        assert_eq!(delta.waits[1].class, WaitClass::Log);
        assert!(delta.doubtful.is_empty());
    }

    #[test]
    fn a_counter_that_falls_or_vanishes_is_a_reset() {
        let before = snapshot(&[("WRITELOG", 10, 5000, 1000)]);
        for after in [
            snapshot(&[("WRITELOG", 9, 5000, 1000)]),
            snapshot(&[("WRITELOG", 10, 4999, 1000)]),
            snapshot(&[("WRITELOG", 10, 5000, 999)]),
            snapshot(&[]),
        ] {
            let error = before.delta(&after).unwrap_err();
            assert!(error.to_string().contains("were reset between the snapshots: WRITELOG "), "{error}");
        }
        let restarted = Snapshot { started: "2026-01-02".into(), ..before.clone() };
        let error = before.delta(&restarted).unwrap_err();
        assert!(
            error.to_string().contains("was restarted between the snapshots (2026-01-01, then 2026-01-02)")
        );
    }

    #[test]
    fn contradictions_are_told_and_keep_the_identity() {
        let delta = snapshot(&[]).delta(&snapshot(&[("A", 0, 7, 0), ("B", 1, 5, 6)])).unwrap();
        assert_eq!(delta.doubtful.len(), 2);
        assert_eq!((delta.waits[1].resource_s, delta.waits[1].signal_s), (0.0, 0.005));
    }
}
