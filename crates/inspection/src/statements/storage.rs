//! The optimizer's statistics of a table and the files of a server, as servers record them. A
//! figure that an engine does not record is `None`.

use serde::{Deserialize, Serialize};

/// A set of statistics of the optimizer: of an index, a column or several columns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TableStatistics {
    /// The name.
    pub name: String,
    /// The columns.
    pub columns: Vec<String>,
    /// Rows of the table when they were gathered.
    pub rows: Option<f64>,
    /// Rows that were read for them.
    pub sampled_rows: Option<f64>,
    /// The part of the rows that was read for them, from 0 to 1, where no number of rows is known.
    pub sampled_share: Option<f64>,
    /// Pages that were read for them.
    pub sampled_pages: Option<u64>,
    /// Rows that have changed since.
    pub changes: Option<u64>,
    /// When they were gathered, ms since 1970 UTC.
    pub gathered_ms: Option<i64>,
    /// Different values; below 0 their share of the rows.
    pub distinct: Option<f64>,
    /// Share of the values that are NULL.
    pub nulls: Option<f64>,
    /// Steps of the histogram, frequent values included.
    pub steps: Option<u64>,
    /// The histogram, where its values were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub histogram: Vec<HistogramStep>,
}

/// A step of a histogram. Its value is data of a user.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HistogramStep {
    /// The value, or the upper end of the step's values.
    pub value: String,
    /// Share of the rows that have this value.
    pub share_equal: Option<f64>,
    /// Share of the rows above the value of the step before and up to this one, without
    /// `share_equal`.
    pub share_between: Option<f64>,
    /// Different values in `share_between`.
    pub distinct_between: Option<f64>,
}

/// A file of a server, or files whose I/O it counts together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DataFile {
    /// The database; empty where it serves several.
    pub database: String,
    /// The path or name.
    pub name: String,
    /// The content, in the engine's words: `ROWS`, `LOG`, `tablespace`.
    pub kind: String,
    /// The number of files, where several are counted together.
    pub files: Option<u64>,
    /// Bytes.
    pub bytes: Option<u64>,
    /// Bytes that it may grow to.
    pub bytes_max: Option<u64>,
    /// The step in which it grows: `64 MiB`, `10 %`, `none`.
    pub growth: String,
    /// When its counters began, ms since 1970 UTC.
    pub since_ms: Option<i64>,
    /// Reads, and their bytes and nanoseconds.
    pub reads: FileIo,
    /// Writes.
    pub writes: FileIo,
}

/// Reads or writes of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileIo {
    /// Their number.
    pub count: Option<u64>,
    /// Their bytes.
    pub bytes: Option<u64>,
    /// Their time in nanoseconds.
    pub ns: Option<u64>,
}
