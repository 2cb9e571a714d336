//! Resource demands of a transaction, from the recorded trials, by the operational laws. P. J.
//! Denning and J. P. Buzen, ACM Computing Surveys 10 (1978).

use analysis::latency::response_s;
use observations::{Observations, Wait, WaitClass, order, range, shown};
use serde::Serialize;

/// Waits and processors below this share of the sessions' time are left out.
const SHARE_MIN: f64 = 0.01;

/// Kind of a resource's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Processors were busy.
    Processor,
    /// A device had I/Os in flight: how long it was busy, not how much of it.
    Device,
    /// Transactions waited there.
    Wait,
    /// Transactions waited for their client, which is not part of the target.
    Client,
}

/// A transaction's demand on a resource.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Demand {
    /// The name.
    pub name: String,
    /// Kind of its time.
    pub kind: Kind,
    /// Seconds of a transaction.
    pub demand_s: f64,
    /// Operations of a transaction, where they are counted.
    pub operations: Option<f64>,
    /// For a resource: share of the time that it was busy (Utilisation Law). For waits: mean number
    /// of connections that waited (Little's Law).
    pub busy: f64,
}

/// Demands, and the laws checked against each other.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Demands {
    /// In the order given.
    pub demands: Vec<Demand>,
    /// Transactions a second.
    pub throughput: f64,
    /// Connections by Little's Law: throughput x response time, and idle ones; `None` where
    /// response times were not recorded. It equals `customers`, or the two were not measured
    /// alike.
    pub little: Option<f64>,
    /// Connections that worked.
    pub customers: f64,
}

/// Why a measurement has no demands.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DemandError {
    /// Nothing was done, or in no time.
    #[error("no transactions recorded, so demand per transaction is unknown")]
    NoWork,
    /// Less than nothing.
    #[error(
        "{name}: negative time ({seconds} s): the counter was reset, or mismatched counters were \
         subtracted"
    )]
    Negative {
        /// The resource.
        name: String,
        /// The counted seconds.
        seconds: f64,
    },
    /// Busier than it can be.
    #[error(
        "{name} was busy {busy:.2} times the possible maximum: its time or its number is in \
         another unit"
    )]
    Impossible {
        /// The resource.
        name: String,
        /// Above 1.
        busy: f64,
    },
}

/// A utilisation above 1 by this much is the resolution of counters (a tick of 10 ms in a short
/// trial).
const TOLERANCE: f64 = 0.05;

/// The laws agree within this share.
pub const AGREES: f64 = 0.05;

/// Counters of a resource during a measurement.
struct ResourceUse {
    name: String,
    kind: Kind,
    /// Seconds that it was busy, or that transactions spent there, summed.
    seconds: f64,
    /// Operations there: I/Os, syncs, waits; where they are counted.
    operations: Option<f64>,
    /// The number that work at a time; `None` where that is not known, or not limited.
    servers: Option<f64>,
}

impl ResourceUse {
    /// # Errors
    /// What no counter can say.
    fn demand(self, elapsed_s: f64, transactions: f64) -> Result<Demand, DemandError> {
        let Self { name, kind, seconds, operations, servers } = self;
        if seconds < 0.0 || !seconds.is_finite() {
            return Err(DemandError::Negative { name, seconds });
        }
        let busy = seconds / elapsed_s / servers.unwrap_or(1.0);
        if servers.is_some() && busy > 1.0 + TOLERANCE {
            return Err(DemandError::Impossible { name, busy });
        }
        let operations = operations.map(|count| count / transactions);
        Ok(Demand { name, kind, demand_s: seconds / transactions, operations, busy })
    }
}

/// A measurement.
struct Measurement {
    elapsed_s: f64,
    /// Connections that worked.
    customers: f64,
    transactions: f64,
    /// Mean seconds of a transaction, where it was timed; without think time.
    response_s: Option<f64>,
    /// Seconds in which connections had nothing to do: think time, or they had ended.
    idle_s: f64,
    resources: Vec<ResourceUse>,
}

impl Demands {
    /// Computes the demands of a transaction.
    ///
    /// # Errors
    /// Without work, and what no counter can say.
    fn from_measured(measured: Measurement) -> Result<Self, DemandError> {
        let Measurement { elapsed_s, customers, transactions, response_s, idle_s, resources } =
            measured;
        if !(elapsed_s > 0.0 && transactions > 0.0) {
            return Err(DemandError::NoWork);
        }
        let throughput = transactions / elapsed_s;
        let demands = resources.into_iter().map(|used| used.demand(elapsed_s, transactions));
        Ok(Self {
            demands: demands.collect::<Result<_, _>>()?,
            throughput,
            little: response_s.map(|response| throughput * response + idle_s / elapsed_s),
            customers,
        })
    }

