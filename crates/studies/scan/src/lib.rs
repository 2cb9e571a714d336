//! Studies S2c and S3b: the cost of reading all rows of a table.

mod probe;

pub use probe::*;
