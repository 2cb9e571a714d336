//! Texts as columns. Passwords are neither written nor read: an older version, or an edit by hand,
//! may have left one in a file.

use super::{Columns, Field, unrecordable};
use observations::{Value, redacted};
use rusqlite::types::{Null, ToSqlOutput};
use rusqlite::{Result, ToSql};

impl Field for String {
    fn write<'a>(&'a self, values: &mut Vec<ToSqlOutput<'a>>) -> Result<()> {
        values.push(redacted(self).into());
        Ok(())
    }

    fn read(columns: &mut Columns) -> Result<Self> {
        columns.text().map(redacted)
    }
}

impl Field for Option<String> {
    fn write<'a>(&'a self, values: &mut Vec<ToSqlOutput<'a>>) -> Result<()> {
        values.push(match self {
            Some(text) => redacted(text).into(),
            None => Null.to_sql()?,
        });
        Ok(())
    }

    fn read(columns: &mut Columns) -> Result<Self> {
        let column = columns.next();
        let text: Option<String> = columns.row.get(column)?;
        Ok(text.as_deref().map(redacted))
    }
}

/// The value of a setting, as JSON.
impl Field for Value {
    fn write<'a>(&'a self, values: &mut Vec<ToSqlOutput<'a>>) -> Result<()> {
        values.push(serde_json::to_string(self).map_err(unrecordable)?.into());
        Ok(())
    }

    fn read(columns: &mut Columns) -> Result<Self> {
        let value =
            serde_json::from_str(columns.text()?).map_err(|error| columns.unreadable(error))?;
        Ok(without_secrets(value))
    }
}

fn without_secrets(value: Value) -> Value {
    match value {
        Value::Text(text) => Value::Text(redacted(&text)),
        Value::List(values) => Value::List(values.into_iter().map(without_secrets).collect()),
        value => value,
    }
}
