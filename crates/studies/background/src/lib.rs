//! Study S3f, the first part: actions beside an open-loop load. A backup, maintenance, a copy, a
//! bulk load or a command begins at a moment of the measurement; the load before, during and after
//! it shows its price. A backup is restored and compared.
//!
//! - `settings`: `[background]`, and objections to it
//! - `tools`: backup tools and statements as data; `adapters`: those of each engine
//! - `server`: the work on private servers by client programs, the `programs`
//! - `disturbance`: the action of a trial; `copy`, `bulk_load`, `command`: three of them;
//!   `outcome`: their report
//! - `verdict`: a backup's restore and its comparison with the target
//! - `phases`: the load before, during and after the action; `waits`: the time of its sessions
//! - `facts`: what a trial records
//! - `analysis`, `section`: figures over blocks and prices, and the section of reports;
//!   `wait_shares`, `wait_section`: waits by phase

mod adapters;
pub mod analysis;
mod bulk_load;
mod command;
mod copy;
mod disturbance;
mod duckdb;
pub mod facts;
mod mariadb;
mod outcome;
pub mod phases;
mod postgres;
mod programs;
mod section;
mod server;
pub mod settings;
mod sqlite;
mod sqlserver;
mod tools;
pub mod verdict;
mod wait_section;
pub mod wait_shares;
pub mod waits;

pub use disturbance::BackgroundDisturbance;

report::sections! {
    /// The sections of reports.
    pub const SECTIONS = |summary| {
        Response background: &crate::analysis::background(summary) => section::section [screen];
    }
}
