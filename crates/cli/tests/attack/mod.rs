//! An attack campaign, bounded and seeded: `cargo xtask attack` for all of it, a short one with the
//! tests.
//!
//! Whatever is done to it, the program never panics, never hangs beyond its time, never takes more
//! memory than it is given, sends no control characters to a terminal, writes nothing outside of
//! its places, and leaves nothing behind. Each try has a seed of its own, by which it can be
//! repeated: `cargo xtask attack KIND --seed SEED --tries 1`.

mod arena;
mod files;
mod hostile_servers;
mod inputs;
mod kills;
mod pages;
mod plans;
mod recordings;
mod resources;
