use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::Rng as _;
use std::time::Duration;

/// How a relay treats the bytes of each connection. The default passes them on as they come.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Toxics {
    /// Delay of the server's bytes: each round trip takes that much longer.
    pub latency: Duration,
    /// The delay varies evenly by this much in both directions, and is never below 0.
    pub jitter: Duration,
    /// Bytes a second of each connection and direction.
    pub rate: Option<f64>,
    /// Connections are reset after this time.
    pub reset_peer: Option<Duration>,
    /// The end of a connection is passed on after this time.
    pub slow_close: Duration,
}

impl Toxics {
    /// The delay of some bytes in a direction.
    pub(super) fn delay(&self, is_answer: bool, random: &mut SplitMix64) -> Duration {
        if !is_answer || (self.latency.is_zero() && self.jitter.is_zero()) {
            return Duration::ZERO;
        }
        // From -1 to 1; 53 bits are exact in a double.
        let signed = (random.next_u64() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
        let jitter = self.jitter.as_secs_f64() * signed;
        Duration::from_secs_f64((self.latency.as_secs_f64() + jitter).max(0.0))
    }

    /// The time that bytes take on the line.
    pub(super) fn transmission(&self, bytes: usize) -> Duration {
        self.rate.map_or(Duration::ZERO, |rate| Duration::from_secs_f64(bytes as f64 / rate))
    }

    /// Bytes that are passed on at a time.
    pub(super) fn piece(&self, most: usize) -> usize {
        // Two milliseconds of the line, but no less than a packet of Ethernet carries.
        self.rate.map_or(most, |rate| ((rate * 0.002) as usize).clamp(1460, most))
    }
}

#[cfg(test)]
mod tests {
    use super::Toxics;
    use rand_xoshiro::SplitMix64;
    use rand_xoshiro::rand_core::SeedableRng as _;
    use std::time::Duration;

    #[test]
    fn delays_vary_evenly_around_the_latency() {
        let ms = Duration::from_millis;
        let toxics = Toxics { latency: ms(10), jitter: ms(4), ..Toxics::default() };
        let mut random = SplitMix64::seed_from_u64(1);
        let delays: Vec<f64> =
            (0..10_000).map(|_| toxics.delay(true, &mut random).as_secs_f64() * 1e3).collect();
        let mean = delays.iter().sum::<f64>() / delays.len() as f64;
        // Even from 6 to 14: the standard error of the mean is 8 / sqrt(12 * 10,000).
        assert!((mean - 10.0).abs() < 0.1, "{mean}");
        assert!(delays.iter().all(|delay| (6.0..=14.0).contains(delay)));
        assert!(
            delays.iter().any(|delay| *delay < 6.1) && delays.iter().any(|delay| *delay > 13.9)
        );
        assert_eq!(toxics.delay(false, &mut random), Duration::ZERO);
    }

    #[test]
    fn bytes_take_their_time_on_the_line() {
        let toxics = Toxics { rate: Some(1e6), ..Toxics::default() };
        assert_eq!(toxics.transmission(500_000), Duration::from_millis(500));
        assert_eq!(Toxics::default().transmission(500_000), Duration::ZERO);
        assert_eq!((toxics.piece(65_536), Toxics::default().piece(65_536)), (2_000, 65_536));
    }
}
