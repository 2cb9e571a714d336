//! Study S2c, the cost of a bulk load.

mod probe;

pub use probe::*;
