//! Prepared statements.

/// A statement that the server has parsed, for as long as its connection lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    pub(crate) name: String,
    pub(crate) parameter_types: Vec<u32>,
    pub(crate) columns: Vec<String>,
}

impl Statement {
    /// Its name in the server, for messages of one's own.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The types of its parameters: OIDs of `pg_type`.
    pub fn parameter_types(&self) -> &[u32] {
        &self.parameter_types
    }

    /// The names of the columns that it returns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }
}
