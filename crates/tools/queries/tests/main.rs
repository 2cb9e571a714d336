//! The tests of this crate, in one executable.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod advice;
mod history;
mod interval;
