//! What load threads record while they are measured: counters and latencies.
//!
//! Each thread has its own, on cache lines that no other thread writes to; others may read them at any
//! time without stopping it. This is what study S2a found to scale: data partitioned by core.
//!
//! - [`Counters`]: a few sums
//! - [`Recorder`]: a latency distribution, [`Reader`] is the view of it that others have

mod counters;
mod latency;

pub use counters::Counters;
pub use latency::{Reader, Recorder};
