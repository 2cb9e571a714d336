//! Running a load: from its settings to the table under it, and the check of what it counted.

use crate::director::Director;
use crate::outcome::Outcome;
use crate::padding::{OneLine, Packed, Spacing, TwoLines};
use crate::spin::{Mcs, TestAndSet, TestAndTestAndSet, Ticket};
use crate::tables::{
    AtomicArray, CasArray, ConcurrentMap, MutexArray, MutexMap, PerCore, PerThread, RacyArray, RwLockMap,
    SharedCounter, SpinArray, Table,
};
use crate::{Padding, Primitive};
use std::time::Duration;

/// What threads do.
#[derive(Debug, Clone)]
pub struct Load {
    /// What guards the counters.
    pub primitive: Primitive,
    /// Number of threads.
    pub threads: u32,
    /// Number of counters, at most [`crate::MEMBERS_MAX`].
    pub members: u32,
    /// How far apart these lie, where the primitive lets us choose.
    pub padding: Padding,
    /// The share of operations that read, 0 to 1.
    pub reads: f64,
    /// The processor of each thread; empty: where the scheduler likes.
    pub cpus: Vec<u32>,
    /// The load runs for so long before it is measured.
    pub warmup: Duration,
    /// Length of the measured part.
    pub duration: Duration,
    /// Length of the intervals of figures over time.
    pub interval: Duration,
    /// Seed of what is drawn.
    pub seed: u64,
}

/// What the caller does meanwhile.
pub struct Hooks<'a> {
    /// Called when all threads have warmed up and wait for the measured part.
    pub go: &'a mut dyn FnMut(),
    /// Hears how the load advances, about ten times a second.
    pub progress: &'a dyn Fn(Progress),
    /// Whether to stop.
    pub stop: &'a dyn Fn() -> bool,
}

/// How a load advances.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Seconds since "go"; negative in the warm-up.
    pub elapsed_s: f64,
    /// Operations of all threads, warm-up included.
    pub operations: u64,
}

/// Why a load has nothing to report.
#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    /// A thread could not be bound to its processor.
    #[error("a thread cannot be pinned to processor {cpu}: {source}; set workload.pinning = \"none\"")]
    Pin {
        /// The kernel's number of the processor.
        cpu: u32,
        /// The cause.
        source: std::io::Error,
    },
    /// A thread could not be started.
    #[error("thread {number} cannot be started: {source}; lower workload.threads")]
    Start {
        /// Its number, from 1.
        number: usize,
        /// The cause.
        source: std::io::Error,
    },
    /// The table does not hold what was added: the primitive is wrong, and with it every figure of it.
    #[error(
        "{primitive} lost updates that it must not lose: {added} were made, the sum is {sum}; please report this"
    )]
    WrongSum {
        /// Name of the primitive.
        primitive: &'static str,
        /// Additions made.
        added: u64,
        /// What the table says.
        sum: u64,
    },
    /// A load thread panicked: a defect of ours.
    #[error("a load thread panicked")]
    Panicked,
    /// Stopped on request.
    #[error("stopped on request")]
    Stopped,
}

/// Runs a load: warm-up, measured part, check of the sums.
///
/// # Errors
/// When a thread cannot be started or pinned, when it is asked to stop, or when a sum is wrong.
pub fn run(load: &Load, hooks: Hooks<'_>) -> Result<Outcome, SyncError> {
    match load.padding {
        _ if !load.primitive.pads() => apart_already(load, hooks),
        Padding::None => padded::<Packed>(load, hooks),
        Padding::Line => padded::<OneLine>(load, hooks),
        Padding::TwoLines => padded::<TwoLines>(load, hooks),
    }
}

fn apart_already(load: &Load, hooks: Hooks<'_>) -> Result<Outcome, SyncError> {
    let (members, threads) = (load.members as usize, load.threads as usize);
    match load.primitive {
        Primitive::MutexMap => on(&MutexMap::new(members), load, hooks),
        Primitive::RwLockMap => on(&RwLockMap::new(members), load, hooks),
        Primitive::ConcurrentMap => on(&ConcurrentMap::new(members), load, hooks),
        Primitive::PerCore => on(&PerCore::new(members), load, hooks),
        Primitive::PerThread => on(&PerThread::new(members, threads), load, hooks),
        _ => on(&SharedCounter::new(), load, hooks),
    }
}

fn padded<P: Spacing>(load: &Load, hooks: Hooks<'_>) -> Result<Outcome, SyncError> {
    let (members, threads) = (load.members as usize, load.threads as usize);
    match load.primitive {
        Primitive::MutexArray => on(&MutexArray::<P>::new(members), load, hooks),
        Primitive::SpinTas => on(&SpinArray::<TestAndSet, P>::new(members, threads), load, hooks),
        Primitive::SpinTtas => on(&SpinArray::<TestAndTestAndSet, P>::new(members, threads), load, hooks),
        Primitive::SpinTicket => on(&SpinArray::<Ticket, P>::new(members, threads), load, hooks),
        Primitive::SpinMcs => on(&SpinArray::<Mcs, P>::new(members, threads), load, hooks),
        Primitive::Racy => on(&RacyArray::<P>::new(members), load, hooks),
        Primitive::Cas => on(&CasArray::<P>::new(members), load, hooks),
        _ => on(&AtomicArray::<P>::new(members), load, hooks),
    }
}

/// Runs the threads on a table and compares what it holds with what they did.
fn on<T: Table>(table: &T, load: &Load, hooks: Hooks<'_>) -> Result<Outcome, SyncError> {
    let (outcome, added) = Director::new(load, table).run(hooks)?;
    let sum = table.sum();
    let right = if load.primitive.loses() { sum <= added } else { sum == added };
    if !right {
        return Err(SyncError::WrongSum { primitive: load.primitive.name(), added, sum });
    }
    Ok(Outcome { added, sum, shared_lines: table.shared_lines(), ..outcome })
}
