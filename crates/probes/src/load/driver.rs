//! Runs the threads of a database load and adds up what they saw.

use super::client::Client;
use super::recorder::ClientReport;
use super::{LoadPlan, Workload, outcome};
use crate::measure::{Subject, measure};
use crate::{ProbeError, TrialContext};
use conductor::{Lanes, Stage, conduct};
use engines::ConnectionSet;
use observations::{Observations, Response};
use observe::Clock;
use std::ops::Range;
use std::time::Duration;

/// What a thread hands over: what it saw, and its connections, still open.
pub type Finished = (ClientReport, Box<dyn ConnectionSet>);

/// Runs a load and returns what was seen. `workload` makes the transactions of a connection.
///
/// # Errors
/// The first error of any connection; the others stop then.
pub fn drive<W: Workload>(
    context: &TrialContext<'_>,
    plan: &LoadPlan,
    workload: impl Fn(u32) -> W + Sync,
) -> Result<Observations, ProbeError> {
    let embedded = context.capabilities.embedded;
    let threads = if embedded { plan.connections } else { plan.threads.clamp(1, plan.connections) };
    let lanes =
        Lanes { number: threads as usize, name: "load", warmup: Duration::from_secs_f64(plan.warmup_s) };
    let clock = Clock::monotonic();
    let subject = Subject {
        // Devices are watched where the target's files can be seen.
        storage: context.instance.space_bytes().map_or(&[], |_| context.storage),
        units: plan.units,
        duration_s: plan.duration_s,
        rate_unit: plan.rate_unit,
        rate_scale: 1.0,
    };
    let (finished, surroundings) = measure(context, subject, |director| {
        conduct(lanes, director, |stage| {
            let connections = share(plan.connections, stage.lane as u32, threads);
            run_client(Client::connect(context, plan, (stage, &clock), connections, &workload)?, threads)
        })
    })?;
    let mut observations = outcome::add_up(plan, &finished, surroundings, embedded);
    if let Some(space_bytes) = context.instance.space_bytes() {
        observations.responses.push(Response::lower("space", "MB", space_bytes as f64 / 1e6));
    }
    Ok(observations)
}

/// One thread, once it is connected.
fn run_client<W: Workload>(mut client: Client<'_, W>, threads: u32) -> Result<Finished, ProbeError> {
    let stage: &Stage<'_> = client.stage();
    stage.together()?; // connected
    client.warm_up()?;
    let before_go = client.thread_times();
    stage.together()?; // go
    client.measure(before_go)?;
    let waited_from = client.thread_times();
    stage.together()?; // everybody's transactions are done
    client.flush(waited_from, threads)?;
    Ok(client.finish())
}

/// The connections of one of so many threads: evenly, the first ones take the remainder.
fn share(connections: u32, index: u32, threads: u32) -> Range<u32> {
    let start = |index: u32| index * (connections / threads) + index.min(connections % threads);
    start(index)..start(index + 1)
}
