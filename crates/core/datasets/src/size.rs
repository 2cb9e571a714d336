//! The size of a data set.

use experiment::choice;

/// The size of a data set; each one looks at what concerns it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Size {
    /// Scale factor of TPC-H (1: 6 million rows of LINEITEM, 0.01: 60,000), of TPC-DS (1: 2.9
    /// million sales in shops) and of pgbench (1: 100,000 accounts), also below 1.
    pub scale: f64,
    /// Rows of the tables of the studies and of the synthetic one.
    pub rows: u64,
    /// Columns of the synthetic table, from 3 to 18.
    pub columns: usize,
    /// Rows of the synthetic table that fill a page, about.
    pub rows_per_page: u16,
    /// Seed of random values; those of TPC-H and TPC-DS are their generators'.
    pub seed: u64,
    /// Number of sysbench's tables, each with `rows` rows.
    pub tables: u32,
    /// How these draw the values of `k`.
    pub distribution: Distribution,
}

impl Default for Size {
    fn default() -> Self {
        let distribution = Distribution::Special;
        Self {
            scale: 1.0,
            rows: 100_000,
            columns: 6,
            rows_per_page: 50,
            seed: 1,
            tables: 1,
            distribution,
        }
    }
}

choice! {
    /// Distributions of sysbench's random numbers, with its defaults (`--rand-type`).
    pub enum Distribution {
        /// Three quarters within one percent of the range, near its middle; the others around it.
        Special = "special",
        /// Each with the same probability.
        Uniform = "uniform",
        /// Few small numbers most often (`--rand-pareto-h=0.2`).
        Pareto = "pareto",
    }
}
