//! Rows of a user's table as a Parquet file.

use super::dialect::{SQL, literal};
use super::find;
use super::library::{Answered, Database, failed};
use super::stored::GROUP_ROWS;
use crate::engine::DuckDb;
use engine::{DatabaseFiles, EngineError, Result};
use std::path::Path;

impl DatabaseFiles for DuckDb {
    /// Returns true: DuckDB attaches files of several formats.
    fn is_database(&self, _: &Path) -> bool {
        true
    }

    /// Writes all rows, or of a table with more than `rows_max` as many whole row groups as hold so
    /// many, evenly spread.
    fn export(&self, database: &Path, table: &str, rows_max: u64, to: &Path) -> Result<u64> {
        let (_, library) = find::library(None)?;
        if !database.is_file() {
            let source = std::io::ErrorKind::NotFound.into();
            return Err(EngineError::File { path: database.into(), source });
        }
        let read_only = [("access_mode".to_owned(), "read_only".to_owned())];
        let copy = || -> Answered<u64> {
            let connection = Database::open(library, Some(database), &read_only)?.connect()?;
            // SCHEMA.TABLE, each of them quoted.
            let name = table.split('.').map(|part| SQL.quote(part)).collect::<Vec<_>>().join(".");
            let count =
                connection.prepare(&format!("SELECT count(*) FROM {name}"))?.execute()?.cell(0, 0);
            let rows = count.and_then(|count| count.parse::<u64>().ok()).unwrap_or_default();
            let some = match rows.div_ceil(rows_max.max(1)) {
                0 | 1 => String::new(),
                each => format!(" WHERE rowid // {GROUP_ROWS} % {each} = 0"),
            };
            let to = literal(&to.to_string_lossy());
            let form = format!("FORMAT parquet, COMPRESSION snappy, ROW_GROUP_SIZE {GROUP_ROWS}");
            connection.run(&format!("COPY (SELECT * FROM {name}{some}) TO {to} ({form})"))?;
            Ok(rows)
        };
        copy().map_err(failed(format!("reading table {table} of {}", database.display())))
    }
}
