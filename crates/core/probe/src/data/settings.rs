//! The settings of data sets, and the data set that a configuration asks for.

use datasets::{DataSet, Size};
use experiment::{Configuration, Declaration, Kind, settings};

settings! {
    /// Data set whose first table is used: synthetic (with the given columns and rows per page),
    /// mybigtable, one-row-per-page, documents (long texts), pgbench (accounts), tpch, tpcds, or
    /// one TPC-H table. Of tpch LINEITEM is the first table, of tpcds the sales in shops.
    pub DATA: String = "workload.data", Kind::Choice(datasets::NAMES), "synthetic" => DataIdentity;
    /// Scale factor of TPC-H (1: 6 million rows of LINEITEM, 0.01: 60,000), of TPC-DS (1: 2.9
    /// million sales in shops) and of pgbench (1: 100,000 accounts).
    pub SCALE: f64 =
        "workload.scale", Kind::Number { min: 0.001, max: 100_000.0 }, "0.1" => DataIdentity;
    /// Rows of the data sets synthetic, mybigtable, one-row-per-page and documents.
    pub ROWS: u64 =
        "workload.rows", Kind::Count { min: 1, max: 1_000_000_000_000 }, "100k" => DataIdentity,
        Value "\"100k\"";
    /// Columns of the synthetic table: a key, ints, and a filler column at the end. All have a
    /// fixed length.
    pub COLUMNS: usize = "workload.columns", Kind::Count { min: 3, max: 18 }, "6" => DataIdentity;
    /// Approximate rows per page of the synthetic table; it sets the row width. Engines report an
    /// error if their pages cannot hold that many.
    pub ROWS_PER_PAGE: u16 =
        "workload.rows_per_page", Kind::Count { min: 1, max: 2_000 }, "50" => DataIdentity;
    /// Seed of the values of the data sets synthetic, mybigtable and documents.
    pub DATA_SEED: u64 =
        "workload.data_seed", Kind::Count { min: 0, max: i64::MAX }, "1" => DataIdentity;
    /// Maximum CPUs for one statement, where the engine supports parallel statements; 1: no
    /// parallelism. Default: the engine's setting.
    pub DEGREE: Option<u32> = "workload.degree", Kind::Count { min: 1, max: 1024 };
    /// Run the statement once before the measurement to record its plan and counters: EXPLAIN
    /// (ANALYZE, BUFFERS). Not part of the measurement.
    pub ANALYZE: bool = "workload.analyze", Kind::Bool, "false";
}

/// The data set that a configuration names.
pub fn data_set(configuration: &Configuration) -> DataSet {
    let size = Size {
        scale: configuration.get(SCALE),
        rows: configuration.get(ROWS),
        columns: configuration.get(COLUMNS),
        rows_per_page: configuration.get(ROWS_PER_PAGE),
        seed: configuration.get(DATA_SEED),
        ..Size::default()
    };
    // Settings are checked against the same names.
    DataSet::new(&configuration.get(DATA), size).unwrap_or_else(|| DataSet::pgbench(1))
}

/// Reads the data settings of a probe; `None` if it has none.
pub fn declared_data_set(
    settings: &[Declaration],
    configuration: &Configuration,
) -> Option<DataSet> {
    settings.iter().any(|setting| setting.path == DATA.path()).then(|| data_set(configuration))
}
