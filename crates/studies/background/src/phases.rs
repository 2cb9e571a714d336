//! A load before, during and after an action: pure functions of its transactions.
//!
//! A transaction belongs to the phase in which it was due, because the schedule does not depend on
//! the action. Its latency counts from there.

use probe::Timed;
use std::ops::Range;

/// The part of an interval's transactions that may exceed the limit: with more, the interval's 99th
/// percentile does.
const SLOW_SHARE_MAX: f64 = 0.01;
/// Length of an interval of [`Phase::over_limit_s`].
const INTERVAL_NS: u64 = 1_000_000_000;

/// The parts of a measurement, in nanoseconds after its beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Windows {
    /// Until the action begins.
    pub before: Range<u64>,
    /// While it works.
    pub during: Range<u64>,
    /// From its end on; `None`: it lasted as long as the load or longer.
    pub after: Option<Range<u64>>,
}

impl Windows {
    /// Divides a measurement of this length by an action.
    pub fn around(action: Range<u64>, end_ns: u64) -> Self {
        let begin = action.start.min(end_ns);
        let done = action.end.clamp(begin, end_ns);
        Self {
            before: 0..begin,
            during: begin..done,
            after: (action.end < end_ns).then_some(done..end_ns),
        }
    }
}

/// The load in one phase.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Phase {
    /// The length.
    pub duration_s: f64,
    /// Transactions that were due in it.
    pub due: u64,
    /// Transactions that ended in it, a second.
    pub throughput: f64,
    /// Share of the transactions that were due in it and did not end in it.
    pub lost: f64,
    /// 99th percentile of the latency; infinite where more than 1 % were not done.
    pub p99_ms: Option<f64>,
    /// Seconds in which more than 1 % of the transactions exceeded the limit.
    pub over_limit_s: f64,
    /// The longest time without an end of a transaction that began in the phase.
    pub gap_s: f64,
}

/// Describes the load in a window. `transactions`: in the order in which they were due; `limit_ns`:
/// latency limit.
pub fn phase(transactions: &[Timed], window: &Range<u64>, limit_ns: u64) -> Phase {
    let first = transactions.partition_point(|transaction| transaction.due_ns < window.start);
    let last = transactions.partition_point(|transaction| transaction.due_ns < window.end);
    let due = &transactions[first..last];
    let ended = transactions
        .iter()
        .filter(|transaction| transaction.end_ns.is_some_and(|end_ns| window.contains(&end_ns)))
        .count();
    let in_time = due
        .iter()
        .filter(|transaction| transaction.end_ns.is_some_and(|end| end < window.end))
        .count();
    let duration_s = (window.end - window.start) as f64 / 1e9;
    Phase {
        duration_s,
        due: due.len() as u64,
        throughput: if duration_s > 0.0 { ended as f64 / duration_s } else { 0.0 },
        lost: if due.is_empty() { 0.0 } else { 1.0 - in_time as f64 / due.len() as f64 },
        p99_ms: percentile_99(due),
        over_limit_s: over_limit_s(due, window, limit_ns),
        gap_s: longest_gap_s(transactions, window),
    }
}

/// Transactions of a kind that ended in a window, a minute; `None` of an empty window.
pub(crate) fn rate_per_minute(
    transactions: &[Timed],
    window: &Range<u64>,
    kind: u32,
) -> Option<f64> {
    let minutes = (window.end - window.start) as f64 / 60e9;
    let ended = transactions.iter().filter(|transaction| {
        transaction.kind == Some(kind)
            && transaction.end_ns.is_some_and(|end_ns| window.contains(&end_ns))
    });
    (minutes > 0.0).then(|| ended.count() as f64 / minutes)
}

/// A transaction's latency in nanoseconds; the largest number if it was not done.
fn latency_ns(transaction: &Timed) -> u64 {
    transaction.end_ns.map_or(u64::MAX, |end_ns| end_ns.saturating_sub(transaction.due_ns))
}

/// The value that 99 % do not exceed (nearest rank), in ms.
fn percentile_99(due: &[Timed]) -> Option<f64> {
    let mut all: Vec<u64> = due.iter().map(latency_ns).collect();
    let rank = (all.len() * 99).div_ceil(100).checked_sub(1)?;
    let (_, median, _) = all.select_nth_unstable(rank);
    Some(if *median == u64::MAX { f64::INFINITY } else { *median as f64 / 1e6 })
}

/// The seconds of intervals from the beginning of the window in which too many exceeded the limit.
fn over_limit_s(due: &[Timed], window: &Range<u64>, limit_ns: u64) -> f64 {
    let intervals = due.chunk_by(|first, other| {
        (first.due_ns - window.start) / INTERVAL_NS == (other.due_ns - window.start) / INTERVAL_NS
    });
    let over = intervals.filter(|interval| {
        let slow = interval.iter().filter(|interval| latency_ns(interval) > limit_ns).count();
        slow as f64 > SLOW_SHARE_MAX * interval.len() as f64
    });
    let lengths_s = over.map(|stretch| {
        let begin = (stretch[0].due_ns - window.start) / INTERVAL_NS * INTERVAL_NS + window.start;
        ((begin + INTERVAL_NS).min(window.end) - begin) as f64 / 1e9
    });
    lengths_s.sum()
}

