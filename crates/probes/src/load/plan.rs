use engines::CacheState;
use experiment::Configuration;

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
    /// Seconds of the measured part, when the time is fixed.
    pub duration_s: Option<f64>,
    /// Seconds of warm-up before it.
    pub warmup_s: f64,
    /// Cache state to establish between warm-up and measuring.
    pub cache: CacheState,
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
    pub fn of(configuration: &Configuration, seed: u64) -> Self {
        let count = |path| configuration.integer(path).unwrap_or(1) as u32;
        Self {
            connections: count("workload.connections"),
            threads: count("workload.threads"),
            rate: configuration.number("workload.rate"),
            units: None,
            duration_s: configuration.number("workload.duration"),
            warmup_s: configuration.number("workload.warmup").unwrap_or(0.0),
            cache: CacheState::from_name(configuration.text("target.cache")),
            interval_s: configuration.number("observe.interval").unwrap_or(1.0),
            latencies: configuration.is_on("observe.latencies"),
            unit: "transaction",
            rate_unit: "transactions/s",
            counts_transactions: true,
            timed: "transaction",
            kinds: Vec::new(),
            seed,
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
