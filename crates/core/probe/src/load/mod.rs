//! Load: many connections that run transactions, each timed, without disturbing each other.
//!
//! - `plan`: what a load is, the transactions of a connection, and when they are meant to start
//! - `client`: what one thread does with its connections
//! - `outcome`: what a thread records, and what all threads saw

mod client;
mod outcome;
mod plan;

use crate::disturbance::{Announcing, Beside};
use crate::measure::{Subject, measure};
use crate::{ProbeError, TrialContext};
use client::Client;
use conductor::{Lanes, conduct};
use engine::EngineUse;
use observations::{Observations, Response};
use observe::Clock;
pub use outcome::{SKIPPED, Timed, add_intervals};
use plan::Turns;
pub use plan::{
    CONNECTIONS, DURATION, LATENCY_LIMIT, LoadPlan, RATE, Started, Step, THREADS, WARMUP, Workload,
    no_time_limit, no_warmup_of_cold,
};
use std::time::Duration;

/// Runs a load and returns what was seen. `workload` makes the transactions of a connection.
///
/// # Errors
/// The first error of any connection; the others stop then.
pub fn drive<W: Workload>(
    context: &TrialContext<'_>,
    plan: &LoadPlan,
    workload: impl Fn(u32) -> W + Sync,
) -> Result<Observations, ProbeError> {
    drive_counting(context, plan, workload).map(|(observations, _)| observations)
}

/// Drives the load and counts its use of the engine.
///
/// # Errors
/// As [`drive`].
pub fn drive_counting<W: Workload>(
    context: &TrialContext<'_>,
    plan: &LoadPlan,
    workload: impl Fn(u32) -> W + Sync,
) -> Result<(Observations, EngineUse), ProbeError> {
    let embedded = context.target.abilities.contains(&engine::Ability::Embedded);
    let threads = if embedded { plan.connections } else { plan.threads.clamp(1, plan.connections) };
    let lanes = Lanes {
        number: threads as usize,
        name: "load",
        warmup: Duration::from_secs_f64(plan.warmup_s),
    };
    let clock = Clock::monotonic();
    let subject = Subject {
        // Devices are watched where the target's files can be seen.
        storage: context.instance.space_bytes().map_or(&[], |_| context.storage),
        units: plan.units,
        duration_s: plan.duration_s,
        rate_unit: plan.rate_unit,
        rate_scale: 1.0,
    };
    let turns = Turns::default();
    let mut beside = Beside::prepare(context, &clock)?;
    let plan = &LoadPlan { records_each: !beside.is_empty(), ..plan.clone() };
    let (finished, surroundings) = beside.run(|load_clock| {
        measure(context, subject, |director| {
            let director = &mut Announcing { inner: director, clock: load_clock };
            conduct(lanes, director, |stage| {
                Client::work(context, plan, (stage, &clock), (threads, &turns), &workload)
            })
        })
    })?;
    let used = surroundings.engine_use();
    let mut observations = outcome::add_up(plan, &finished, surroundings, embedded);
    if let Some(space_bytes) = context.instance.space_bytes() {
        observations.responses.push(Response::lower("space", "MB", space_bytes as f64 / 1e6));
    }
    beside.finish(outcome::each(&finished), &mut observations)?;
    Ok((observations, used))
}
