//! Running a load: from its settings to the table under it, and the check of what it counted.

use crate::lanes::conducted;
use crate::outcome::Outcome;
use crate::padding::{OneLine, Packed, Spacing, TwoLines};
use crate::spin::{Mcs, TestAndSet, TestAndTestAndSet, Ticket};
use crate::tables::{
    AtomicArray, CasArray, ConcurrentMap, MutexArray, MutexMap, PerCore, PerThread, RacyArray, RwLockMap,
    SharedCounter, SpinArray, Table,
};
use crate::{Padding, Primitive};
use conductor::{Director, LoadError};
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
    /// Length of the measurement.
    pub duration: Duration,
    /// Length of the intervals of figures over time.
    pub interval: Duration,
    /// Seed of what is drawn.
    pub seed: u64,
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
    /// The threads did not come to their end.
    #[error(transparent)]
    Load(#[from] LoadError),
}

/// Runs a load: warm-up, measurement, check of the sums.
///
/// # Errors
/// When a thread cannot be started or pinned, when it is asked to stop, or when a sum is wrong.
pub fn run(load: &Load, director: &mut dyn Director) -> Result<Outcome, SyncError> {
    match load.padding {
        _ if !load.primitive.pads() => apart_already(load, director),
        Padding::None => padded::<Packed>(load, director),
        Padding::Line => padded::<OneLine>(load, director),
        Padding::TwoLines => padded::<TwoLines>(load, director),
    }
}

fn apart_already(load: &Load, director: &mut dyn Director) -> Result<Outcome, SyncError> {
    let (members, threads) = (load.members as usize, load.threads as usize);
    match load.primitive {
        Primitive::MutexMap => on(&MutexMap::new(members), load, director),
        Primitive::RwLockMap => on(&RwLockMap::new(members), load, director),
        Primitive::ConcurrentMap => on(&ConcurrentMap::new(members), load, director),
        Primitive::PerCore => on(&PerCore::new(members), load, director),
        Primitive::PerThread => on(&PerThread::new(members, threads), load, director),
        _ => on(&SharedCounter::new(), load, director),
    }
}

fn padded<P: Spacing>(load: &Load, director: &mut dyn Director) -> Result<Outcome, SyncError> {
    let (members, threads) = (load.members as usize, load.threads as usize);
    match load.primitive {
        Primitive::MutexArray => on(&MutexArray::<P>::new(members), load, director),
        Primitive::SpinTas => on(&SpinArray::<TestAndSet, P>::new(members, threads), load, director),
        Primitive::SpinTtas => on(&SpinArray::<TestAndTestAndSet, P>::new(members, threads), load, director),
        Primitive::SpinTicket => on(&SpinArray::<Ticket, P>::new(members, threads), load, director),
        Primitive::SpinMcs => on(&SpinArray::<Mcs, P>::new(members, threads), load, director),
        Primitive::Racy => on(&RacyArray::<P>::new(members), load, director),
        Primitive::Cas => on(&CasArray::<P>::new(members), load, director),
        _ => on(&AtomicArray::<P>::new(members), load, director),
    }
}

/// Runs the threads on a table and compares what it holds with what they did.
fn on<T: Table>(table: &T, load: &Load, director: &mut dyn Director) -> Result<Outcome, SyncError> {
    let (outcome, added) = conducted(load, table, director)?;
    let sum = table.sum();
    let right = if load.primitive.loses() { sum <= added } else { sum == added };
    if !right {
        return Err(SyncError::WrongSum { primitive: load.primitive.name(), added, sum });
    }
    Ok(Outcome { added, sum, shared_lines: table.shared_lines(), ..outcome })
}
