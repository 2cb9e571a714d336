//! The tests of this crate, in one executable.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test that cannot continue has failed"
)]

mod client_conninfo;
mod client_hostile;
mod client_login;
mod client_requests;
mod client_tls;
mod connections;
mod server;
mod server_killed;
mod server_settings;
mod waits;
