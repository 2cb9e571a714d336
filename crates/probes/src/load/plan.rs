use crate::TrialContext;
use experiment::common::{OBSERVE_INTERVAL, OBSERVE_LATENCIES};
use experiment::{Kind, settings};

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
    /// Connections.
    pub connections: u32,
    /// Threads that drive the connections to a server; an embedded engine has one for each.
    pub threads: u32,
    /// Transactions a second, all connections together; `None`: closed loop.
    pub rate: Option<f64>,
    /// Units of work in all, when the amount is fixed (for the progress display).
    pub units: Option<u64>,
    /// Seconds of the measurement, when the time is fixed.
    pub duration_s: Option<f64>,
    /// Seconds of warm-up before it.
    pub warmup_s: f64,
    /// Length of an interval of the time series in seconds.
    pub interval_s: f64,
    /// Whether latencies are recorded.
    pub latencies: bool,
    /// Unit of the work in the singular, and of its rate.
    pub unit: &'static str,
    /// Unit of the rate: `rows/s`.
    pub rate_unit: &'static str,
    /// The unit of work is the transaction itself.
    pub counts_transactions: bool,
    /// What the client times: `transaction`, or `call` where one stands for many.
    pub timed: &'static str,
    /// Names of the kinds of transactions.
    pub kinds: Vec<String>,
    /// Seed of the arrivals.
    pub seed: u64,
}

impl LoadPlan {
    /// What every load reads alike from its configuration: a closed or open loop that counts
    /// transactions, until the time is over. What differs is up to the probe.
    pub fn of(context: &TrialContext<'_>) -> Self {
        let configuration = context.configuration;
        Self {
            connections: configuration.get(CONNECTIONS),
            threads: configuration.get(THREADS),
            rate: configuration.get(RATE),
            units: None,
            duration_s: configuration.get(DURATION),
            warmup_s: configuration.get(WARMUP),
            interval_s: configuration.get(OBSERVE_INTERVAL),
            latencies: configuration.get(OBSERVE_LATENCIES) != Some(false),
            unit: "transaction",
            rate_unit: "transactions/s",
            counts_transactions: true,
            timed: "transaction",
            kinds: Vec::new(),
            seed: context.seed,
        }
    }

    /// One connection's part of a fixed amount of work: divided evenly, the first ones take the
    /// remainder.
    pub fn share(&self, connection: u32) -> Option<u64> {
        let (connection, connections) = (u64::from(connection), u64::from(self.connections));
        self.units.map(|units| units / connections + u64::from(connection < units % connections))
    }

    /// Length of an interval of the time series in nanoseconds.
    pub fn interval_ns(&self) -> u64 {
        (self.interval_s * 1e9).max(1.0) as u64
    }
}
