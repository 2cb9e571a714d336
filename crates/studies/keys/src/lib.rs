//! Studies of rows by their keys: S1, inserts by many connections into one clustered table, and
//! those of S2c, single rows read and changed by key, and the cost of a bulk load.

pub mod bulk_load;
pub mod insert;
mod key_order;
mod keys;
pub mod lookup;
mod placement;
mod single_rows;
pub mod update;
