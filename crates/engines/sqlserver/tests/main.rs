//! The tests of this crate, in one executable.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot continue has failed"
)]

#[cfg(feature = "driver")]
mod backups;
#[cfg(feature = "driver")]
mod live;
#[cfg(feature = "driver")]
mod silent;
#[cfg(feature = "driver")]
mod sqlserver;
