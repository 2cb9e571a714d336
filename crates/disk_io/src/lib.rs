//! The raw I/O engine: keeps files and devices busy the way that databases do, and times every I/O.
//!
//! Knows nothing of experiments.
//!
//! - `stream`, `load`: what is to run: kinds of I/O on files, together on threads with a queue each
//! - `run`, `thread`: files are opened; threads warm up, go together and report; what they saw is added up
//! - `lane`: the submit loop of a thread; `feed` a stream as it serves it; `offsets`, `arrivals`, `data`
//!   where, when and what
//! - `queue`: what it asks the system with: `ring` (`io_uring`) or `blocking` (`pread`)
//! - `recorder`, `outcome`: what was seen, by thread and in all
//! - `fill`, `precondition`, `steady`: what comes before measuring a solid state drive

mod arrivals;
mod blocking;
mod data;
mod error;
mod feed;
mod fill;
mod lane;
mod load;
mod offsets;
mod open;
mod outcome;
mod precondition;
mod queue;
mod recorder;
mod ring;
mod run;
mod shared;
mod steady;
mod stream;
mod thread;

pub use conductor::LoadError;
pub use error::DiskError;
pub use fill::fill;
pub use load::{Backend, Group, Load, Weighted};
pub use outcome::{Direction, IoFailure, Outcome, StreamOutcome, ThreadOutcome};
pub use precondition::{Preconditioned, precondition};
pub use run::run;
pub use steady::{STEADY_ROUNDS, steady};
pub use stream::{Access, Arrivals, BlockSize, Durability, Region, Stream};
