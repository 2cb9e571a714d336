use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// When the transactions of one connection are meant to start.
#[derive(Debug, Clone)]
pub enum Arrivals {
    /// As soon as the one before has ended.
    Closed,
    /// At random times with this mean distance, whether or not the one before has ended: a
    /// Poisson process, so that all connections together are one, too (as pgbench's `--rate`).
    Open {
        /// Mean distance in nanoseconds.
        mean_ns: f64,
        /// The next intended start, in nanoseconds after "go".
        next_ns: f64,
        /// Source of the distances.
        random: Box<Xoshiro256PlusPlus>,
    },
}

impl Arrivals {
    /// This connection's part of a total rate; a closed loop when there is no rate.
    pub fn new(total_rate: Option<f64>, connections: u32, seed: u64) -> Self {
        let Some(rate) = total_rate else { return Self::Closed };
        let mean_ns = 1e9 * f64::from(connections) / rate;
        let mut open =
            Self::Open { mean_ns, next_ns: 0.0, random: Box::new(Xoshiro256PlusPlus::seed_from_u64(seed)) };
        // Connections do not all begin at "go".
        open.next_ns();
        open
    }

    /// The next intended start in nanoseconds after "go"; `None` in a closed loop.
    pub fn next_ns(&mut self) -> Option<u64> {
        match self {
            Self::Closed => None,
            Self::Open { mean_ns, next_ns, random } => {
                let intended = *next_ns;
                // The inverse of the exponential distribution; 1 - u is never 0.
                let uniform: f64 = random.random();
                *next_ns -= *mean_ns * (1.0 - uniform).ln();
                Some(intended as u64)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Arrivals;

    #[test]
    fn open_arrivals_have_the_asked_rate_and_the_spread_of_a_poisson_process() {
        let mut arrivals = Arrivals::new(Some(4_000.0), 4, 7);
        let times: Vec<u64> = (0..100_000).filter_map(|_| arrivals.next_ns()).collect();
        let distances: Vec<f64> = times.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean = distances.iter().sum::<f64>() / distances.len() as f64;
        let variance = distances.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / distances.len() as f64;
        // 1,000 a second for each of 4 connections; an exponential's deviation equals its mean.
        assert!((mean / 1e6 - 1.0).abs() < 0.02, "mean distance {mean} ns");
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.02, "deviation {}", variance.sqrt());
    }

    #[test]
    fn a_closed_loop_intends_nothing() {
        assert_eq!(Arrivals::new(None, 4, 7).next_ns(), None);
    }
}
