//! Results of statements.

/// Rows of one statement.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Results {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Number of rows.
    pub rows: u64,
    /// The last row as text.
    pub last: Vec<Option<String>>,
    /// The rows before it, where [`work::Work::keeps_rows`] wants them.
    pub before: Vec<Vec<Option<String>>>,
}

impl Results {
    /// Adds a row; the one before it is kept or not.
    pub fn add(&mut self, row: Vec<Option<String>>, keeps: bool) {
        let before = std::mem::replace(&mut self.last, row);
        if keeps && self.rows > 0 {
            self.before.push(before);
        }
        self.rows += 1;
    }
}
