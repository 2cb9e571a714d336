use engines::CacheState;

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
    /// Length of an interval of the time series in nanoseconds.
    pub fn interval_ns(&self) -> u64 {
        (self.interval_s * 1e9).max(1.0) as u64
    }
}
