//! Two observations of a server, before and after a change: what sessions wait for more, or less.

use super::parts::{Parts, Ratio};
use analysis::Interval;
use observations::{ActivityRecord, WaitClass, order};
use serde::Serialize;
use statistics::adjusted;
use std::collections::{BTreeMap, BTreeSet};

/// A difference is seen when its p-value, corrected (Holm), is not above this.
const LEVEL: f64 = 0.05;

/// The differences of the second observation from the first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ActivityComparison {
    /// The first.
    pub from: Load,
    /// The second.
    pub to: Load,
    /// Sessions that had something to do.
    pub busy: WaitChange,
    /// Sessions in each wait; first what changed beyond doubt, of these the largest change first.
    pub waits: Vec<WaitChange>,
    /// Operations that the server counted in both observations.
    pub operations: Vec<OperationRates>,
}

/// A side of the comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Load {
    /// Number within its results file.
    pub id: i64,
    /// Start in milliseconds since 1970 UTC.
    pub started_ms: i64,
    /// The server as it was named.
    pub address: String,
    /// The name and version.
    pub server: String,
    /// Seconds watched.
    pub elapsed_s: f64,
    /// Why it ended early, if it did.
    pub ended: Option<String>,
    /// The number of its parts that serve as repeats; 0 where the server samples itself.
    pub parts: usize,
}

/// Mean number of sessions in a wait, in both.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WaitChange {
    /// The wait type; `None`: without a wait, on a processor or ready for one.
    pub wait_type: Option<String>,
    /// The class; `None` with `wait_type`.
    pub class: Option<WaitClass>,
    /// Sessions on average, in the first.
    pub from: f64,
    /// In the second.
    pub to: f64,
    /// The number that are added, with its 95 % interval; `None` where either has too few parts to
    /// tell by.
    pub interval: Option<Interval>,
    /// p-value of "as many".
    pub p_value: Option<f64>,
    /// The p-value after Holm's correction over the wait types.
    pub adjusted_p: Option<f64>,
    /// Verdict on the change.
    pub tendency: Tendency,
}

/// Verdict on a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tendency {
    /// More sessions wait, supported at a family level of 5 %.
    More,
    /// Fewer do, supported likewise.
    Fewer,
    /// No difference that can be seen.
    NotSeen,
    /// Not testable without repeats.
    Unknown,
}

/// The numbers of operations of the server, in both.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OperationRates {
    /// The name: `WAL record`.
    pub name: String,
    /// Times a second, in the first.
    pub from_per_s: f64,
    /// In the second.
    pub to_per_s: f64,
}

/// Compares two observations. Their parts serve as repeats (Welch's t).
pub fn compare_activities(from: &ActivityRecord, to: &ActivityRecord) -> ActivityComparison {
    let sides = [from, to].map(|side| Parts::from_activity(&side.activity));
    let [a, b] = &sides;
    let classes: BTreeMap<&str, Option<WaitClass>> = [from, to]
        .into_iter()
        .flat_map(|side| &side.activity.cells)
        .filter_map(|cell| Some((cell.wait_type.as_deref()?, cell.class)))
        .collect();
    let wait_types: BTreeSet<Option<&str>> = a.wait_types().chain(b.wait_types()).collect();
    let mut waits: Vec<WaitChange> = wait_types
        .into_iter()
        .map(|name| WaitChange {
            wait_type: name.map(str::to_owned),
            class: name.and_then(|name| classes.get(name).copied().flatten()),
            ..WaitChange::compare(a.sessions(name), b.sessions(name))
        })
        .collect();
    let corrected = adjusted(&waits.iter().map(|wait| wait.p_value).collect::<Vec<_>>());
    for (wait, adjusted_p) in waits.iter_mut().zip(corrected) {
        *wait = WaitChange { adjusted_p, ..wait.clone() }.judged();
    }
    let change = |wait: &WaitChange| (wait.to - wait.from).abs();
    let is_seen = |wait: &WaitChange| matches!(wait.tendency, Tendency::More | Tendency::Fewer);
    order::sort(&mut waits, &|x, y| {
        is_seen(y).cmp(&is_seen(x)).then(change(y).total_cmp(&change(x)))
    });
    let busy = WaitChange::compare(a.busy(), b.busy());
    let busy = WaitChange { adjusted_p: busy.p_value, ..busy }.judged();
    let load = |side: &ActivityRecord, parts: &Parts| Load {
        id: side.id,
        started_ms: side.started_ms,
        address: side.address.clone(),
        server: side.activity.server.clone(),
        elapsed_s: side.activity.elapsed_s,
        ended: side.activity.ended.clone(),
        parts: parts.len(),
    };
    ActivityComparison {
        from: load(from, a),
        to: load(to, b),
        busy,
        waits,
        operations: operations(from, to),
    }
}

