//! An attack campaign, bounded and seeded; a short one with the tests. All of it:
//! `STEELBENCH_ATTACK_TRIES=full cargo xtask test -p steelbench --test all attack::`.
//!
//! Whatever is done to it, the program never panics, never hangs beyond its time, never takes more
//! memory than it is given, sends no control characters to a terminal, writes nothing outside of
//! its places, and leaves nothing behind. Each try has a seed of its own, by which it can be
//! repeated: `STEELBENCH_ATTACK_SEED=SEED STEELBENCH_ATTACK_TRIES=1`.

mod agents;
mod arena;
mod clock_jumps;
mod damaged_duckdb;
mod dropped_databases;
mod figures;
mod files;
mod helper_programs;
mod hostile_servers;
mod inputs;
mod kills;
mod pages;
mod plans;
mod recordings;
mod resources;
mod secret_forms;
mod small_file_systems;
mod statement_signals;
#[cfg(feature = "sqlserver")]
mod tds_tls;
