//! Database files that are examined in place.

use crate::queries::FileReader;
use engine::{FileQueries, QueryLimits, QueryReader, ServerError};
use inspection::statements::ScriptStatement;
use std::path::Path;
use work::Stop;

/// The first bytes of a database file (<https://www.sqlite.org/fileformat2.html>, 1.3).
pub const MAGIC: &[u8] = b"SQLite format 3\0";

/// SQLite's files.
#[derive(Debug, Clone, Copy)]
pub struct SqliteFiles;

impl FileQueries for SqliteFiles {
    fn open(
        &self,
        path: &Path,
        statements: Vec<ScriptStatement>,
        limits: QueryLimits,
        stop: &Stop,
    ) -> Result<Box<dyn QueryReader>, ServerError> {
        Ok(Box::new(FileReader::open(path, statements, limits, stop)?))
    }
}
