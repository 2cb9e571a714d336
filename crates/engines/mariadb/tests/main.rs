//! The tests of this crate, in one executable.
#![allow(
    clippy::float_cmp,
    clippy::print_stdout,
    clippy::unreadable_literal,
    clippy::unwrap_used,
    reason = "a test that cannot continue has failed"
)]

mod client_hostile;
mod client_login;
mod mariadb;
