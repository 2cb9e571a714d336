use crate::Result;
use work::{Fill, Filter, Table};

/// Facts about tables stored by column, in row groups.
pub trait ColumnStore {
    /// Rows of a row group.
    fn group_rows(&self) -> usize;
    /// How a table that was created lies, and how many row groups a filter needs not read.
    ///
    /// # Errors
    /// When the engine refuses.
    fn stored(&self, table: &Table, filter: Filter) -> Result<Stored>;
    /// By which methods the columns of a created table are compressed; empty where the engine does
    /// not report it, as for files.
    ///
    /// # Errors
    /// When the engine refuses.
    fn compressed(&self, table: &Table) -> Result<Vec<Compressed>>;
    /// Bytes of each column of a fill by row group, stored as `table` is but in a place of its own,
    /// of which nothing stays.
    ///
    /// # Errors
    /// When the engine refuses or the place is full.
    fn stored_apart(&self, table: &Table, fill: Fill) -> Result<Vec<Vec<u64>>>;
}

/// The part of a column compressed by one method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compressed {
    /// Name of the column.
    pub column: String,
    /// The engine's name of the method.
    pub method: String,
    /// Bytes: an estimate from where segments lie in their blocks.
    pub bytes: u64,
}

/// How a table lies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stored {
    /// Bytes of each column by its name, compressed. What has no bytes of its own (one value in
    /// all rows) is absent.
    pub column_bytes: Vec<(String, u64)>,
    /// Row groups.
    pub groups: u64,
    /// Row groups in which no value can pass the filter, by the smallest value that is kept with
    /// them.
    pub groups_skipped: u64,
}

impl Stored {
    /// Bytes of a column.
    pub fn bytes(&self, column: &str) -> u64 {
        self.column_bytes.iter().find(|(name, _)| name == column).map_or(0, |(_, bytes)| *bytes)
    }
}
