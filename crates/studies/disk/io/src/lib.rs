//! The raw I/O engine: keeps files and devices busy the way that databases do, and times every I/O.
//!
//! *Decision*: it knows nothing of experiments, and runs by itself (`examples/random_read.rs`).
//!
//! - `load`: a load (kinds of I/O on files, together on threads with a queue each) and its outcome
//! - `run`: opens the files (`shared`), starts the threads and adds up their reports
//! - `lane`: the submit loop of a thread; `feed`: a stream as a thread serves it; `offsets` and
//!   `data`: the places and the buffers of its I/Os
//! - `queue`: interfaces to the kernel: one I/O at a time (`pread`), or a ring (`io_uring`)
//! - `recorder`: a thread's counts and latencies
//! - `error`: why a run did not begin, or did not end as it should
//! - `preparation`: preparation of a solid state drive before a measurement

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
    Sends, Stream, StreamOutcome, ThreadOutcome,
};
pub use preparation::{Preconditioning, STEADY_ROUNDS, fill, precondition, steady};
pub use run::run;
