use super::LoadPlan;
use conductor::Recorder;
use observe::ThreadTimes;

/// What one thread records in the measurement. Others see only what readers of its recorders show.
#[derive(Debug, Default)]
pub struct ThreadRecord {
    /// From the intended start to the end; `None` when latencies are not recorded.
    pub latency: Option<Recorder>,
    /// From the actual start to the end, where transactions have an intended start (open loop): in a
    /// closed loop it is the latency.
    pub service: Option<Recorder>,
    /// Units done in each interval since "go".
    pub units_by_interval: Vec<u64>,
    pub units: u64,
    pub transactions: u64,
    pub retries: u64,
    /// Transactions that failed and were given up.
    pub errors: u64,
    /// Where there are several kinds of transactions: latency of each.
    pub latency_by_kind: Vec<Recorder>,
    /// Time in the generator's own code.
    pub generator_ns: u64,
    /// Open loop: transactions intended, started late by an idle connection, and the worst delay.
    pub sends_intended: u64,
    pub sends_missed: u64,
    pub send_delay_ns_max: u64,
}

/// A start later than this, on a connection that was free, was missed by the generator.
const MISSED_NS: u64 = 1_000_000;

impl ThreadRecord {
    /// A record with room for so many intervals, so that measuring does not allocate, and for what the plan
    /// wants recorded.
    pub fn with_room(intervals: usize, plan: &LoadPlan) -> Self {
        let kinds = if plan.latencies && plan.kinds.len() > 1 { plan.kinds.len() } else { 0 };
        Self {
            units_by_interval: Vec::with_capacity(intervals),
            latency: plan.latencies.then(Recorder::default),
            service: (plan.latencies && plan.rate.is_some()).then(Recorder::default),
            latency_by_kind: (0..kinds).map(|_| Recorder::default()).collect(),
            ..Self::default()
        }
    }

    /// Records what one connection committed as one; times are in nanoseconds after "go".
    #[inline]
    pub fn transaction(
        &mut self,
        times: Times,
        (units, transactions): (u64, u64),
        kind: usize,
        interval_ns: u64,
    ) {
        let latency_ns = times.end_ns - times.intended_ns.min(times.end_ns);
        if let Some(latency) = &mut self.latency {
            latency.record(latency_ns);
        }
        if let Some(latency) = self.latency_by_kind.get_mut(kind) {
            latency.record(latency_ns);
        }
        if let Some(service) = &mut self.service {
            service.record(times.end_ns - times.start_ns);
        }
        self.units += units;
        self.transactions += transactions;
        let interval = (times.end_ns / interval_ns) as usize;
        if self.units_by_interval.len() <= interval {
            self.units_by_interval.resize(interval + 1, 0);
        }
        self.units_by_interval[interval] += units;
    }

    /// Records how punctual a free connection was.
    pub fn send(&mut self, delay_ns: u64) {
        self.sends_missed += u64::from(delay_ns > MISSED_NS);
        self.send_delay_ns_max = self.send_delay_ns_max.max(delay_ns);
    }
}

/// Times of one transaction in nanoseconds after "go".
#[derive(Debug, Clone, Copy)]
pub struct Times {
    pub intended_ns: u64,
    pub start_ns: u64,
    pub end_ns: u64,
}

/// What one thread hands over when it is done.
#[derive(Debug, Default)]
pub struct ClientReport {
    pub record: ThreadRecord,
    /// The measurement of this thread, on the load's common clock.
    pub start_ns: u64,
    pub end_ns: u64,
    /// When its last transaction ended, before the flush.
    pub done_ns: u64,
    /// CPU and run-queue delay of the thread in its measurement.
    pub times: ThreadTimes,
    /// How often the thread lost its processor in its measurement.
    pub preemptions: u64,
    /// Waiting for the next intended start.
    pub arrival: ClientWait,
    /// Waiting for the other connections to finish.
    pub others: ClientWait,
    /// Units done in each interval of the warm-up.
    pub warmup_units_by_interval: Vec<u64>,
}

/// Time that a thread waited on the client's side.
#[derive(Debug, Clone, Copy, Default)]
pub struct ClientWait {
    pub count: u64,
    pub resource_ns: u64,
    pub signal_ns: u64,
}

impl ClientWait {
    /// Adds one wait; `used` is what the thread did of it other than wait.
    pub fn add(&mut self, wall_ns: u64, used: ThreadTimes) {
        self.count += 1;
        self.resource_ns += wall_ns.saturating_sub(used.cpu_ns + used.run_delay_ns);
        self.signal_ns += used.run_delay_ns.min(wall_ns);
    }
}
