//! Resource demands of a transaction, from the recorded trials.

use crate::models::demands::{AGREES, DemandError, Demands, Kind, Measurement, ResourceUse};
use analysis::latency::response_s;
use observations::{Observations, Wait, WaitClass, order, shown};
use serde::Serialize;

/// Waits and processors below this share of the sessions' time are left out.
const SHARE_MIN: f64 = 0.01;

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
        let unit = if has_transactions { "transaction" } else { unit_of(trials) };
        let found = Demands::from_measured(&measured(trials, has_transactions, processors));
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

fn unit_of<'t>(trials: &[&'t Observations]) -> &'t str {
    trials.first().map_or("unit", |trial| trial.work.unit.as_str())
}

/// The sums over trials.
fn measured(
    trials: &[&Observations],
    of_transactions: bool,
    processors: Option<u32>,
) -> Measurement {
    let sum = |of: &dyn Fn(&Observations) -> f64| trials.iter().map(|trial| of(trial)).sum::<f64>();
    let elapsed_s = sum(&|observations| observations.elapsed_s);
    let session_s = sum(&|observations| observations.time.session_s);
    let mut resources = processor_time(trials, processors);
    resources.extend(devices(trials, elapsed_s));
    resources.extend(waits(trials).into_iter().filter(|wait| wait.seconds > SHARE_MIN * session_s));
    Measurement {
        elapsed_s,
        customers: sum(&|observations| {
            f64::from(observations.connections) * observations.elapsed_s
        }) / elapsed_s,
        transactions: sum(&|observations: &Observations| {
            (if of_transactions {
                observations.work.transactions
            } else {
                observations.work.amount
            }) as f64
        }),
        response_s: of_transactions.then(|| response_s(trials)).flatten(),
        idle_s: sum(&|observations| {
            observations.waits.iter().filter(|wait| is_idle(wait)).map(Wait::wait_s).sum()
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
    let sum = |of: &dyn Fn(&Observations) -> f64| trials.iter().map(|trial| of(trial)).sum::<f64>();
    let (sessions, sum) = (
        sum(&|observations| observations.time.cpu_s),
        sum(&|observations| observations.machine.own_s),
    );
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
    if sum > sessions * (1.0 + SHARE_MIN) {
        parts.push(counted("CPUs: load and background work of the server", sum - sessions));
    }
    parts
}

fn devices(trials: &[&Observations], elapsed_s: f64) -> Vec<ResourceUse> {
    let mut all: Vec<ResourceUse> = Vec::new();
    for device in trials.iter().flat_map(|trial| &trial.devices) {
        // Busy seconds are of the device's own interval, which a reading makes a little longer.
        let share = if device.elapsed_s > 0.0 { device.busy_s / device.elapsed_s } else { 0.0 };
        let operations = (device.reads + device.writes + device.flushes) as f64;
        let seconds = share * elapsed_s / trials.len() as f64;
        let name = format!("device {}", device.device);
        match all.iter_mut().find(|resource| resource.name == name) {
            Some(resource) => {
                resource.seconds += seconds;
                resource.operations = resource.operations.map(|sum| sum + operations);
            }
            None => all.push(ResourceUse {
                name,
                kind: Kind::Device,
                seconds,
                operations: Some(operations),
                servers: Some(1.0),
            }),
        }
    }
    all
}

/// Waits by type, the longest first.
fn waits(trials: &[&Observations]) -> Vec<ResourceUse> {
    let mut all: Vec<ResourceUse> = Vec::new();
    let counted = trials.iter().flat_map(|trial| &trial.waits);
    for wait in counted.filter(|wait| wait.class != WaitClass::Idle && !is_idle(wait)) {
        let kind = if wait.class == WaitClass::Client { Kind::Client } else { Kind::Wait };
        let count = wait.count.map(|count| count as f64);
        match all.iter_mut().find(|resource| resource.name == wait.wait_type) {
            Some(resource) => {
                resource.seconds += wait.wait_s();
                resource.operations = resource.operations.zip(count).map(|(a, b)| a + b);
            }
            None => all.push(ResourceUse {
                name: wait.wait_type.clone(),
                kind,
                seconds: wait.wait_s(),
                operations: count,
                servers: None,
            }),
        }
    }
    order::largest_first(&mut all, &|row| row.seconds);
    all
}

/// Transactions for each sync of the log.
fn batches(trials: &[&Observations]) -> Vec<(String, f64)> {
    let transactions: u64 = trials.iter().map(|trial| trial.work.transactions).sum();
    let mut syncs: Vec<(String, u64)> = Vec::new();
    for operation in trials.iter().flat_map(|trial| &trial.operations).filter(|operation| {
        let name = operation.name.to_uppercase();
        name.contains("SYNC") && (name.contains("WAL") || name.contains("LOG"))
    }) {
        match syncs.iter_mut().find(|(name, _)| *name == operation.name) {
            Some((_, count)) => *count += operation.count,
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
