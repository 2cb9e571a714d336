//! The tests of this crate, in one executable.
#![allow(clippy::float_cmp, clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod integrity;

#[cfg(unix)]
mod kill;
mod round_trip;
