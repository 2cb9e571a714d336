//! The tests of this crate, in one executable.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test that cannot continue has failed"
)]

mod head_to_head;
mod runs;
mod simulated;
mod stability;
