//! The guard in front of the store: every text that is written or read passes here, whatever table
//! it belongs to. A secret is carried as [`observations::Secret`] and never comes here; the guard
//! is for texts from outside, such as messages of servers and output of commands.

use super::{Columns, unrecordable};
use observations::{redact_json, redacted};
use rusqlite::types::{Null, ToSqlOutput, Value, ValueRef};
use rusqlite::{Result, Statement, params_from_iter};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The values of a row that is written, without passwords.
#[derive(Default)]
pub(crate) struct Values<'a>(Vec<ToSqlOutput<'a>>);

impl<'a> Values<'a> {
    /// Adds a value; a text, without what may be a password in it.
    pub fn push(&mut self, value: ToSqlOutput<'a>) {
        self.0.push(match value {
            ToSqlOutput::Owned(Value::Text(text)) => guarded_text(&text).into(),
            ToSqlOutput::Borrowed(ValueRef::Text(bytes)) => {
                guarded_text(&String::from_utf8_lossy(bytes)).into()
            }
            value => value,
        });
    }

    /// Adds several values.
    pub fn extend(&mut self, values: impl IntoIterator<Item = ToSqlOutput<'a>>) {
        for value in values {
            self.push(value);
        }
    }

    /// Adds a JSON document, which stays one: its texts are guarded one by one.
    pub fn json(&mut self, value: &impl Serialize) -> Result<()> {
        let json = serde_json::to_string(value).map_err(unrecordable)?;
        self.0.push(guarded(json).map_err(unrecordable)?.into());
        Ok(())
    }

    /// Completes the row with NULL: a trial that saw nothing has nothing in its last columns.
    pub fn fill(&mut self, columns: usize) {
        self.0.resize(columns, Null.into());
    }

    /// Executes a statement with these values.
    pub fn execute(self, statement: &mut Statement) -> Result<usize> {
        statement.execute(params_from_iter(self.0))
    }
}

/// The parts of a stream of I/O that have latencies of their own, after its name.
const PARTS: [&str; 3] = ["read", "write", "sync"];

/// A text without passwords. A stream may be called `one-pass`: what follows is not a password.
fn guarded_text(text: &str) -> String {
    match text.split_once(": ") {
        Some((stream, part)) if PARTS.contains(&part) => format!("{}: {part}", redacted(stream)),
        _ => redacted(text),
    }
}

/// A JSON document without passwords: an older version, or a user, may have left one in a file.
fn guarded(json: String) -> serde_json::Result<String> {
    if redacted(&json) == json {
        return Ok(json);
    }
    let mut value = serde_json::from_str(&json)?;
    redact_json(&mut value);
    serde_json::to_string(&value)
}

impl Columns<'_> {
    /// The text of the next column, if it has one, without passwords.
    pub fn guarded_text(&mut self) -> Result<Option<String>> {
        let column = self.next();
        let text: Option<String> = self.row.get(column)?;
        Ok(text.as_deref().map(guarded_text))
    }

    /// The JSON document of the next column, without passwords.
    pub fn json<T: DeserializeOwned>(&mut self) -> Result<T> {
        let json = self.text()?.to_owned();
        guarded(json)
            .and_then(|json| serde_json::from_str(&json))
            .map_err(|error| self.unreadable(error))
    }
}
