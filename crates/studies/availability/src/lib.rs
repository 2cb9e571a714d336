//! Study S3f: servers that fail, come back and follow.
//!
//! - `failover`: what it costs when a replica takes over
//! - `restart`: how long a server recovers from a crash, by the log since its last checkpoint
//! - `lag`: how far a replica is behind its primary
//! - `replication`: the engines that they support; `log`: how each reads its log and replicates
//! - `pair`: the private server of a trial and its replica; `node_session`: sessions on a server
//!   that may fail

pub mod failover;
pub mod lag;
pub mod log;
mod mariadb;
pub mod node_session;
pub mod pair;
mod postgres;
pub mod replication;
pub mod restart;

report::sections! {
    /// The sections of reports.
    pub const SECTIONS = |summary| {
        Statements failovers:
            &crate::failover::analysis::failovers(summary) => failover::section::failovers [screen];
        Statements lags: &crate::lag::analysis::lags(summary) => lag::section::lags [screen];
    }
}
