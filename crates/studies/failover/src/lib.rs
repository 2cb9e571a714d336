//! Study S3f: what a failover costs. A server and its replica serve a light write load; the server
//! fails, and the replica takes over.
//!
//! - `settings`: settings and objections
//! - `journal`: the writes of each client, and the verdict on them: lost, duplicate, unknown
//! - `writer`: a client that journals, writes, and connects again
//! - `incident`: the fault and the take-over
//! - `probe`: the trial; `facts`: what it records
//! - `analysis`, `section`: sums over trials, and their section of reports

pub mod analysis;
pub mod facts;
mod incident;
pub mod journal;
mod probe;
mod section;
pub mod settings;
mod writer;

pub use crate::analysis::STUDY;
pub use crate::probe::Failover;

report::sections! {
    /// The sections of reports.
    pub const SECTIONS = |summary| {
        Statements failovers: &crate::analysis::failovers(summary) => section::failovers [screen];
    }
}
