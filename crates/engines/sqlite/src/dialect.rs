//! How SQLite writes tables and operations.

use engine::dialect::{Words, index_name, padded};
use engine::{Dialect, Result};
use work::{Column, DataType, DefaultValue, Table};

/// Bytes of a row's number in a table of 16,384 to 2 million rows.
const ROW_NUMBER: usize = 3;

/// The words of SQLite's SQL.
pub const SQL: Words = Words {
    parameter: "?",
    // Dates are stored as text.
    year: ["CAST(strftime('%Y', ", ") AS INTEGER)"],
    ..Words::STANDARD
};

/// SQLite's SQL in one data file.
pub struct SqliteDialect {
    /// The data file, as the session's statements name it.
    pub schema: String,
    /// Bytes of a page.
    pub page_bytes: usize,
}

impl SqliteDialect {
    /// The filler of a table's rows, after the file format
    /// (<https://www.sqlite.org/fileformat2.html>).
    ///
    /// A leaf page has a header of 8 bytes. A row takes a pointer of 2, its length, its number and
    /// its record, whose header has its own length and a type for each column. A record of more
    /// than (page size - 35) bytes would overflow.
    ///
    /// # Errors
    /// When the table's rows per page do not fit a page.
    pub fn filler(&self, table: &Table) -> Result<Vec<u8>> {
        let Some((_, rows)) = table.filler() else { return Ok(Vec::new()) };
        let others = table.columns.iter().filter(|column| !is_row_number(table, column));
        let others: usize = others.map(|column| width(column.data_type)).sum();
        let bytes = engine::dialect::filler_bytes(table, self.page_bytes, |filler| {
            let record = 1 + table.columns.len() - 1 + varint(12 + 2 * filler) + others + filler;
            let row = 2 + varint(record) + ROW_NUMBER + record;
            record + 35 <= self.page_bytes && rows * row + 8 <= self.page_bytes
        })?;
        Ok(vec![b'a'; bytes])
    }

    fn column(column: &Column) -> String {
        let data_type = match column.data_type {
            DataType::Int | DataType::BigInt => "INTEGER",
            DataType::Decimal => "REAL",
            DataType::Timestamp | DataType::Date | DataType::Char(_) | DataType::Varchar(_) => {
                "TEXT"
            }
            DataType::Uuid | DataType::PageFiller { .. } => "BLOB",
        };
        let not_null = if column.nullable { "" } else { " NOT NULL" };
        let default = match column.default {
            Some(DefaultValue::Now) => " DEFAULT CURRENT_TIMESTAMP".into(),
            Some(DefaultValue::Integer(number)) => format!(" DEFAULT {number}"),
            Some(DefaultValue::Text(text)) => {
                format!(
                    " DEFAULT '{}'",
                    padded(text, column, &mut String::new()).replace('\'', "''")
                )
            }
            // Sessions bind a filler; keys are made by clients.
            Some(DefaultValue::NewUuid | DefaultValue::Filler) | None => String::new(),
        };
        format!("{} {data_type}{not_null}{default}", SQL.quote(column.name))
    }
}

/// Returns whether a column is the row ID, which is not stored in the record.
fn is_row_number(table: &Table, column: &Column) -> bool {
    table.has_integer_key() && table.key == [column.name]
}

/// Bytes of a variable-length integer: 7 bits in each.
fn varint(value: usize) -> usize {
    (1..9).find(|bytes| value >> (7 * bytes) == 0).unwrap_or(9)
}

/// Bytes of a value, at most; those of a filler come on top.
fn width(data_type: DataType) -> usize {
    match data_type {
        DataType::Int => 4,
        DataType::BigInt | DataType::Decimal => 8,
        DataType::Date => 10,
        DataType::Uuid => 16,
        DataType::Timestamp => 19,
        DataType::Char(length) | DataType::Varchar(length) => length.into(),
        DataType::PageFiller { .. } => 0,
    }
}

impl Dialect for SqliteDialect {
    fn words(&self) -> &'static Words {
        &SQL
    }

    fn table(&self, table: &Table) -> String {
        format!("{}.{}", self.schema, SQL.quote(table.name))
    }

    /// The schema qualifies the index, not the table.
    fn create_index(&self, table: &Table) -> Option<String> {
        let name = SQL.quote(&index_name(table)?);
        let (columns, table) = (SQL.names(table.storage.index), SQL.quote(table.name));
        Some(format!("CREATE INDEX {}.{name} ON {table} ({columns})", self.schema))
    }

    /// A single integer key is the row's number; other keys cluster the table.
    fn create(&self, table: &Table) -> Result<Vec<String>> {
        self.filler(table)?;
        let mut parts: Vec<String> = table.columns.iter().map(Self::column).collect();
        if !table.key.is_empty() {
            parts.push(format!("PRIMARY KEY ({})", SQL.names(table.key)));
        }
        parts.extend(SQL.foreign_keys(table));
        let clustered =
            if table.key.is_empty() || table.has_integer_key() { "" } else { " WITHOUT ROWID" };
        Ok(vec![format!("CREATE TABLE {} ({}){clustered}", self.table(table), parts.join(", "))])
    }
}
