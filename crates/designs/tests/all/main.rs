//! The tests of designs in files and in recordings, in one executable.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test that cannot continue has failed"
)]

#[path = "../../../core/experiment/tests/common/mod.rs"]
mod common;
mod files;

mod race;
mod race_outcomes;
mod screening;
mod simulated_screening;
mod surface;
