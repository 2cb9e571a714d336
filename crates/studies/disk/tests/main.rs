//! The tests of this crate, in one executable.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot continue has failed"
)]

mod analysis;
mod disk;
mod report;
mod simulated_knee;
