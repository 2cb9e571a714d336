//! The raw I/O engine: keeps files and devices busy the way that databases do, and times every I/O.
//!
//! Knows nothing of experiments.
//!
//! - `load`: what is to run: kinds of I/O on files, together on threads with a queue each
//! - `run`: files are opened (`shared`); threads warm up, go together and report; what they saw is added up
//! - `lane`: the submit loop of a thread; `feed` a stream as it serves it; `offsets`, `arrivals`, `data`
//!   where, when and what
//! - `queue`: what it asks the system with: one of one I/O (`pread`), or a `ring` (`io_uring`)
//! - `recorder`, `outcome`: what was seen, by thread and in all
//! - `preparation`: what comes before measuring a solid state drive

mod arrivals;
mod data;
mod feed;
mod lane;
mod load;
mod offsets;
mod outcome;
mod preparation;
mod queue;
mod recorder;
mod ring;
mod run;
mod shared;

pub use conductor::LoadError;
pub use load::{Access, Arrivals, Backend, BlockSize, DiskError, Durability, Group, Load, Region, Stream};
pub use outcome::{Direction, IoFailure, Outcome, StreamOutcome, ThreadOutcome};
pub use preparation::{Preconditioned, STEADY_ROUNDS, fill, precondition, steady};
pub use run::run;
