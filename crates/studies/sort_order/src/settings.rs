//! The settings of the sort-order probe.

use experiment::{Kind, settings};
use probe::data::{ANALYZE, COLUMNS, DATA, DATA_SEED, DEGREE, ROWS, ROWS_PER_PAGE, SCALE};
use probe::load::{DURATION, THREADS, WARMUP};
use probe::scans::{CONNECTIONS, FILTER, SCANS};
use work::TableFormat;

settings! {
    pub(crate) const SETTINGS = [
        DATA, SCALE, ROWS, COLUMNS, ROWS_PER_PAGE, DATA_SEED, DEGREE, ANALYZE, CONNECTIONS, THREADS,
        SCANS, DURATION,
        WARMUP, FILTER
    ];
    /// Order of the rows: none (as generated), random (shuffled), columns
    /// ("l_shipdate,l_returnflag"), advise (the smallest predicted size) or advise:2, advise:3 and
    /// so on (the next best).
    pub ORDER: String = "workload.order", Kind::Text, "none" => @Trial;
    /// Storage of the rows: table (the engine's own), or parquet (a file that Steelbench writes and
    /// the engine reads).
    pub FORMAT: TableFormat = "workload.format", TableFormat::KIND, "table";
}
