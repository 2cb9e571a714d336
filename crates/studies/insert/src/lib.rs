//! Study S1: inserts by many connections into one clustered table.

mod keys;
mod probe;

pub use probe::*;
