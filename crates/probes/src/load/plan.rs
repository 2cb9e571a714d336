//! What a load is: its size and speed, and the transactions of each connection.

use crate::{ProbeError, Target, TrialContext};
use engines::{CacheState, Request, Results};
use experiment::common::{OBSERVE_INTERVAL, OBSERVE_LATENCIES};
use experiment::{Configuration, Invalid, Kind, Setting, settings};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::time::Duration;

settings! {
    /// Number of connections. To an embedded engine each has a thread of its own.
    pub CONNECTIONS: u32 = "workload.connections", Kind::Count { min: 1, max: 4096 }, "16";
    /// Threads of the load generator, which drive the connections to a server.
    pub THREADS: u32 = "workload.threads", Kind::Count { min: 1, max: 1024 }, "1";
    /// The load runs for this long before the measurement.
    pub WARMUP: f64 = "workload.warmup", Kind::Duration, "0";
    /// Open loop: transactions a second, all connections together, at random (Poisson) times; latency counts from the
    /// intended start. Without it each connection starts its next transaction at once (closed loop).
    pub RATE: Option<f64> = "workload.rate", Kind::Rate;
    /// Length of the measurement.
    pub DURATION: Option<f64> = "workload.duration", Kind::PositiveDuration;
}

/// What a load is, apart from its transactions.
#[derive(Debug, Clone)]
pub struct LoadPlan {
    pub connections: u32,
    /// Threads that drive the connections to a server; an embedded engine has one for each.
    pub threads: u32,
    /// Transactions a second, all connections together; `None`: closed loop.
    pub rate: Option<f64>,
    /// Units of work in all; `None`: until the time is over.
    pub units: Option<u64>,
    /// Seconds of the measurement, when the time is fixed.
    pub duration_s: Option<f64>,
    pub warmup_s: f64,
    /// Of the time series.
    pub interval_s: f64,
    pub latencies: bool,
    /// Unit of the work in the singular, and of its rate: `rows/s`.
    pub unit: &'static str,
    pub rate_unit: &'static str,
    /// What the client times: `transaction`, or `call` where one stands for many.
    pub timed: &'static str,
    /// Names of the kinds of transactions.
    pub kinds: Vec<String>,
    /// How often a transaction that the engine asks to repeat is tried before it counts as failed.
    pub tries_max: u64,
    /// Seed of the arrivals.
    pub seed: u64,
}

/// The unit of work of a load that counts its transactions.
pub const TRANSACTION: &str = "transaction";

impl LoadPlan {
    /// What every load reads alike from its configuration, with `units` for the fixed amount: a load that counts
    /// transactions and tries each once. What differs is up to the probe.
    pub fn of(context: &TrialContext<'_>, units: Setting<Option<u64>>) -> Self {
        let configuration = context.configuration;
        Self {
            connections: configuration.get(CONNECTIONS),
            threads: configuration.get(THREADS),
            rate: configuration.get(RATE),
            units: configuration.get(units),
            duration_s: configuration.get(DURATION),
            warmup_s: configuration.get(WARMUP),
            interval_s: configuration.get(OBSERVE_INTERVAL),
            latencies: configuration.get(OBSERVE_LATENCIES) != Some(false),
            unit: TRANSACTION,
            rate_unit: "transactions/s",
            timed: TRANSACTION,
            kinds: Vec::new(),
            tries_max: 1,
            seed: context.seed,
        }
    }

    /// Objections to these settings, where `units` gives the fixed amount.
    pub fn objections(
        configuration: &Configuration,
        target: &Target,
        units: Setting<Option<u64>>,
    ) -> Vec<Invalid> {
        let key = units.path().trim_start_matches("workload.");
        let amount = match (configuration.get(units), configuration.get(DURATION)) {
            (Some(_), Some(_)) => {
                Some((DURATION.path(), format!("workload.{key} is given too; give one of them")))
            }
            (None, None) => Some((
                units.path(),
                format!(
                    "missing; say how many {key} ({key} = \"100k\") or for how long (duration = \"10 s\")"
                ),
            )),
            _ => None,
        };
        let amount = amount.map(|(path, message)| Invalid::new(path, message));
        amount.into_iter().chain(no_warmup_of_cold(configuration, target, WARMUP)).collect()
    }

