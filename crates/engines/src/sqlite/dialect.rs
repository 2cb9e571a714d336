//! How SQLite writes tables and operations.

use crate::{Column, DataType, DefaultValue, Dialect, Table};

/// SQLite's SQL in one data file.
pub struct SqliteDialect {
    /// The data file, as the session's statements name it.
    pub schema: String,
    /// Bytes of a page.
    pub page_bytes: usize,
}

impl SqliteDialect {
    /// Bytes of filler that make a row fill a page of its own: a leaf cell of a table holds at most
    /// (page size - 35) bytes without overflow (<https://www.sqlite.org/fileformat2.html>), of which
    /// the record's header takes at most 5; two such rows cannot share a page.
    pub fn filler(&self) -> Vec<u8> {
        vec![b'a'; self.page_bytes.saturating_sub(40)]
    }

    fn column(&self, column: &Column) -> String {
        let data_type = match column.data_type {
            DataType::Int | DataType::BigInt => "INTEGER",
            DataType::Timestamp | DataType::Char(_) => "TEXT",
            DataType::Uuid | DataType::PageFiller => "BLOB",
        };
        let not_null = if column.nullable { "" } else { " NOT NULL" };
        let default = match column.default {
            Some(DefaultValue::Now) => " DEFAULT CURRENT_TIMESTAMP".into(),
            Some(DefaultValue::Integer(number)) => format!(" DEFAULT {number}"),
            Some(DefaultValue::Text(text)) => {
                format!(" DEFAULT '{}'", padded(text, column).replace('\'', "''"))
            }
            // Sessions bind a filler; keys are made by clients.
            Some(DefaultValue::NewUuid | DefaultValue::Filler) | None => String::new(),
        };
        format!("{} {data_type}{not_null}{default}", self.quote(column.name))
    }
}

/// A text as long as its column wants it: engines with `char(n)` pad with blanks, SQLite does not.
pub fn padded(text: &str, column: &Column) -> String {
    match column.data_type {
        DataType::Char(length) => format!("{text:<0$}", usize::from(length)),
        _ => text.into(),
    }
}

impl Dialect for SqliteDialect {
    fn table(&self, table: &Table) -> String {
        format!("{}.{}", self.schema, self.quote(table.name))
    }

    fn placeholder(&self, number: usize) -> String {
        format!("?{number}")
    }

    /// A single integer key is the row's number; other keys cluster the table.
    fn create(&self, table: &Table) -> Vec<String> {
        let mut parts: Vec<String> = table.columns.iter().map(|column| self.column(column)).collect();
        if !table.key.is_empty() {
            parts.push(format!("PRIMARY KEY ({})", self.names(table.key)));
        }
        let clustered = if table.key.is_empty() || table.has_integer_key() { "" } else { " WITHOUT ROWID" };
        vec![format!("CREATE TABLE {} ({}){clustered}", self.table(table), parts.join(", "))]
    }
}
