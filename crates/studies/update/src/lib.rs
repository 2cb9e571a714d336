//! Study S2c, in-place updates of single rows.

mod probe;

pub use probe::*;
