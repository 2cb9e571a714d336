//! The tests of this crate, in one executable.
#![allow(
    clippy::unreadable_literal,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

mod fuzz;
mod mariadb;
mod postgres;
mod showplan;
