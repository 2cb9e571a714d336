//! Data sets: tables and their rows, the same for the same size and seed on every machine.
//!
//! - `studies`: the tables of the published studies of inserts
//! - `pgbench`: the tables of pgbench's built-in scripts
//! - [`sysbench`]: the tables of sysbench's OLTP scripts
//! - [`ycsb`], `smallbank`, `tatp`: the tables of these small workloads
//! - `tpch`, `tpcds`: those of TPC-H and TPC-DS, by the crates `tpchgen` and `tpcdsgen`
//! - `text`: the random text of TPC-H's comments
//! - `documents`, `synthetic`: long texts, and rows of a chosen width and number of columns
//! - `ahead`: rows are made while others are loaded
//! - `write`: their tables as CSV files
//!
//! A [`DataSet`] names one and its size. Rows come in batches, column by column, on request.

mod ahead;
mod data_set;
mod documents;
mod pgbench;
mod size;
mod smallbank;
mod studies;
mod synthetic;
pub mod sysbench;
mod tatp;
mod text;
mod tpcds;
mod tpch;
mod write;
pub mod ycsb;

pub use ahead::Ahead;
pub use data_set::{DataSet, NAMES};
pub use size::Size;
pub use studies::{my_big_table, one_row_per_page};
pub use write::csv;

use work::Rows;

/// Rows, made batch by batch.
pub type Batches = Box<dyn Iterator<Item = Rows> + Send>;

/// Makes the rows, where they are wanted.
pub type MakeBatches = Box<dyn FnOnce() -> Batches + Send>;

/// Rows of a batch: enough for the batch to cost nothing beside them.
pub const BATCH_ROWS: usize = 4096;

/// Batches of rows that are numbered from `first` to `last`; `columns` makes the columns of some of
/// them.
fn numbered(
    first: i64,
    last: i64,
    mut columns: impl FnMut(Vec<i64>) -> Vec<work::Values> + Send + 'static,
) -> Batches {
    Box::new((first..=last).step_by(BATCH_ROWS).map(move |first| {
        let numbers: Vec<i64> = (first..=last).take(BATCH_ROWS).collect();
        Rows { count: numbers.len(), columns: columns(numbers) }
    }))
}

/// A table of a data set and how its rows are made. Unlisted fields of its columns have defaults.
struct Part {
    table: work::Table,
    columns: Vec<&'static str>,
    /// Batches in sequence, in pieces that can be made at the same time.
    batches: Vec<MakeBatches>,
}

impl Part {
    /// A table whose first columns, this many, are made in one piece.
    fn new(
        table: work::Table,
        made: usize,
        batches: impl FnOnce() -> Batches + Send + 'static,
    ) -> Self {
        let columns = table.columns[..made].iter().map(|column| column.name).collect();
        Self { table, columns, batches: vec![Box::new(batches)] }
    }
}
