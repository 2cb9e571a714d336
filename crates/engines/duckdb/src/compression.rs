//! How columns are compressed: given to DuckDB, and read back from what it has stored. DuckDB falls
//! back in silence where a method does not fit a column, its values or the format of the file.

use super::library::{Connection, Database, Library, failed};
use super::settings::{COMPRESSION, METHODS, OF_COLUMNS};
use super::stored::compressed;
use engine::compression::{OF_COLUMNS as PREFIX, apply, of_columns};
use engine::{Compressed, EngineError, Result};
use experiment::{Configuration, Invalid};
use work::Table;

/// DuckDB's setting for all columns.
pub const SETTING: &str = "force_compression";

/// DuckDB's name of a method.
fn name(method: &str) -> &str {
    if method == "none" { "uncompressed" } else { method }
}

/// The value of [`SETTING`] that a configuration asks for.
pub fn of_table(configuration: &Configuration) -> Option<&'static str> {
    let configuration = configuration.get(COMPRESSION)?;
    METHODS.iter().find(|method| **method == configuration).map(|method| name(method))
}

/// The methods that this library does not have.
pub fn refused(configuration: &Configuration, library: &'static Library) -> Vec<Invalid> {
    let of_table = of_table(configuration).map(|method| (COMPRESSION.path().to_owned(), method));
    let of_columns = of_columns(configuration, OF_COLUMNS);
    let of_columns = of_columns.map(|(column, method)| (format!("{PREFIX}{column}"), name(method)));
    let mut table = of_table.into_iter().chain(of_columns).peekable();
    if table.peek().is_none() {
        return Vec::new();
    }
    // Where no database can be opened the first trial reports it.
    let Ok(connection) = Database::open(library, None, &[]).and_then(|database| database.connect())
    else {
        return Vec::new();
    };
    table
        .filter_map(|(path, method)| {
            let error = connection.run(&format!("SET {SETTING} = '{method}'")).err()?.to_string();
            let line = error.lines().next().unwrap_or_default().to_owned();
            let message = format!(
                "DuckDB {} does not support compression `{method}`: {line}",
                library.version
            );
            Some(Invalid::new(path, message))
        })
        .collect()
}

/// How the columns of a trial's tables are to be compressed.
pub struct Compression {
    all: Option<&'static str>,
    /// Columns and their methods, by DuckDB's names.
    columns: Vec<(String, &'static str)>,
}

impl Compression {
    /// Reads the compression settings of a configuration.
    pub fn from_configuration(configuration: &Configuration) -> Self {
        let columns = of_columns(configuration, OF_COLUMNS);
        Self {
            all: of_table(configuration).filter(|method| *method != "auto"),
            columns: columns.map(|(column, method)| (column.to_owned(), name(method))).collect(),
        }
    }

    /// Tells the columns of tables that have a method of their own.
    pub fn apply(&self, tables: &mut [Table]) {
        apply(tables, |column| {
            self.columns.iter().find(|(name, _)| name == column.name).map(|(_, method)| *method)
        });
    }

    /// Makes sure that a table which has its rows is stored so.
    ///
    /// # Errors
    /// When no column is compressed by the method for all, or one is not by its own.
    pub fn verify(&self, connection: &Connection, table: &Table) -> Result<()> {
        if self.all.is_none() && self.columns.is_empty() {
            return Ok(());
        }
        let stored = compressed(connection, table)
            .map_err(failed(format!("reading the compression of table {}", table.name)))?;
        let list = |of: &dyn Fn(&Compressed) -> bool| {
            let named = stored.iter().filter(|segment| of(segment));
            named
                .map(|segment| format!("{} {}", segment.column, segment.method))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let ignored = |setting: String, text: &str, got: String| {
            Err(EngineError::SettingIgnored { setting, expected: text.into(), got })
        };
        if let Some(method) = self.all
            && !stored.iter().any(|segment| segment.method.eq_ignore_ascii_case(method))
        {
            return ignored(COMPRESSION.path().into(), method, list(&|_| true));
        }
        for (column, method) in &self.columns {
            let mut segments = stored.iter().filter(|segment| segment.column == *column).peekable();
            if segments.peek().is_some()
                && !segments.any(|segment| segment.method.eq_ignore_ascii_case(method))
            {
                return ignored(
                    format!("{PREFIX}{column}"),
                    method,
                    list(&|segment| segment.column == *column),
                );
            }
        }
        Ok(())
    }
}
