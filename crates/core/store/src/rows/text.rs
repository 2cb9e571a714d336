//! Texts as columns.

use super::{Columns, Field, Values};
use observations::Value;
use rusqlite::types::{Null, Type};
use rusqlite::{Error, Result, ToSql};

impl Field for String {
    fn write<'a>(&'a self, values: &mut Values<'a>) -> Result<()> {
        values.push(self.to_sql()?);
        Ok(())
    }

    fn read(columns: &mut Columns) -> Result<Self> {
        let text = columns.guarded_text()?;
        text.ok_or_else(|| Error::InvalidColumnType(columns.next - 1, "text".into(), Type::Null))
    }
}

impl Field for Option<String> {
    fn write<'a>(&'a self, values: &mut Values<'a>) -> Result<()> {
        values.push(self.as_ref().map_or(Null.to_sql(), ToSql::to_sql)?);
        Ok(())
    }

    fn read(columns: &mut Columns) -> Result<Self> {
        columns.guarded_text()
    }
}

/// The value of a setting, as JSON.
impl Field for Value {
    fn write<'a>(&'a self, values: &mut Values<'a>) -> Result<()> {
        values.json(self)
    }

    fn read(columns: &mut Columns) -> Result<Self> {
        columns.json()
    }
}

/// A JSON array with the shortest digits that read back to the same bits; `null` for what is not a
/// number and, as SQLite itself does, `9e999` for infinity.
impl Field for Vec<f64> {
    fn write<'a>(&'a self, values: &mut Values<'a>) -> Result<()> {
        let numbers = self.iter().map(|value| match *value {
            value if value.is_nan() => "null".to_owned(),
            value if value.is_infinite() => if value < 0.0 { "-9e999" } else { "9e999" }.to_owned(),
            value => format!("{value:?}"),
        });
        values.push(format!("[{}]", numbers.collect::<Vec<String>>().join(",")).into());
        Ok(())
    }

    fn read(columns: &mut Columns) -> Result<Self> {
        let inner =
            columns.text()?.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let inner = inner.ok_or_else(|| columns.unreadable("not an array of numbers"))?.trim();
        let numbers = inner.split(',').map(|text| match text.trim() {
            "null" => Ok(f64::NAN),
            text => {
                text.parse().map_err(|_| columns.unreadable(format!("{text:?} is not a number")))
            }
        });
        if inner.is_empty() { Ok(Self::new()) } else { numbers.collect() }
    }
}
