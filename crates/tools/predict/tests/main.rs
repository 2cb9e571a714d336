//! The tests of this crate, in one executable.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test that cannot continue has failed"
)]

mod by_script;
mod ceilings;
mod hold_out;
mod limits;
mod models;
mod network;
mod predictions;
mod queueing;
mod scalability;
mod settings;