impl WaitChange {
    fn compare(from: Ratio, to: Ratio) -> Self {
        let (interval, p_value) = from.against(to).unzip();
        let tendency = Tendency::Unknown;
        Self {
            wait_type: None,
            class: None,
            from: from.value,
            to: to.value,
            interval,
            p_value,
            adjusted_p: None,
            tendency,
        }
    }

    fn judged(self) -> Self {
        let tendency = match self.adjusted_p {
            None => Tendency::Unknown,
            Some(p) if p > LEVEL => Tendency::NotSeen,
            Some(_) if self.to > self.from => Tendency::More,
            Some(_) => Tendency::Fewer,
        };
        Self { tendency, ..self }
    }
}

/// Operations counted in both, the largest change first.
fn operations(from: &ActivityRecord, to: &ActivityRecord) -> Vec<OperationRates> {
    let rates = |side: &ActivityRecord| -> BTreeMap<String, f64> {
        let elapsed_s = side.activity.elapsed_s.max(f64::MIN_POSITIVE);
        side.activity
            .operations
            .iter()
            .map(|operation| (operation.name.clone(), operation.count as f64 / elapsed_s))
            .collect()
    };
    let (from, mut to) = (rates(from), rates(to));
    if from.is_empty() || to.is_empty() {
        // Not counted on one side: that is not the same as nothing.
        return Vec::new();
    }
    let mut both: Vec<OperationRates> = from
        .into_iter()
        .map(|(name, from_per_s)| OperationRates {
            from_per_s,
            to_per_s: to.remove(&name).unwrap_or(0.0),
            name,
        })
        .collect();
    both.extend(to.into_iter().map(|(name, to_per_s)| OperationRates {
        name,
        from_per_s: 0.0,
        to_per_s,
    }));
    order::sort(&mut both, &|x, y| {
        (y.to_per_s - y.from_per_s).abs().total_cmp(&(x.to_per_s - x.from_per_s).abs())
    });
    both
}

#[cfg(test)]
mod tests {
    use super::*;
    use observations::{ActivityPart, ServerActivity};

    /// An observation of 100 polls a part; `locks` are the samples of a lock in each part.
    fn record(locks: &[u64]) -> ActivityRecord {
        let parts = locks
            .iter()
            .map(|locks| ActivityPart {
                polls: 100,
                samples: vec![
                    (None, Some(1), 300),
                    (Some("Lock:tuple".to_owned()), Some(1), *locks),
                ],
            })
            .collect();
        let activity =
            ServerActivity { elapsed_s: locks.len() as f64, parts, ..ServerActivity::default() };
        ActivityRecord { id: 1, activity, ..ActivityRecord::default() }
    }

    #[test]
    fn a_change_is_told_with_its_interval_and_no_change_is_not_claimed() {
        let before = record(&[100, 120, 90, 110, 130, 80, 100, 105, 95, 70]);
        let after = record(&[300, 320, 290, 310, 330, 280, 300, 305, 295, 270]);
        let compared = compare_activities(&before, &after);
        let wait = &compared.waits[0];
        assert_eq!(
            (wait.wait_type.as_deref(), wait.tendency),
            (Some("Lock:tuple"), Tendency::More)
        );
        assert_eq!((wait.from, wait.to), (1.0, 3.0));
        // The lag-1 autocorrelation is -475 / 2850, -0.117 corrected; none is assumed below 0. So
        // this is Welch's t of 10 and 10 values: standard error 0.0795822, 18 degrees of
        // freedom, t(0.975) = 2.100922.
        let interval = wait.interval.unwrap();
        assert!((interval.low - (2.0 - 2.100_922 * 0.079_582_2)).abs() < 1e-5, "{interval:?}");
        assert_eq!(compared.waits[1].tendency, Tendency::NotSeen, "work did not change");
        assert_eq!(compared.busy.tendency, Tendency::More);
        let same = compare_activities(&before, &before);
        assert!(same.waits.iter().all(|wait| wait.tendency == Tendency::NotSeen));
        assert_eq!(compare_activities(&after, &before).waits[0].tendency, Tendency::Fewer);
    }

    #[test]
    fn a_few_parts_say_nothing_of_a_change() {
        let compared = compare_activities(
            &record(&[100; 7]),
            &record(&[300, 310, 290, 300, 310, 290, 300, 305, 306]),
        );
        assert_eq!(compared.waits[0].tendency, Tendency::Unknown);
        assert_eq!((compared.waits[0].interval, compared.waits[0].p_value), (None, None));
    }
}
