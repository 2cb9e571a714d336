//! The raw I/O engine: keeps files and devices busy the way that databases do, and times every I/O.
//!
//! *Decision*: it knows nothing of experiments, and runs by itself (`examples/random_read.rs`).
//!
//! - `load`: what is to run: kinds of I/O on files, together on threads with a queue each; what
//!   comes of it
//! - `run`: files are opened (`shared`); threads warm up, go together and report; what they saw is
//!   added up
//! - `lane`: the submit loop of a thread; `feed` a stream as it serves it, `offsets` and `data`
//!   where and what
//! - `queue`: what it asks the system with: one of one I/O (`pread`), or a ring (`io_uring`)
//! - `recorder`: what a thread sees
//! - `error`: why a run did not begin, or did not end as it should
//! - `preparation`: what comes before measuring a solid state drive

mod data;
mod error;
mod feed;
mod lane;
mod load;
mod offsets;
mod preparation;
mod queue;
mod recorder;
mod run;
mod shared;

pub use error::{DiskError, IoFailure, Misfit, QueueError};
pub use load::{
    Access, Arrivals, Backend, BlockSize, Direction, Durability, Group, Load, Outcome, Region,
    Stream, StreamOutcome, ThreadOutcome,
};
pub use preparation::{Preconditioning, STEADY_ROUNDS, fill, precondition, steady};
pub use run::run;
pub use work::conductor::LoadError;
