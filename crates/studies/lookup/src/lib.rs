//! Study S2c, single rows by key: asked for by clients, or on the server by a join with keys.

mod probe;

pub use probe::*;