/// The longest time without an end that begins in the window, also if it lasts beyond it.
fn longest_gap_s(transactions: &[Timed], window: &Range<u64>) -> f64 {
    let mut ends: Vec<u64> =
        transactions.iter().filter_map(|transaction| transaction.end_ns).collect();
    ends.sort_unstable();
    let first = ends.partition_point(|end| *end < window.start);
    let within = &ends[first..];
    let begins = std::iter::once(window.start).chain(within.iter().copied());
    let gaps = begins.zip(within).filter(|(begin, _)| *begin < window.end);
    gaps.map(|(begin, end)| (end - begin) as f64 / 1e9).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::float_cmp, reason = "figures that are exact in binary")]

    use super::{Windows, phase};
    use probe::Timed;

    const MS: u64 = 1_000_000;
    const S: u64 = 1_000 * MS;

    /// 100 transactions a second for 10 s with a latency of 2 ms; those that are due in a stall end
    /// with it.
    fn load(stall: std::ops::Range<u64>) -> Vec<Timed> {
        let due = (0..1_000).map(|number| number * 10 * MS);
        due.map(|due_ns| {
            let end_ns = (if stall.contains(&due_ns) { stall.end } else { due_ns }) + 2 * MS;
            Timed { due_ns, end_ns: Some(end_ns), kind: Some((due_ns / (10 * MS) % 2) as u32) }
        })
        .collect()
    }

    #[test]
    fn an_undisturbed_load_is_the_same_in_all_phases() {
        let all = load(0..0);
        let windows = Windows::around(3 * S..6 * S, 10 * S);
        let after = windows.after.unwrap();
        for window in [windows.before, windows.during, after] {
            let phase = phase(&all, &window, 50 * MS);
            assert_eq!(phase.duration_s * 100.0, phase.due as f64);
            assert_eq!((phase.p99_ms, phase.over_limit_s, phase.lost), (Some(2.0), 0.0, 0.0));
            assert!((phase.throughput - 100.0).abs() < 1e-9 && (phase.gap_s - 0.01).abs() < 1e-9);
        }
    }

    #[test]
    fn a_planted_stall_is_found_in_the_phase_of_the_action() {
        // 1.5 s without an answer, from 4 s on.
        let all = load(4 * S..5_500 * MS);
        let windows = Windows::around(3 * S..6 * S, 10 * S);
        let before = phase(&all, &windows.before, 50 * MS);
        let during = phase(&all, &windows.during, 50 * MS);
        let after = phase(&all, &windows.after.unwrap(), 50 * MS);
        assert_eq!((before.p99_ms, after.p99_ms), (Some(2.0), Some(2.0)));
        // 150 of the 300 waited up to 1.502 s, in steps of 10 ms: the slowest three are left out.
        assert_eq!(during.p99_ms, Some(1_502.0 - 30.0));
        // The end before the stall is at 3.992 s, the next one at 5.502 s.
        assert!((during.gap_s - 1.51).abs() < 1e-9, "{during:?}");
        // Two of the three seconds: 4 to 5 and 5 to 6.
        assert_eq!((during.over_limit_s, before.over_limit_s, after.over_limit_s), (2.0, 0.0, 0.0));
        assert_eq!((during.lost, after.lost), (0.0, 0.0));
    }

    #[test]
    fn what_ends_after_the_action_is_lost_in_its_phase_and_the_gap_counts_where_it_begins() {
        let all = load(5 * S..7 * S);
        let windows = Windows::around(3 * S..6 * S, 10 * S);
        let during = phase(&all, &windows.during, 50 * MS);
        // One of three seconds of transactions ended in the next phase.
        assert!((during.lost - 1.0 / 3.0).abs() < 1e-9, "{during:?}");
        assert!((during.throughput - 200.0 / 3.0).abs() < 1e-9);
        assert!((during.gap_s - 2.01).abs() < 1e-9, "{during:?}");
        let after = phase(&all, &windows.after.unwrap(), 50 * MS);
        assert_eq!((after.over_limit_s, after.lost), (1.0, 0.0));
    }

    #[test]
    fn a_kind_of_transactions_counts_where_it_ends() {
        // Half of the transactions are of each kind; of one second of three all end in the next.
        let all = load(5 * S..7 * S);
        let rate = super::rate_per_minute(&all, &(3 * S..6 * S), 1);
        assert!(rate.is_some_and(|rate| (rate - 100.0 * 60.0 / 3.0).abs() < 21.0), "{rate:?}");
        assert_eq!(super::rate_per_minute(&all, &(3 * S..6 * S), 7), Some(0.0));
        assert_eq!(super::rate_per_minute(&all, &(S..S), 1), None);
    }

    #[test]
    fn skipped_transactions_are_lost_and_slower_than_any() {
        let mut all = load(0..0);
        for transaction in &mut all[300..320] {
            transaction.end_ns = None;
        }
        let phase = phase(&all, &(3 * S..6 * S), 50 * MS);
        assert!((phase.lost - 20.0 / 300.0).abs() < 1e-9);
        assert_eq!((phase.p99_ms, phase.over_limit_s), (Some(f64::INFINITY), 1.0));
    }

    #[test]
    fn an_action_that_outlasts_the_load_has_no_phase_after_it() {
        let windows = Windows::around(3 * S..12 * S, 10 * S);
        assert_eq!((windows.during, windows.after), (3 * S..10 * S, None));
        let phase = phase(&[], &(0..S), MS);
        assert_eq!((phase.p99_ms, phase.due, phase.gap_s), (None, 0, 0.0));
    }
}
