//! The formats of EXPLAIN: which of them a text has, and its statements.

use super::frame::{self, Row};
use super::{document, statement, text};
use crate::plans::{PlanError, Statement, has_member};
use serde_json::{Deserializer, Value};
use std::borrow::Cow;

/// The formats that are read, for the message about others.
const INSTEAD: &str = "FORMAT JSON or FORMAT TEXT";

/// Returns true for a text with plans in one format.
pub fn recognises(text: &str) -> bool {
    let text = plain(text);
    let rows = frame::rows(&text);
    !matches!(first_document(&rows), Ok(None)) || text::recognises(&rows)
}

/// The statements of a text with plans in one format.
pub fn read(text: &str) -> Result<Vec<Statement>, PlanError> {
    let text = plain(text);
    let rows = frame::rows(&text);
    let documents = if first_document(&rows)?.is_some() {
        documents(&rows)?
    } else if text::recognises(&rows) {
        text::read(&rows)?
    } else {
        return Err(PlanError::Unknown);
    };
    let all = documents.iter().filter_map(document::read).collect::<Result<Vec<_>, _>>()?;
    if all.is_empty() { Err(PlanError::Unknown) } else { Ok(all) }
}

/// A text without the quotes of CSV, and the entities that pages and mails have for `->`.
fn plain(text: &str) -> Cow<'_, str> {
    let text = frame::without_fields(text);
    if !text.contains("-&gt;") {
        return text;
    }
    let entities = [("&gt;", ">"), ("&lt;", "<"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    entities
        .into_iter()
        .fold(text.into_owned(), |text, (entity, sign)| text.replace(entity, sign))
        .into()
}

/// The position of the first document in rows.
///
/// # Errors
/// [`PlanError::OtherFormat`] of a document that is not JSON.
fn first_document(rows: &[Row]) -> Result<Option<usize>, PlanError> {
    for (at, row) in rows.iter().enumerate() {
        let line = row.text().trim_start();
        if line.starts_with("<explain") {
            return Err(PlanError::OtherFormat { format: "XML of EXPLAIN", instead: INSTEAD });
        }
        if matches!(line.trim_end(), "- Plan:" | "Plan:") {
            return Err(PlanError::OtherFormat { format: "YAML of EXPLAIN", instead: INSTEAD });
        }
        // Of an array of a statement, for instance, no plan follows.
        let mut lines = rows[at..].iter().take(50).map(Row::text);
        if line.starts_with(['{', '[']) && lines.any(|line| has_member(line, "Plan")) {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

/// The documents in rows, with the statements before them.
fn documents(rows: &[Row]) -> Result<Vec<Value>, PlanError> {
    let mut all: Vec<Value> = Vec::new();
    let text = rows.iter().map(Row::text).collect::<Vec<_>>().join("\n");
    let (mut rest, mut text) = (rows, text.as_str());
    while let Some(at) = first_document(rest)? {
        let (before, current) = rest.split_at(at);
        text = behind(text, before);
        let before: Vec<&str> = before.iter().map(Row::text).collect();
        let (mut found, length) = json(current, text)?;
        if let Some(Value::Object(first)) = found.first_mut()
            && !first.contains_key("Query Text")
        {
            first.extend(statement::before(&before.join("\n")));
        }
        all.extend(found);
        let (current, following) = current.split_at(length);
        (rest, text) = (following, behind(text, current));
    }
    Ok(all)
}

/// The part of a text behind these rows of it.
fn behind<'a>(text: &'a str, rows: &[Row]) -> &'a str {
    let length: usize = rows.iter().map(|row| row.text().len() + 1).sum();
    text.get(length..).unwrap_or_default()
}

/// The documents of a JSON text that the rows and their text begin with, and in how many of them it
/// is.
fn json(rows: &[Row], text: &str) -> Result<(Vec<Value>, usize), PlanError> {
    let mut stream = Deserializer::from_str(text).into_iter::<Value>();
    let document = match stream.next() {
        Some(Ok(document)) => document,
        Some(Err(error)) => return Err(error_of(rows, &error)),
        None => return Err(PlanError::Unknown),
    };
    let length = text[..stream.byte_offset()].lines().count().max(1);
    let documents = match document {
        Value::Array(all) => all,
        document => vec![document],
    };
    Ok((documents, length))
}

/// An error of JSON with the line of the file.
fn error_of(rows: &[Row], error: &serde_json::Error) -> PlanError {
    let line = rows.get(error.line().saturating_sub(1)).map_or(0, |row| row.number);
    match PlanError::from_json("JSON of EXPLAIN", error) {
        PlanError::Damaged { format, cause } => {
            let cause = cause.split(" at line ").next().unwrap_or_default();
            PlanError::Damaged { format, cause: format!("line {line}: {cause}") }
        }
        error => error,
    }
}
