//! How DuckDB writes tables and operations.

use engine::dialect::{Words, padded};
use engine::{Dialect, Result};
use work::{Column, DataType, DefaultValue, Table};

/// The page that a filler is made for: DuckDB has none that hold rows.
const PAGE_BYTES: usize = 8192;

/// The words of DuckDB's SQL.
pub const SQL: Words = Words {
    // The joins are by hash.
    nested_loops: None,
    ..Words::STANDARD
};

/// DuckDB's SQL.
#[derive(Debug, Clone, Copy)]
pub struct DuckDbDialect;

impl DuckDbDialect {
    /// Statements for when the rows are there: the key, where it is made then, and the secondary
    /// index.
    pub fn after_fill(self, table: &Table) -> Vec<String> {
        let is_after = table.storage.key_after_fill && !table.key.is_empty();
        let key = is_after.then(|| {
            format!("ALTER TABLE {} ADD PRIMARY KEY ({})", self.table(table), SQL.names(table.key))
        });
        key.into_iter().chain(self.create_index(table)).collect()
    }

    fn column(column: &Column) -> String {
        let data_type = data_type(column);
        let not_null = if column.nullable { "" } else { " NOT NULL" };
        let default = match column.default {
            Some(DefaultValue::NewUuid) => " DEFAULT uuid()".into(),
            Some(DefaultValue::Now) => " DEFAULT CAST(now() AS TIMESTAMP)".into(),
            Some(DefaultValue::Integer(number)) => format!(" DEFAULT {number}"),
            Some(DefaultValue::Text(text)) => {
                format!(" DEFAULT {}", literal(padded(text, column, &mut String::new())))
            }
            Some(DefaultValue::Filler) => format!(" DEFAULT repeat('a', {})", filler_bytes(column)),
            None => String::new(),
        };
        let compression = column.compression.map(|method| format!(" USING COMPRESSION {method}"));
        let compression = compression.unwrap_or_default();
        format!("{} {data_type}{not_null}{default}{compression}", SQL.quote(column.name))
    }
}

/// The type of a column.
pub fn data_type(column: &Column) -> &'static str {
    match column.data_type {
        DataType::Uuid => "UUID",
        DataType::Int => "INTEGER",
        DataType::BigInt => "BIGINT",
        DataType::Timestamp => "TIMESTAMP",
        DataType::Date => "DATE",
        DataType::Decimal => "DECIMAL(15,2)",
        DataType::Char(_) | DataType::Varchar(_) | DataType::PageFiller { .. } => "VARCHAR",
    }
}

/// A text within SQL.
pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Bytes of a filler.
fn filler_bytes(column: &Column) -> usize {
    let DataType::PageFiller { rows } = column.data_type else { return 0 };
    PAGE_BYTES / usize::from(rows.max(1))
}

impl Dialect for DuckDbDialect {
    fn words(&self) -> &'static Words {
        &SQL
    }

    fn create(&self, table: &Table) -> Result<Vec<String>> {
        let mut parts: Vec<String> = table.columns.iter().map(Self::column).collect();
        if !table.key.is_empty() && !table.storage.key_after_fill {
            parts.push(format!("PRIMARY KEY ({})", SQL.names(table.key)));
        }
        Ok(vec![format!("CREATE TABLE {} ({})", self.table(table), parts.join(", "))])
    }
}