    /// Returns whether Little's law agrees with the number of connections; `None` where it cannot
    /// be checked.
    pub fn agrees(&self) -> Option<bool> {
        self.little.map(|little| (little / self.customers - 1.0).abs() <= AGREES)
    }
}

/// Demands at a level.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LevelDemands {
    /// The level.
    pub n: f64,
    /// The unit of work that they are of: `transaction`, `I/O`.
    pub unit: String,
    /// The demands; `None` where the counters are inconsistent.
    pub demands: Option<Demands>,
    /// Why there are none.
    pub error: Option<String>,
    /// Demands that were not recorded.
    pub missing: Vec<&'static str>,
    /// For each kind of log sync: transactions that one made durable on average (group commit).
    pub batches: Vec<(String, f64)>,
}

impl LevelDemands {
    /// Computes the demands of a configuration from its trials.
    pub(super) fn at_level(n: f64, trials: &[&Observations], processors: Option<u32>) -> Self {
        let has_transactions = trials.iter().all(|trial| trial.work.transactions > 0);
        let unit = trials.first().filter(|_| !has_transactions);
        let unit = unit.map_or("transaction", |trial| trial.work.unit.as_str());
        let found = Demands::from_measured(measured(trials, has_transactions, processors));
        let mut missing = Vec::new();
        if trials.iter().any(|trial| trial.devices.is_empty()) {
            missing.push(
                "device counters (the target is remote, or the kernel keeps no counters for its \
                 storage)",
            );
        }
        if trials.iter().any(|trial| trial.machine.own_s <= 0.0) {
            missing.push("CPU time of the load and its target");
        }
        Self {
            n,
            unit: unit.to_owned(),
            error: found.as_ref().err().map(DemandError::to_string),
            demands: found.ok(),
            missing,
            batches: batches(trials),
        }
    }
}

/// The sum of a figure over trials.
pub(crate) fn total(trials: &[&Observations], of: &dyn Fn(&Observations) -> f64) -> f64 {
    trials.iter().map(|trial| of(trial)).sum()
}

/// The sums over trials.
fn measured(
    trials: &[&Observations],
    of_transactions: bool,
    processors: Option<u32>,
) -> Measurement {
    let sum = |of: &dyn Fn(&Observations) -> f64| total(trials, of);
    let elapsed_s = sum(&|trial| trial.elapsed_s);
    let session_s = sum(&|trial| trial.time.session_s);
    let mut resources = processor_time(trials, processors);
    resources.extend(devices(trials, elapsed_s));
    resources.extend(waits(trials).into_iter().filter(|wait| wait.seconds > SHARE_MIN * session_s));
    let transactions = sum(&|trial| {
        (if of_transactions { trial.work.transactions } else { trial.work.amount }) as f64
    });
    Measurement {
        elapsed_s,
        customers: sum(&|trial| f64::from(trial.connections) * trial.elapsed_s) / elapsed_s,
        transactions,
        response_s: of_transactions.then(|| response_s(trials)).flatten(),
        idle_s: sum(&|trial| {
            trial.waits.iter().filter(|wait| is_idle(wait)).map(Wait::wait_s).sum()
        }),
        resources,
    }
}

/// The driver's own waits, between transactions. What an engine calls waiting for its client is
/// within them.
fn is_idle(wait: &Wait) -> bool {
    shown(&wait.wait_type) != wait.wait_type
}

/// Processor time of the sessions, in user mode and in the kernel where that is known; of a server
/// that of the load too.
fn processor_time(trials: &[&Observations], processors: Option<u32>) -> Vec<ResourceUse> {
    let sessions = total(trials, &|trial| trial.time.cpu_s);
    let all = total(trials, &|trial| trial.machine.own_s);
    let user = trials.iter().map(|trial| trial.time.cpu_user_s).sum::<Option<f64>>();
    let servers = processors.map(f64::from);
    let counted = |name: &str, seconds| ResourceUse {
        name: name.into(),
        kind: Kind::Processor,
        seconds,
        operations: None,
        servers,
    };
    let mut parts = vec![counted("CPUs: sessions", sessions)];
    if let Some(user) = user {
        parts.push(counted("of which in the kernel", (sessions - user).max(0.0)));
    }
    if all > sessions * (1.0 + SHARE_MIN) {
        parts.push(counted("CPUs: load and background work of the server", all - sessions));
    }
    parts
}

fn devices(trials: &[&Observations], elapsed_s: f64) -> Vec<ResourceUse> {
    joined(trials.iter().flat_map(|trial| &trial.devices).map(|device| {
        // Busy seconds are of the device's own interval, which a reading makes a little longer.
        let share = if device.elapsed_s > 0.0 { device.busy_s / device.elapsed_s } else { 0.0 };
        ResourceUse {
            name: format!("device {}", device.device),
            kind: Kind::Device,
            seconds: share * elapsed_s / trials.len() as f64,
            operations: Some((device.reads + device.writes + device.flushes) as f64),
            servers: Some(1.0),
        }
    }))
}

