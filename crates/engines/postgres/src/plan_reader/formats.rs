//! The formats of EXPLAIN: which of them a text has, and its statements.

use super::frame::{self, Row};
use super::{document, statement, text, xml, yaml};
use plans::{PlanError, Statement, has_member};
use serde_json::{Deserializer, Value};
use std::borrow::Cow;

/// Returns true for a text with plans in one format.
pub fn recognises(text: &str) -> bool {
    let text = plain(text);
    let rows = frame::rows(&text);
    first_document(&rows).is_some() || text::recognises(&rows)
}

/// The statements of a text with plans in one format.
pub fn read(text: &str) -> Result<Vec<Statement>, PlanError> {
    let text = plain(text);
    let rows = frame::rows(&text);
    let documents = if first_document(&rows).is_some() {
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

/// A format with documents.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Json,
    Yaml,
    Xml,
}

/// The position and format of the first document in rows.
fn first_document(rows: &[Row]) -> Option<(usize, Format)> {
    rows.iter().enumerate().find_map(|(at, row)| {
        let line = row.text().trim_start();
        let format = if line.starts_with("<explain") || line.starts_with("<?xml") {
            let mut first = rows[at..].iter().take(3).map(Row::text);
            first.any(|line| line.trim_start().starts_with("<explain")).then_some(Format::Xml)
        } else if yaml::begins(line) {
            Some(Format::Yaml)
        } else if line.starts_with(['{', '[']) {
            let mut behind = rows[at..].iter().map(Row::text);
            // Of an array of a statement, for instance, no plan follows.
            behind.by_ref().take(50).any(|line| has_member(line, "Plan")).then_some(Format::Json)
        } else {
            None
        };
        Some((at, format?))
    })
}

/// The documents in rows, with the statements before them.
fn documents(rows: &[Row]) -> Result<Vec<Value>, PlanError> {
    let mut all: Vec<Value> = Vec::new();
    let mut rest = rows;
    while let Some((at, format)) = first_document(rest) {
        let (before, current) = rest.split_at(at);
        let before: Vec<&str> = before.iter().map(Row::text).collect();
        let (mut found, length) = match format {
            Format::Json => json(current)?,
            Format::Yaml => yaml::read(current)?,
            Format::Xml => {
                let end = current.iter().position(|row| row.text().contains("</explain>"));
                let length = end.map_or(current.len(), |end| end + 1);
                (xml::read(&joined(&current[..length]), current[0].number)?, length)
            }
        };
        if let Some(Value::Object(first)) = found.first_mut()
            && !first.contains_key("Query Text")
        {
            first.extend(statement::before(&before.join("\n")));
        }
        all.extend(found);
        rest = &current[length..];
    }
    Ok(all)
}

fn joined(rows: &[Row]) -> String {
    rows.iter().map(Row::text).collect::<Vec<_>>().join("\n")
}

/// The documents of a JSON text that the rows begin with, and in how many of them it is.
fn json(rows: &[Row]) -> Result<(Vec<Value>, usize), PlanError> {
    let text = joined(rows);
    let mut stream = Deserializer::from_str(&text).into_iter::<Value>();
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
