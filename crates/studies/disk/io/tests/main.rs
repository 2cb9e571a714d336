//! The I/O engine on real files, loop devices and file systems: tests in one executable.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot continue has failed"
)]

mod counts;
mod durability;
mod faults;
mod limits;
mod preparation;
mod support;
