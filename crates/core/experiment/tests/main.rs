//! The tests of this crate, in one executable.

mod common;

mod bad_input;
mod changes;
mod durability;
mod engines;
mod example;
mod files;
mod mutations;
mod plan;
mod schema;
