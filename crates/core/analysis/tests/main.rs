//! The tests of this crate, in one executable.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test that cannot continue has failed"
)]

mod answers;
mod causes;
mod change_points;
mod edges;
mod equivalence;
mod findings;
mod identities;
mod levels;
mod means;
mod one_interval;
mod open_loop;
mod printed;
mod published_inserts;
mod published_waits;
mod scipy;
mod scripts;
mod self_test;
mod simulated;
mod simulated_claims;
mod simulated_designs;
mod simulated_gate;
mod simulated_noise;
mod simulated_percentiles;
mod simulated_runs;
mod simulated_steps;
mod timeouts;
mod waterfall;
mod why;
