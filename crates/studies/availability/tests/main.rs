//! The tests of this crate, in one executable.
#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]
#![allow(clippy::print_stdout, reason = "figures explain a failure")]

mod crashes;
mod faults;
mod link;
mod replicas;
mod stops;
mod tcp;
