//! The part of YAML that PostgreSQL writes: mappings, lists, and texts in the quotes of JSON.

use super::frame::{Row, column};
use plans::{DEPTH_MAX, PlanError};
use serde_json::{Map, Value};

/// A line of a document.
struct Line<'a> {
    number: usize,
    column: usize,
    text: &'a str,
}

/// Returns true for the line with which the list of documents, or one alone, begins.
pub fn begins(line: &str) -> bool {
    matches!(line.trim(), "- Plan:" | "Plan:")
}

/// The documents of rows, and how many of the rows they are. The first line may have lost its
/// indent.
///
/// # Errors
/// [`PlanError::Damaged`] with the number of the line that is not YAML of PostgreSQL.
pub fn read(rows: &[Row]) -> Result<(Vec<Value>, usize), PlanError> {
    let length = rows.iter().position(|row| row.text().trim().is_empty()).unwrap_or(rows.len());
    let lines: Vec<Line> = rows[..length]
        .iter()
        .map(|row| {
            let (column, text) = column(row.text());
            Line { number: row.number, column, text: text.trim_end() }
        })
        .collect();
    let mut documents = Vec::new();
    let mut rest = lines.as_slice();
    while let Some(first) = rest.first() {
        let is_listed = first.text.starts_with("- ");
        // From the plan on to the next document: of these, the plan is the deepest.
        let next = rest[1..].iter().position(|line| is_listed && begins(line.text));
        let (block, after) = rest.split_at(next.map_or(rest.len(), |next| next + 1));
        documents.push(document(block, is_listed)?);
        rest = after;
    }
    Ok((documents, length))
}

fn document(lines: &[Line], is_listed: bool) -> Result<Value, PlanError> {
    let mut members = Map::new();
    let text = |line: &Line| {
        if is_listed {
            line.text.strip_prefix("- ").unwrap_or(line.text).to_owned()
        } else {
            line.text.to_owned()
        }
    };
    let mut at = 0;
    // Members of the document have the least indent, but for the first line.
    let outer = lines[1..].iter().map(|line| line.column).min().unwrap_or(0);
    while let Some(line) = lines.get(at) {
        let text = text(line);
        let (key, value) = member(&text).ok_or_else(|| damaged(line))?;
        at += 1;
        let length = lines[at..].iter().take_while(|line| line.column > outer).count();
        let inner = &lines[at..at + length];
        // A plan without anything behind it is deeper than nothing.
        let inner = if at == 1 && length == 0 { &lines[1..] } else { inner };
        let value = if value.is_empty() { block(inner, 0)? } else { scalar(line, value)? };
        at += inner.len();
        members.insert(key.to_owned(), value);
    }
    Ok(members.into())
}

fn block(lines: &[Line], depth: usize) -> Result<Value, PlanError> {
    if depth > 2 * DEPTH_MAX {
        return Err(PlanError::TooDeep(DEPTH_MAX));
    }
    let Some(first) = lines.first() else { return Ok(Value::Null) };
    if first.text.starts_with("- ") {
        let mut all = Vec::new();
        let mut rest = lines;
        while let Some((head, behind)) = rest.split_first() {
            let item = head.text.strip_prefix("- ").filter(|_| head.column == first.column);
            let item = item.ok_or_else(|| damaged(head))?;
            let length = behind.iter().take_while(|line| line.column > first.column).count();
            let (inner, after) = behind.split_at(length);
            let value = if member(item).is_some() && !item.starts_with('"') {
                let column = head.column + 2;
                let head = Line { number: head.number, column, text: item };
                let lines: Vec<Line> = std::iter::once(head)
                    .chain(inner.iter().map(|line| Line { ..*line }))
                    .collect();
                block(&lines, depth + 1)?
            } else {
                scalar(head, item)?
            };
            all.push(value);
            rest = after;
        }
        return Ok(all.into());
    }
    let mut members = Map::new();
    let mut rest = lines;
    while let Some((head, behind)) = rest.split_first() {
        let found = member(head.text).filter(|_| head.column == first.column);
        let (key, value) = found.ok_or_else(|| damaged(head))?;
        let length = behind.iter().take_while(|line| line.column > first.column).count();
        let (inner, after) = behind.split_at(length);
        let value = if value.is_empty() { block(inner, depth + 1)? } else { scalar(head, value)? };
        members.insert(key.to_owned(), value);
        rest = after;
    }
    Ok(members.into())
}

/// `Key: value`, `Key:`.
fn member(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.split_once(':')?;
    (!key.is_empty() && (value.is_empty() || value.starts_with(' '))).then(|| (key, value.trim()))
}

/// Texts are quoted as in JSON; versions differ in which words are.
fn scalar(line: &Line, value: &str) -> Result<Value, PlanError> {
    if value.starts_with('"') {
        return serde_json::from_str(value).map_err(|_| damaged(line));
    }
    Ok(serde_json::from_str(value).unwrap_or_else(|_| value.into()))
}

fn damaged(line: &Line) -> PlanError {
    PlanError::Damaged {
        format: "YAML of EXPLAIN",
        cause: format!("line {}: not a member of a plan", line.number),
    }
}
