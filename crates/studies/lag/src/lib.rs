//! Study S3f: how far a replica is behind its primary, by the rate of writes.
//!
//! - `heartbeat`: what was written and seen when, and the lag that follows
//! - `load`: the threads that write, beat and look
//! - `probe`: the trial, with its settings and facts
//! - `analysis`, `section`: the highest rate with bounded lag

pub mod analysis;
pub mod heartbeat;
mod load;
pub mod probe;
mod section;

pub use crate::analysis::STUDY;
pub use crate::probe::Lag;

report::sections! {
    /// The sections of reports.
    pub const SECTIONS = |summary| {
        Statements lags: &crate::analysis::lags(summary) => section::lags [screen];
    }
}
