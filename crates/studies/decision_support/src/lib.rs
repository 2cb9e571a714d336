//! Decision support: the 22 queries of TPC-H's specification on its tables, one after the other
//! (power) or in several streams at the same time (throughput).
//!
//! - `queries`: the queries in SQL that all engines read but for some parts
//! - `stream`: the order of a stream, and its requests
//! - `answers`: the published answers at scale 1
//! - `probe`: the settings, and a trial

mod answers;
mod other_names;
mod probe;
mod queries;
mod stream;

pub use answers::{Answer, WrongAnswer, published};
pub use probe::{DecisionSupport, Indexes};
pub use queries::{QUERIES, Query};
