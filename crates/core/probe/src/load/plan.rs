//! A load: its size, its rate and the transactions of each connection.

use crate::load_clock::{CountedKind, Divisions};
use crate::{Counting, ProbeError, Target, TrialContext};
use engine::{Ability, CacheState, EngineError, Results, RetryCause};
use experiment::common::{OBSERVE_INTERVAL, OBSERVE_LATENCIES};
use experiment::{Configuration, Invalid, Kind, Setting, settings};
use observations::ScriptStatement;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use work::Request;

settings! {
    /// Number of connections. On an embedded engine each has its own thread.
    pub CONNECTIONS: u32 =
        "workload.connections", Kind::Count { min: 1, max: 4096 }, "16" => Concurrency;
    /// Threads of the load generator, which drive the connections to a server.
    pub THREADS: u32 = "workload.threads", Kind::Count { min: 1, max: 1024 }, "1" => Concurrency;
    /// Load generators: processes that share the connections, the rate and the keys of the load, on
    /// a server by URL; `run --agents` starts them. `workload.threads` is the number in each of
    /// them. Default: the load runs in the process of Steelbench.
    pub GENERATORS: Option<u32> = "workload.generators", Kind::Count { min: 1, max: 256 };
    /// The load runs for this long before the measurement.
    pub WARMUP: f64 = "workload.warmup", Kind::Duration, "0" => Measurement;
    /// Open loop: transactions per second of all connections, at random (Poisson) times that are
    /// the same for all configurations of a block. A free connection takes the next transaction;
    /// latency counts from the intended start. Default: each connection starts its next transaction
    /// immediately (closed loop).
    pub RATE: Option<f64> = "workload.rate", Kind::Rate => ArrivalRate;
    /// Latency limit: transactions that take longer are counted as `over_limit`, in percent. In an
    /// open loop latency counts from the intended start; a transaction that starts later than this
    /// is skipped and counted too.
    pub LATENCY_LIMIT: Option<f64> = "workload.latency_limit", Kind::PositiveDuration;
    /// Longest time of a query. One that takes longer is cancelled, and counts with the time that
    /// it took until then: its time is a lower bound.
    pub QUERY_LIMIT: Option<f64> =
        "workload.query_limit", Kind::PositiveDuration => Measurement;
    /// Length of the measurement.
    pub DURATION: Option<f64> =
        "workload.duration", Kind::PositiveDuration => Measurement, Value "\"10 s\"";
}

/// A load without its transactions.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent choice")]
pub struct LoadPlan {
    /// Connections that the load opens.
    pub connections: u32,
    /// Threads that drive the connections to a server; an embedded engine has one for each.
    pub threads: u32,
    /// Transactions a second, all connections together; `None`: closed loop.
    pub rate: Option<f64>,
    /// True if transactions have an intended start, from which latency counts: by `rate`, or by
    /// the workload.
    pub intends: bool,
    /// Transactions that take longer are counted.
    pub limit_ns: Option<u64>,
    /// Units of work in all; `None`: until the time is over.
    pub units: Option<u64>,
    /// Units of each connection, where they are not divided evenly.
    pub shares: Vec<u64>,
    /// Units of one transaction; the last one may have fewer.
    pub units_each: u64,
    /// Seconds of the measurement, when the time is fixed.
    pub duration_s: Option<f64>,
    /// Seconds of work before the measurement.
    pub warmup_s: f64,
    /// Of the time series.
    pub interval_s: f64,
    /// True if the latency of each transaction is recorded.
    pub latencies: bool,
    /// True if each transaction is recorded ([`crate::Timed`]).
    pub records_each: bool,
    /// True if the measurement is divided at the end of each transaction. One connection has all of
    /// them, and pauses while the engine's waits are read.
    pub divides: bool,
    /// How often the measurement has been divided, where that may happen.
    pub divisions: Option<Arc<Divisions>>,
    /// The kind of transactions that it is judged by, where that is not all of them.
    pub counted: Option<CountedKind>,
    /// Unit of the work in the singular.
    pub unit: &'static str,
    /// Unit of its rate: `rows/s`.
    pub rate_unit: &'static str,
    /// Unit that the client times: `transaction`, or `call` where one stands for many.
    pub timed: &'static str,
    /// Names of the kinds of transactions.
    pub kinds: Vec<String>,
    /// Empty records of the transactions' statements, which a workload names by position.
    pub statements: Vec<ScriptStatement>,
    /// The number of times that a transaction that the engine asks to repeat is tried before it
    /// counts as failed.
    pub tries_max: u64,
    /// Seed of the arrivals.
    pub seed: u64,
    /// Statements that each connection runs once, before the warm-up.
    pub session: Vec<String>,
    /// The study's own counts, which other processes that generate parts of the load send with
    /// their records.
    pub counting: Option<Arc<dyn Counting>>,
}

