//! The threads of a load: they start together, and others see what they record without disturbing
//! them.
//!
//! Each thread writes to counters of its own, on cache lines that no other thread writes to; others
//! may read them at any time without stopping it. This is what study S2a found to scale: data
//! partitioned by core.
//!
//! - [`conduct`]: runs the threads (lanes) under a [`Director`]
//! - [`Counter`]: a sum
//! - [`Recorder`]: a latency distribution, [`Reader`] is the view of it that others have

mod conduct;
mod live;

pub use conduct::{Director, LOOK_EVERY, Lanes, Live, LoadError, LoadProgress, Stage, conduct};
pub use live::{Counter, Reader, Recorder};
