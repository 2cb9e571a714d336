//! Heartbeats that the primary committed, looks at the replica, and the lag that follows.

/// A look at the replica, in nanoseconds of the trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// When the query was sent.
    pub sent_ns: u64,
    /// The last heartbeat that it saw, from 1; 0: none.
    pub beat: u64,
}

/// Returns how far the replica was behind at a look, in nanoseconds: the age of the oldest
/// heartbeat that was acknowledged before the look and that it did not see. 0: it saw all of them.
/// `committed_ns` has the acknowledgement of each heartbeat, in order.
pub(crate) fn lag_ns(committed_ns: &[u64], look: Look) -> u64 {
    let missing = committed_ns.get(look.beat as usize).copied();
    missing.map_or(0, |committed_ns| look.sent_ns.saturating_sub(committed_ns))
}

/// Returns a percentile of sorted values, the smallest that this share of them does not exceed;
/// `None` without values.
pub fn percentile(sorted: &[u64], share: f64) -> Option<u64> {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::{Look, lag_ns, percentile};

    #[test]
    fn the_lag_is_the_age_of_the_oldest_unseen_heartbeat() {
        let committed = [100, 200, 300];
        let lag = |sent_ns, seen_ns| lag_ns(&committed, Look { sent_ns, beat: seen_ns });
        // The second was acknowledged 50 before the look, and is not there.
        assert_eq!(lag(250, 1), 50);
        assert_eq!(lag(950, 0), 850);
        // All that had been acknowledged is there.
        assert_eq!(lag(150, 1), 0);
        assert_eq!(lag(950, 3), 0);
        // Seen on the replica before the primary has acknowledged it.
        assert_eq!(lag(250, 3), 0);
    }

    #[test]
    fn percentiles_are_values() {
        let values: Vec<u64> = (1..=100).collect();
        assert_eq!(percentile(&values, 0.95), Some(95));
        assert_eq!(percentile(&values, 1.0), Some(100));
        assert_eq!(percentile(&[7], 0.5), Some(7));
        assert_eq!(percentile(&[], 0.5), None);
    }
}