/// The unit of work of a load that counts its transactions.
pub const TRANSACTION: &str = "transaction";

impl LoadPlan {
    /// Reads the settings common to all loads, with `units` for the fixed amount: a load that
    /// counts transactions and tries each once. The probe sets the rest.
    pub fn from_context(context: &TrialContext<'_>, units: Setting<Option<u64>>) -> Self {
        let configuration = context.configuration;
        Self {
            connections: configuration.get(CONNECTIONS),
            threads: configuration.get(THREADS),
            rate: configuration.get(RATE),
            intends: configuration.get(RATE).is_some(),
            limit_ns: configuration.get(LATENCY_LIMIT).map(|seconds| (seconds * 1e9) as u64),
            units: configuration.get(units),
            shares: Vec::new(),
            units_each: 1,
            duration_s: configuration.get(DURATION),
            warmup_s: configuration.get(WARMUP),
            interval_s: configuration.get(OBSERVE_INTERVAL),
            latencies: configuration.get(OBSERVE_LATENCIES) != Some(false),
            records_each: false,
            divides: false,
            divisions: None,
            counted: None,
            unit: TRANSACTION,
            rate_unit: "transactions/s",
            timed: TRANSACTION,
            kinds: Vec::new(),
            statements: Vec::new(),
            tries_max: 1,
            seed: context.seed,
            session: Vec::new(),
            counting: None,
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
                Some((DURATION.path(), format!("conflicts with workload.{key}; give one of them")))
            }
            (None, None) => Some((
                units.path(),
                format!(
                    "missing; give the number of {key} ({key} = \"100k\") or the time (duration \
                     = \"10 s\")"
                ),
            )),
            _ => None,
        };
        let amount = amount.map(|(path, message)| Invalid::new(path, message));
        let few = configuration
            .get(GENERATORS)
            .filter(|generators| *generators > configuration.get(CONNECTIONS));
        let few = few.map(|generators| {
            let message = format!("more than the connections, which {generators} generators share");
            Invalid::new(GENERATORS.path(), message)
        });
        let cold = no_warmup_of_cold(configuration, target, WARMUP);
        amount.into_iter().chain(few).chain(cold).collect()
    }

    /// Units of work that a connection does at most: divided evenly, the first ones take the
    /// remainder; in an open loop each takes what is left. No end without a fixed amount.
    pub fn share(&self, connection: u32) -> u64 {
        if let Some(share) = self.shares.get(connection as usize) {
            return *share;
        }
        let (connection, connections) = (u64::from(connection), u64::from(self.connections));
        self.units.map_or(u64::MAX, |units| {
            if self.rate.is_some() {
                units
            } else {
                units / connections + u64::from(connection < units % connections)
            }
        })
    }

    /// Units of work that are left when this many transactions have been taken.
    pub fn left_after(&self, taken: u64) -> u64 {
        self.units
            .map_or(u64::MAX, |units| units.saturating_sub(taken.saturating_mul(self.units_each)))
    }
}

/// An objection to a warm-up before a measurement that is to begin with cold caches.
pub fn no_warmup_of_cold(
    configuration: &Configuration,
    target: &Target,
    warmup: Setting<f64>,
) -> Option<Invalid> {
    let message =
        "a warm-up fills the caches, which contradicts target.cache = \"cold\"; set it to 0";
    let both = target.cache == CacheState::Cold && configuration.get(warmup) > 0.0;
    both.then(|| Invalid::new(warmup.path(), message))
}

/// An objection to a time limit on an engine that does not cancel statements.
pub fn no_time_limit(
    configuration: &Configuration,
    target: &Target,
    limit: Setting<Option<f64>>,
) -> Option<Invalid> {
    let message = "this engine does not cancel statements at a time limit; remove it";
    let is_ignored = !target.abilities.contains(&Ability::TimeLimits);
    (configuration.get(limit).is_some() && is_ignored).then(|| Invalid::new(limit.path(), message))
}

