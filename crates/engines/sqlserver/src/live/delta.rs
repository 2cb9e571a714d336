//! The waits between two readings of cumulative counters.

use crate::class;
use engine::Rows;
use engine::view::{NotShown, ViewRows};
use observations::{Wait, WaitSource};
use std::collections::{BTreeMap, BTreeSet};

/// Waits between two readings.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Delta {
    /// Wait types that changed.
    pub waits: Vec<Wait>,
    /// Wait types whose counters contradict each other, and how: shown, not hidden.
    pub doubtful: Vec<String>,
}

/// Why two readings have no meaningful difference.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DeltaError {
    /// The server started between them.
    #[error("the server was restarted between the snapshots ({before}, then {now}); measure again")]
    Restarted {
        /// The start by the first reading.
        before: String,
        /// The start by the second.
        now: String,
    },
    /// A counter fell.
    #[error(
        "the wait statistics were reset between the snapshots: {wait_type} {counter} fell from \
         {before} to {now}; discard this interval and measure again"
    )]
    Reset {
        /// The type of wait.
        wait_type: String,
        /// The counter.
        counter: &'static str,
        /// The value before.
        before: u64,
        /// The value now.
        now: u64,
    },
    /// The server did not show one of them.
    #[error(transparent)]
    NotShown(#[from] NotShown),
}

/// By type of wait: waits that began, the time of those that ended, the signal part of it, ms;
/// since the server started. A wait that began before an interval has time in it and no count.
type Counters = BTreeMap<String, [u64; 3]>;

const NAMES: [&str; 3] = ["count", "wait time", "signal time"];

/// Returns the waits between two readings, of the server's start time and of
/// [`super::views::WAITS`]. A new wait type started at 0.
///
/// # Errors
/// When a counter decreased, a wait type vanished, or the server was restarted: then there is no
/// meaningful difference.
pub fn delta(started: [&ViewRows; 2], waits: [&Rows; 2]) -> Result<Delta, DeltaError> {
    let [before, now] = started.map(|answer| {
        answer
            .as_ref()
            .ok()
            .and_then(Rows::first)
            .map(|row| row.text("started"))
            .unwrap_or_default()
    });
    if before != now {
        return Err(DeltaError::Restarted { before, now });
    }
    let [before, now] = waits.map(counters);
    let mut delta = Delta::default();
    // A wait type that vanished has fallen to 0.
    for wait_type in before.keys().chain(now.keys()).collect::<BTreeSet<_>>() {
        let of = |counters: &Counters| counters.get(wait_type).copied().unwrap_or_default();
        let (start, end, mut rise) = (of(&before), of(&now), [0; 3]);
        for (at, name) in NAMES.into_iter().enumerate() {
            rise[at] = end[at].checked_sub(start[at]).ok_or_else(|| DeltaError::Reset {
                wait_type: wait_type.clone(),
                counter: name,
                before: start[at],
                now: end[at],
            })?;
        }
        let [count, wait, signal] = rise;
        if rise == [0; 3] {
            continue;
        }
        if signal > wait {
            let how = "signal wait time exceeds wait time; all wait time is counted as signal wait";
            delta.doubtful.push(format!("{wait_type}: {how}"));
        }
        let seconds = |ms: u64| ms as f64 / 1e3;
        let (resource_s, signal_s) =
            (seconds(wait.saturating_sub(signal)), seconds(signal.min(wait)));
        let (class, count) = (class(wait_type), Some(count));
        let (wait_type, source) = (wait_type.clone(), WaitSource::Counted);
        delta.waits.push(Wait { wait_type, class, count, resource_s, signal_s, source });
    }
    Ok(delta)
}

fn counters(rows: &Rows) -> Counters {
    rows.iter()
        .filter_map(|row| {
            Some((
                row.text("wait_type"),
                [row.parse("waits")?, row.parse("wait_ms")?, row.parse("signal_ms")?],
            ))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use observations::WaitClass;
    use testing::rows::rows;

    /// From one reading to another of a server that started at `A`.
    fn subtract(before: &str, now: &str) -> Result<Delta, DeltaError> {
        let started = Ok(rows("started\nA"));
        let [before, now] = [before, now]
            .map(|text| rows(&format!("wait_type | waits | wait_ms | signal_ms\n{text}")));
        delta([&started, &started], [&before, &now])
    }

    #[test]
    fn subtracts_and_starts_new_types_at_zero() {
        let delta = subtract(
            "WRITELOG | 10 | 5000 | 1000\nLATCH_EX | 3 | 30 | 0",
            "WRITELOG | 14 | 7500 | 1500\nLATCH_EX | 3 | 30 | 0\nPAGELATCH_UP | 2 | 40 | 1",
        );
        let delta = delta.unwrap();
        let names: Vec<_> = delta.waits.iter().map(|w| (w.wait_type.as_str(), w.count)).collect();
        assert_eq!(names, [("PAGELATCH_UP", Some(2)), ("WRITELOG", Some(4))]);
        assert_eq!((delta.waits[1].resource_s, delta.waits[1].signal_s), (2.0, 0.5));
        assert_eq!(delta.waits[1].class, WaitClass::Log);
        assert!(delta.doubtful.is_empty());
    }

    #[test]
    fn a_counter_that_falls_or_vanishes_is_a_reset() {
        for after in [
            "WRITELOG | 9 | 5000 | 1000",
            "WRITELOG | 10 | 4999 | 1000",
            "WRITELOG | 10 | 5000 | 999",
            "",
        ] {
            let error = subtract("WRITELOG | 10 | 5000 | 1000", after).unwrap_err().to_string();
            assert!(error.contains("were reset between the snapshots: WRITELOG "), "{error}");
        }
        let started = ["started\nA", "started\nB"].map(|text| Ok(rows(text)));
        let error = delta(started.each_ref(), [&Rows::default(), &Rows::default()]);
        let error = error.unwrap_err().to_string();
        assert!(error.contains("was restarted between the snapshots (A, then B)"), "{error}");
    }

    #[test]
    fn contradictions_are_told_and_keep_the_identity() {
        let delta = subtract("", "A | 0 | 7 | 0\nB | 1 | 5 | 6").unwrap();
        // A wait that began before does not contradict.
        assert_eq!(delta.doubtful.len(), 1);
        assert_eq!((delta.waits[0].count, delta.waits[0].resource_s), (Some(0), 0.007));
        assert_eq!((delta.waits[1].resource_s, delta.waits[1].signal_s), (0.0, 0.005));
    }
}