/// Waits by type, the longest first.
fn waits(trials: &[&Observations]) -> Vec<ResourceUse> {
    let counted = trials.iter().flat_map(|trial| &trial.waits);
    let counted = counted.filter(|wait| wait.class != WaitClass::Idle && !is_idle(wait));
    let mut all = joined(counted.map(|wait| ResourceUse {
        name: wait.wait_type.clone(),
        kind: if wait.class == WaitClass::Client { Kind::Client } else { Kind::Wait },
        seconds: wait.wait_s(),
        operations: wait.count.map(|count| count as f64),
        servers: None,
    }));
    order::largest_first(&mut all, &|row| row.seconds);
    all
}

/// The use of each resource over all trials.
fn joined(parts: impl Iterator<Item = ResourceUse>) -> Vec<ResourceUse> {
    let mut all: Vec<ResourceUse> = Vec::new();
    for part in parts {
        match all.iter_mut().find(|resource| resource.name == part.name) {
            Some(resource) => {
                resource.seconds += part.seconds;
                resource.operations = resource.operations.zip(part.operations).map(|(a, b)| a + b);
            }
            None => all.push(part),
        }
    }
    all
}

/// Transactions for each sync of the log.
fn batches(trials: &[&Observations]) -> Vec<(String, f64)> {
    let transactions = range::total(trials.iter().map(|trial| trial.work.transactions));
    let mut syncs: Vec<(String, u64)> = Vec::new();
    for operation in trials.iter().flat_map(|trial| &trial.operations).filter(|operation| {
        let name = operation.name.to_uppercase();
        name.contains("SYNC") && (name.contains("WAL") || name.contains("LOG"))
    }) {
        match syncs.iter_mut().find(|(name, _)| *name == operation.name) {
            Some((_, count)) => *count = count.saturating_add(operation.count),
            None => syncs.push((operation.name.clone(), operation.count)),
        }
    }
    let counted = syncs.into_iter().filter(|(_, count)| *count > 0 && transactions > 0);
    counted.map(|(name, count)| (name, transactions as f64 / count as f64)).collect()
}

/// Transactions for each sync of the log at a level with `n` connections, if commits wait for it: a
/// connection has one commit at a time, so that a sync cannot serve more of them than there are
/// connections. `None` if commits do not wait for syncs.
pub(super) fn group_commit(trials: &[&Observations], n: f64) -> Option<f64> {
    let batches = batches(trials).into_iter().map(|(_, transactions)| transactions);
    batches.reduce(f64::min).filter(|transactions| *transactions <= n * (1.0 + AGREES))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(resources: Vec<ResourceUse>) -> Measurement {
        Measurement {
            elapsed_s: 10.0,
            customers: 8.0,
            transactions: 2000.0,
            response_s: Some(0.035),
            idle_s: 10.0,
            resources,
        }
    }

    fn counted(seconds: f64, servers: Option<f64>) -> ResourceUse {
        ResourceUse {
            name: "cpu".into(),
            kind: Kind::Processor,
            seconds,
            operations: Some(4000.0),
            servers,
        }
    }

    /// X = 200/s, U = X D: 15 s of two processors are 7.5 ms and 75 %; 200 x 35 ms + 1 idle are 8
    /// connections.
    #[test]
    fn the_laws() {
        let found = Demands::from_measured(measured(vec![counted(15.0, Some(2.0))])).unwrap();
        let cpu = &found.demands[0];
        assert!((cpu.demand_s - 0.0075).abs() < 1e-12 && (cpu.busy - 0.75).abs() < 1e-12);
        assert_eq!(cpu.operations, Some(2.0));
        assert!((found.little.unwrap() - 8.0).abs() < 1e-9);
        assert_eq!(found.agrees(), Some(true));
        let late = Measurement { response_s: Some(0.05), ..measured(Vec::new()) };
        assert_eq!(Demands::from_measured(late).unwrap().agrees(), Some(false));
    }

    #[test]
    fn what_no_counter_can_say_is_refused() {
        let error = |seconds, servers| {
            Demands::from_measured(measured(vec![counted(seconds, servers)]))
                .unwrap_err()
                .to_string()
        };
        assert!(error(-0.1, Some(2.0)).contains("negative time"));
        assert!(error(15_000.0, Some(2.0)).contains("another unit"));
        let none = Measurement { transactions: 0.0, ..measured(Vec::new()) };
        assert_eq!(Demands::from_measured(none), Err(DemandError::NoWork));
    }
}
