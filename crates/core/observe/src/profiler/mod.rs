//! The use of processor time by processes: call stacks, sampled by the kernel's `perf_event_open`,
//! with names.
//!
//! [`Profiler`] samples processes that are there, or a command that it starts; its [`Samples`],
//! named, are an [`observations::Profile`]. `events` opens the kernel's events, `records` reads
//! what they leave in the rings, `spaces` knows which file is at which address of which process,
//! `stacks` counts, `symbols` gives names. [`Instructions`] counts those of started processes.
//!
//! *Decision*: the clock is `cpu-clock`, also where the processor counts cycles. A sample then
//! stands for the same time on every machine, virtual ones included, so that profiles of two
//! machines can be compared. Its limit: code that runs with interrupts off is found where it
//! switches them on again.

mod error;
mod events;
mod instructions;
mod records;
mod sampler;
mod spaces;
mod stacks;
mod symbols;

pub use error::ProfileError;
pub use instructions::Instructions;
pub use sampler::{HZ_MAX, HZ_MIN, Profiler, Samples};

/// Result of everything in this crate.
pub type Result<T, E = ProfileError> = std::result::Result<T, E>;
