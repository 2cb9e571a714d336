//! Profiles of programs whose use of time is known.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

mod against_perf;
mod attached;
mod commands;
mod refused;
mod support;