/// Makes the transactions of a connection, by its number. Not generic, so that the load's loop is
/// compiled once and not for each study.
pub type Workloads<'w> = dyn Fn(u32) -> Box<dyn Workload + 'w> + Sync + 'w;

/// The transactions of one connection, in order.
pub trait Workload: Send {
    /// The measurement begins now: transactions before it do not count.
    fn begin(&mut self) {}
    /// Returns when the next transaction is due on the load's clock, where the workload decides it;
    /// `now_ns` is the end of the one before. One that is not started is due again.
    fn due_ns(&mut self, _now_ns: u64) -> Option<u64> {
        None
    }
    /// Begins the next transaction, of at most this many units of work.
    fn start(&mut self, most: u64) -> Start;
    /// Returns the transaction's next step.
    ///
    /// # Errors
    /// When it cannot be determined: a script divides by zero.
    fn step(&mut self) -> Result<Step<'_>, ProbeError>;
    /// Results that the last request asked for.
    ///
    /// # Errors
    /// When they are not what the transaction needs.
    fn results(&mut self, _results: &[Results]) -> Result<(), ProbeError> {
        Ok(())
    }
    /// The engine asks for the transaction to be repeated for this reason.
    fn failed(&mut self, _cause: RetryCause) {}
    /// Returns whether an error of the last request is a result, as a refusal by a constraint or
    /// the end of its time can be: then the transaction is rolled back, its next step ends it, and
    /// it counts. Any other error ends the load.
    fn is_result(&mut self, _error: &EngineError) -> bool {
        false
    }
    /// Begins the same transaction again, because the engine asked for it.
    fn restart(&mut self);
    /// Returns the index in [`LoadPlan::statements`] of the last request.
    fn statement(&self) -> usize {
        0
    }
}

/// A transaction that has begun.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Start {
    /// The index in [`LoadPlan::kinds`].
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

/// Intended start times of the transactions of an open loop: random and independent of
/// transactions in progress (a Poisson process).
///
/// A seed gives one process, scaled by the rate, for any number of threads and connections. Each
/// thread draws the whole process; a counter that all threads share assigns the starts. So the
/// first free connection takes the next start, and no transaction waits behind a busy connection
/// while another is idle. (pgbench's `--rate` chooses among connections of the same thread.)
#[derive(Debug)]
pub struct Arrivals<'a> {
    /// Mean distance in nanoseconds.
    mean_ns: f64,
    /// Starts that threads of this process have taken.
    starts: &'a AtomicU64,
    /// Which of all starts these are: those of this process's connections, if all connections took
    /// them alternately.
    part: Range<u32>,
    connections: u32,
    /// Of scripted clocks, which no counter can put in order: the next start of this thread and
    /// the distance of its starts.
    dealt: Option<(u64, u64)>,
    /// Starts drawn, and the time of the last one in nanoseconds after "go".
    drawn: u64,
    last_ns: f64,
    random: Xoshiro256PlusPlus,
}

/// The part of a load that this process runs.
#[derive(Debug)]
pub(crate) struct LoadPart {
    /// The connections among all.
    pub connections: Range<u32>,
    /// The threads.
    pub threads: u32,
    /// Starts that it has taken.
    pub turns: Turns,
}

impl LoadPart {
    /// A part of several, by its position from 0.
    pub fn of_several(context: &TrialContext<'_>, plan: &LoadPlan, index: u32, parts: u32) -> Self {
        let connections = share(plan.connections, index, parts);
        let count = connections.len() as u32;
        let embedded = context.target.abilities.contains(&Ability::Embedded);
        let threads = if embedded { count } else { plan.threads.clamp(1, count.max(1)) };
        Self { connections, threads, turns: Turns::default() }
    }

    /// The connections of one of its threads.
    pub fn of_thread(&self, index: u32) -> Range<u32> {
        let share = share(self.connections.len() as u32, index, self.threads);
        self.connections.start + share.start..self.connections.start + share.end
    }
}

/// The connections of part `index`, divided evenly; the first parts take the remainder.
pub fn share(connections: u32, index: u32, parts: u32) -> Range<u32> {
    let start = |index: u32| index * (connections / parts) + index.min(connections % parts);
    start(index)..start(index + 1)
}