    /// Units of work that a connection does: divided evenly, the first ones take the remainder; no end without a
    /// fixed amount.
    pub fn share(&self, connection: u32) -> u64 {
        let (connection, connections) = (u64::from(connection), u64::from(self.connections));
        let share = |units| units / connections + u64::from(connection < units % connections);
        self.units.map_or(u64::MAX, share)
    }
}

/// An objection to a warm-up before a measurement that is to begin with cold caches.
pub fn no_warmup_of_cold(
    configuration: &Configuration,
    target: &Target,
    warmup: Setting<f64>,
) -> Option<Invalid> {
    let message = "a warm-up fills the caches, which contradicts target.cache = \"cold\"; set it to 0";
    let both = target.cache == CacheState::Cold && configuration.get(warmup) > 0.0;
    both.then(|| Invalid::new(warmup.path(), message))
}

/// The transactions of one connection, in order.
pub trait Workload: Send {
    /// Begins the next transaction, of at most so many units of work.
    fn start(&mut self, most: u64) -> Started;
    /// What the transaction does next.
    ///
    /// # Errors
    /// When it cannot be told: a script divides by zero.
    fn step(&mut self) -> Result<Step<'_>, ProbeError>;
    /// Results that the last request asked for.
    ///
    /// # Errors
    /// When they are not what the transaction needs.
    fn results(&mut self, _results: &[Results]) -> Result<(), ProbeError> {
        Ok(())
    }
    /// Begins the same transaction again, because the engine asked for it.
    fn restart(&mut self);
}

/// A transaction that has begun.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Started {
    /// Which of [`LoadPlan::kinds`] it is.
    pub kind: usize,
    /// Units of work in it: rows, transactions.
    pub units: u64,
    /// Transactions that it commits: several where one call of a procedure does.
    pub transactions: u64,
}

/// A step of a transaction.
#[derive(Debug)]
pub enum Step<'a> {
    /// Ask the engine.
    Request(Request<'a>),
    /// Think.
    Sleep(Duration),
    /// The transaction is over.
    End,
}

/// When the transactions of one connection are meant to start in an open loop: at random times, whether or not the one
/// before has ended; a Poisson process, so that all connections together are one, too (as pgbench's `--rate`).
#[derive(Debug, Clone)]
pub struct Arrivals {
    /// Mean distance in nanoseconds.
    mean_ns: f64,
    /// The next intended start, in nanoseconds after "go".
    next_ns: f64,
    random: Box<Xoshiro256PlusPlus>,
}

impl Arrivals {
    /// This connection's part of a total rate.
    pub fn new(total_rate: f64, connections: u32, seed: u64) -> Self {
        let mean_ns = 1e9 * f64::from(connections) / total_rate;
        let mut arrivals =
            Self { mean_ns, next_ns: 0.0, random: Box::new(Xoshiro256PlusPlus::seed_from_u64(seed)) };
        // Connections do not all begin at "go".
        arrivals.next_ns();
        arrivals
    }

    /// The next intended start in nanoseconds after "go".
    pub fn next_ns(&mut self) -> u64 {
        let intended = self.next_ns;
        // The inverse of the exponential distribution; 1 - u is never 0.
        let uniform: f64 = self.random.random();
        self.next_ns -= self.mean_ns * (1.0 - uniform).ln();
        intended as u64
    }
}

#[cfg(test)]
mod tests {
    use super::Arrivals;

    #[test]
    fn open_arrivals_have_the_asked_rate_and_the_spread_of_a_poisson_process() {
        let mut arrivals = Arrivals::new(4_000.0, 4, 7);
        let times: Vec<u64> = (0..100_000).map(|_| arrivals.next_ns()).collect();
        let distances: Vec<f64> = times.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean = distances.iter().sum::<f64>() / distances.len() as f64;
        let variance = distances.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / distances.len() as f64;
        // 1,000 a second for each of 4 connections; an exponential's deviation equals its mean.
        assert!((mean / 1e6 - 1.0).abs() < 0.02, "mean distance {mean} ns");
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.02, "deviation {}", variance.sqrt());
    }
}
