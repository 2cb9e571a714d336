//! The tests of this crate, in one executable.
#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod compared;
mod pages;
mod summary;
