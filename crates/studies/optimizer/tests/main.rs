//! The tests of this crate, in one executable.
#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod engines;
mod forcing;
mod formulas;
mod hints;
mod joins;
mod parallel;
mod report;
mod sampling;
mod sizes;
