//! Load: many connections that run transactions, each timed, without disturbing each other.
//!
//! - `plan`: what a load is, the transactions of a connection, and when they are meant to start
//! - `client`: what one thread does with its connections; `threads`: all threads of this process
//! - `outcome`: what a thread records, and the observations of a load
//! - `parts`: a load that an action beside it, or the ends of its transactions, have divided
//! - `generators`: a load of which other processes generate parts

mod client;
mod generators;
mod outcome;
mod parts;
mod plan;
mod threads;

use crate::generation::Generation;
use crate::load_clock::LoadSeen;
use crate::measure::measure;
use crate::side_actions::{Announcer, SideActions};
use crate::{ProbeError, TrialContext};
use engine::{Ability, EngineUse, SessionPart};
use observations::{Observations, Response};
use observe::Clock;
use outcome::ClientReport;
pub use outcome::{SKIPPED, add_cpu_per_transaction, add_intervals};
use plan::LoadPart;
pub use plan::{
    CONNECTIONS, DURATION, GENERATORS, LATENCY_LIMIT, LoadPlan, QUERY_LIMIT, RATE, Start, Step,
    THREADS, WARMUP, Workload, Workloads, no_time_limit, no_warmup_of_cold,
};
use threads::{conducted, subject};

/// Runs a load and returns what was seen.
///
/// # Errors
/// The first error of any connection; the others stop then. Of a part of a load that another
/// process conducts: [`ProbeError::Delivered`] once that process has the record.
pub fn drive(
    context: &TrialContext<'_>,
    plan: &LoadPlan,
    workload: &Workloads<'_>,
) -> Result<Observations, ProbeError> {
    drive_counting(context, plan, workload).map(|(observations, _)| observations)
}

/// Drives the load and counts its use of the engine.
///
/// # Errors
/// As [`drive`].
pub fn drive_counting(
    context: &TrialContext<'_>,
    plan: &LoadPlan,
    workload: &Workloads<'_>,
) -> Result<(Observations, EngineUse), ProbeError> {
    drive_in_parts(context, plan, workload).map(|driven| (driven.observations, driven.used))
}

/// A load that has ended.
pub struct Outcome {
    /// The observations.
    pub observations: Observations,
    /// The use of the engine.
    pub used: EngineUse,
    /// The parts of the measurement, which sum to the waits that were seen: of a load that is
    /// divided ([`LoadPlan::divides`]) one for each transaction and one for the time after the
    /// last; empty where the engine's waits cannot be divided.
    pub parts: Vec<SessionPart>,
}

/// Drives the load, counts its use of the engine and keeps the parts of a divided measurement.
///
/// # Errors
/// As [`drive`].
pub fn drive_in_parts(
    context: &TrialContext<'_>,
    plan: &LoadPlan,
    workload: &Workloads<'_>,
) -> Result<Outcome, ProbeError> {
    match (context.generation, generators::count(context)) {
        (Generation::Part(part), _) => {
            return Err(generators::generate_part(context, plan, part, workload));
        }
        (Generation::Elsewhere(others), Some(count)) => {
            let (driven, used) = generators::lead(context, plan, others, count)?;
            return Ok(Outcome { observations: driven, used, parts: Vec::new() });
        }
        _ => {}
    }
    let (part, clock) = (LoadPart::of_several(context, plan, 0, 1), Clock::monotonic());
    let mut actions = SideActions::prepare(context, &clock)?;
    let has_actions = !actions.is_empty();
    let divisions = (plan.divides || has_actions).then(|| actions.divisions());
    let plan = &LoadPlan { records_each: has_actions, divisions, ..plan.clone() };
    let (finished, mut surroundings) = actions.run(|load_clock| {
        measure(context, subject(context, plan), |director| {
            let director = &mut Announcer { inner: director, clock: load_clock, has_actions };
            conducted(context, plan, &part, &clock, director, workload)
        })
    })?;
    let (used, parts) = (surroundings.engine_use(), surroundings.take_parts());
    let reports: Vec<_> = finished.iter().map(|(report, _)| report).collect();
    let embedded = context.target.abilities.contains(&Ability::Embedded);
    let record = ClientReport::sum(&reports);
    let mut observations = outcome::add_up(plan, &record, surroundings, embedded);
    if let Some(space_bytes) = context.instance.space_bytes() {
        observations.responses.push(Response::lower("space", "MB", space_bytes as f64 / 1e6));
    }
    let parts = parts::fitted(parts, &reports, &observations, embedded);
    let transactions = outcome::each(&finished);
    let mut load = LoadSeen { transactions, parts, counted: plan.counted };
    actions.finish(&mut load, &mut observations)?;
    Ok(Outcome { observations, used, parts: load.parts })
}