/// The number of starts that the threads of a load have taken.
#[derive(Debug, Default)]
pub struct Turns {
    pub warmup: AtomicU64,
    pub measurement: AtomicU64,
}

impl<'a> Arrivals<'a> {
    /// A total rate.
    pub fn new(rate: f64, seed: u64, taken: &'a AtomicU64) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (mean_ns, dealt, drawn, last_ns) = (1e9 / rate, None, 0, 0.0);
        Self { mean_ns, starts: taken, part: 0..1, connections: 1, dealt, drawn, last_ns, random }
    }

    /// Takes the starts of these connections among all, from a counter of this process.
    #[must_use]
    pub fn part(self, range: Range<u32>, connections: u32) -> Self {
        Self { part: range, connections, ..self }
    }

    /// Takes every `step`th start, from `first` on, without asking other threads.
    #[must_use]
    pub fn dealt(self, first: u32, step: u32) -> Self {
        Self { dealt: Some((first.into(), step.into())), ..self }
    }

    /// Takes the next start: how many there are before it, and its time in nanoseconds after "go".
    pub fn take(&mut self) -> (u64, u64) {
        let turn = if let Some((next, step)) = &mut self.dealt {
            std::mem::replace(next, *next + *step)
        } else {
            let (taken, part) = (self.starts.fetch_add(1, Ordering::Relaxed), &self.part);
            let (first, count) = (u64::from(part.start), part.len() as u64);
            taken / count * u64::from(self.connections) + first + taken % count
        };
        while self.drawn <= turn {
            // The inverse of the exponential distribution; 1 - u is never 0.
            let uniform: f64 = self.random.random();
            self.last_ns -= self.mean_ns * (1.0 - uniform).ln();
            self.drawn += 1;
        }
        (turn, self.last_ns as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::Arrivals;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn open_arrivals_have_the_asked_rate_and_the_spread_of_a_poisson_process() {
        let taken = AtomicU64::new(0);
        let mut arrivals = Arrivals::new(1_000.0, 7, &taken);
        let times: Vec<u64> = (0..100_000).map(|_| arrivals.take().1).collect();
        let distances: Vec<f64> = times.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean = distances.iter().sum::<f64>() / distances.len() as f64;
        let variance =
            distances.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / distances.len() as f64;
        // 1,000 a second; an exponential's deviation equals its mean.
        assert!((mean / 1e6 - 1.0).abs() < 0.02, "mean distance {mean} ns");
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.02, "deviation {}", variance.sqrt());
    }

    /// Takes 300 starts with this many threads, in an uneven order.
    fn starts(rate: f64, threads: usize) -> Vec<u64> {
        let counter = AtomicU64::new(0);
        let mut all: Vec<Arrivals> =
            (0..threads).map(|_| Arrivals::new(rate, 42, &counter)).collect();
        let mut times: Vec<u64> = (0..300).map(|i| all[i * i % threads].take().1).collect();
        times.sort_unstable();
        times
    }

    #[test]
    fn one_seed_is_one_schedule_whatever_the_threads_and_stretched_by_the_rate() {
        let single = starts(100.0, 1);
        assert_eq!(starts(100.0, 7), single);
        for (slow, fast) in single.iter().zip(starts(200.0, 3)) {
            assert!(slow.abs_diff(2 * fast) <= 2, "{slow} {fast}");
        }
        let counter = AtomicU64::new(0);
        let mut dealt: Vec<u64> = (0..3)
            .flat_map(|thread| {
                let mut arrivals = Arrivals::new(100.0, 42, &counter).dealt(thread, 3);
                (0..100).map(|_| arrivals.take().1).collect::<Vec<_>>()
            })
            .collect();
        dealt.sort_unstable();
        assert_eq!(dealt, single);
    }

    #[test]
    fn parts_of_a_load_take_the_same_starts_together() {
        let single = starts(100.0, 1);
        // Five connections in two processes, each with a counter of its own.
        let counters = [AtomicU64::new(0), AtomicU64::new(0)];
        let mut all: Vec<u64> = [(0..3, 180), (3..5, 120)]
            .into_iter()
            .zip(&counters)
            .flat_map(|((index, starts), counter)| {
                let mut arrivals = Arrivals::new(100.0, 42, counter).part(index, 5);
                (0..starts).map(|_| arrivals.take().1).collect::<Vec<_>>()
            })
            .collect();
        all.sort_unstable();
        assert_eq!(all, single);
    }
}
