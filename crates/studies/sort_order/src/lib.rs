//! In which order the rows of a table should lie, so that a column store keeps them in few bytes
//! (S2f).
//!
//! A column store compresses each column of a row group by itself: runs of equal values, few
//! different values and small ranges take little. The order of the rows decides how many of these
//! there are. To find the best order is NP-hard (Lemire, Kaser: "Reordering columns for smaller
//! indexes", Information Sciences 181, 2011); heuristics come close to it.
//!
//! - `coded`: a table as ranks of its values, orders of its rows, and runs
//! - `candidates`: orders that heuristics propose
//! - `predict`: what a row group of an order takes, from some of them
//! - `probe`, `order`, `in_memory`: a trial, its order, and the rows of a table in memory
//! - `settings`: those of the probe
//! - `quick`: `steelbench sort-order`
//! - `file`: a Parquet file of the user's, read and written in another order
//!
//! Only orders that an ORDER BY can make are looked at: lexicographic ones. Others (Vortex,
//! Multiple Lists: Lemire, Kaser, Gutarra: "Reordering rows for better compression: beyond the
//! lexicographic order", ACM TODS 37, 2012) leave fewer runs, and no engine makes them.

pub mod analysis;
mod candidates;
mod coded;
pub mod document;
pub mod file;
mod in_memory;
mod order;
mod predict;
mod probe;
mod quick;
mod section;
mod settings;

pub use crate::probe::SortOrder;
pub use candidates::{Candidate, candidates};
pub use coded::{Coded, Column, Order, head, ranks};
pub use in_memory::InMemory;
pub use predict::{Advice, Layout, Prediction, Store, advise, predict};
pub use quick::COMMAND;
pub use settings::{FORMAT, ORDER};

use self::analysis::sort_orders;
use ::analysis::Study;

/// The study's part in the analysis of its runs: their recorded plans are orders of rows.
pub const STUDY: Study = Study { explains_statements: false, ..Study::new("sort-order") };

report::sections! {
    /// The sections of reports.
    pub const SECTIONS = |summary| {
        Cost sort_orders: &sort_orders(summary) => section::sections [screen];
    }
}
