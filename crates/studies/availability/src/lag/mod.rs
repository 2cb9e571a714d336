//! How far a replica is behind its primary, by the rate of writes.
//!
//! - `heartbeat`: what was written and seen when, and the lag that follows
//! - `load`: the threads that write, beat and look
//! - `probe`: the trial, with its settings and facts
//! - `analysis`, `section`: the highest rate with bounded lag

pub(crate) mod analysis;
mod heartbeat;
mod load;
pub mod probe;
pub(crate) mod section;

pub use analysis::STUDY;
pub use probe::Lag;
