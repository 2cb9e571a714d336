//! Enums as the words that serde gives them, so that files and JSON use the same.

use rusqlite::Row;
use rusqlite::types::Type;
use serde::de::value::StrDeserializer;
use serde::{Deserialize, Serialize};

/// The word for a variant without fields.
pub(crate) fn word<T: Serialize>(variant: &T) -> rusqlite::Result<String> {
    match serde_json::to_value(variant) {
        Ok(serde_json::Value::String(word)) => Ok(word),
        Ok(other) => Err(rusqlite::Error::ToSqlConversionFailure(format!("{other} is not a word").into())),
        Err(error) => Err(rusqlite::Error::ToSqlConversionFailure(error.into())),
    }
}

/// The variant for the word in a column.
pub(crate) fn variant<'a, T: Deserialize<'a>>(row: &'a Row, column: usize) -> rusqlite::Result<T> {
    let word = row.get_ref(column)?.as_str()?;
    T::deserialize(StrDeserializer::<serde::de::value::Error>::new(word))
        .map_err(|error| unreadable(column, error))
}

/// A column whose content is not what this program wrote there.
pub(crate) fn unreadable(
    column: usize,
    cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, cause.into())
}
