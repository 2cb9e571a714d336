//! Offset between the monotonic clocks of coordinator and agent.
//!
//! The agent's clock is read between the sending of a question and the arrival of its answer. The
//! offset from the middle of the two is wrong by half of the round trip at most, however the way
//! there and back divide it (Cristian, 1989).

/// Round trips that an offset is the best of.
pub(crate) const ROUND_TRIPS: u32 = 20;

/// A question for the time and its answer, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RoundTrip {
    /// When it was sent, on the coordinator's clock.
    pub sent_ns: u64,
    /// When the answer came, on the coordinator's clock.
    pub received_ns: u64,
    /// The time on the agent's clock in between.
    pub there_ns: u64,
}

/// Offset of an agent's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClockOffset {
    /// Nanoseconds to add to the coordinator's time.
    offset_ns: i64,
    /// The offset is wrong by this at most.
    pub uncertainty_ns: u64,
}

impl ClockOffset {
    /// Returns the offset by the shortest of these round trips; `None` without one.
    pub fn from_round_trips(trips: &[RoundTrip]) -> Option<Self> {
        let length = |trip: &RoundTrip| trip.received_ns.saturating_sub(trip.sent_ns);
        let best = trips.iter().min_by_key(|trip| length(trip))?;
        let middle_ns = best.sent_ns + length(best) / 2;
        let offset_ns = best.there_ns as i64 - middle_ns as i64;
        Some(Self { offset_ns, uncertainty_ns: length(best).div_ceil(2) })
    }

    /// Returns the change of the offset until a later one, as far as it exceeds what both may be
    /// wrong by.
    pub fn drift_ns(&self, later: Self) -> u64 {
        let uncertainty_ns = self.uncertainty_ns + later.uncertainty_ns;
        self.offset_ns.abs_diff(later.offset_ns).saturating_sub(uncertainty_ns)
    }

    /// Returns a time of the coordinator on the agent's clock.
    pub fn there_ns(self, here_ns: u64) -> u64 {
        here_ns.saturating_add_signed(self.offset_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::{ClockOffset, RoundTrip};
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn a_drift_is_the_change_that_uncertainty_does_not_explain() {
        let offset = |there_ns: u64, length_ns: u64| {
            let (sent_ns, received_ns) = (1_000, 1_000 + length_ns);
            ClockOffset::from_round_trips(&[RoundTrip { sent_ns, received_ns, there_ns }]).unwrap()
        };
        assert_eq!(offset(5_000, 100).drift_ns(offset(5_000, 100)), 0);
        // 1,000 ns later by the agent's clock, of which both readings explain 50 ns each.
        assert_eq!(offset(5_000, 100).drift_ns(offset(6_000, 100)), 900);
        assert_eq!(offset(6_000, 100).drift_ns(offset(5_000, 100)), 900);
        assert_eq!(offset(5_000, 2_000).drift_ns(offset(6_000, 2_000)), 0);
    }

    #[test]
    fn the_true_offset_is_within_the_uncertainty_however_slow_one_way_is() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for _ in 0..1_000 {
            let offset_ns = random.random_range(-1_000_000_000_i64..1_000_000_000);
            let mut now_ns = 2_000_000_000_u64;
            let trips: Vec<RoundTrip> = (0..20)
                .map(|_| {
                    let sent_ns = now_ns;
                    now_ns += random.random_range(20_000..3_000_000);
                    let there_ns = now_ns.saturating_add_signed(offset_ns);
                    now_ns += random.random_range(20_000..200_000);
                    RoundTrip { sent_ns, received_ns: now_ns, there_ns }
                })
                .collect();
            let found = ClockOffset::from_round_trips(&trips).unwrap();
            let error_ns = found.offset_ns.abs_diff(offset_ns);
            assert!(error_ns <= found.uncertainty_ns, "{error_ns} {found:?}");
            let best_ns = trips.iter().map(|trip| trip.received_ns - trip.sent_ns).min().unwrap();
            assert_eq!(found.uncertainty_ns, best_ns.div_ceil(2));
            assert_eq!(
                found.there_ns(5_000_000_000),
                5_000_000_000_u64.saturating_add_signed(found.offset_ns)
            );
        }
        assert_eq!(ClockOffset::from_round_trips(&[]), None);
    }
}
