//! The cost of a failover. A server and its replica serve a light write load; the server fails, and
//! the replica takes over.
//!
//! - `settings`: settings
//! - `journal`: the writes of each client, and the verdict on them: lost, duplicate, unknown
//! - `writer`: a client that journals, writes, and connects again
//! - `incident`: the fault and the take-over
//! - `probe`: the trial; `facts`: what it records
//! - `analysis`, `section`: sums over trials, and their section of reports

pub(crate) mod analysis;
pub mod facts;
mod incident;
mod journal;
mod probe;
pub(crate) mod section;
mod settings;
mod writer;

pub use analysis::STUDY;
pub use probe::Failover;
