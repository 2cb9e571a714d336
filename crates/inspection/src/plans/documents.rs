//! Statements in JSON documents.

use crate::plans::{PlanError, Statement};
use serde_json::{Deserializer, Value};
use std::slice::from_ref;

/// The statements of JSON documents that follow each other. `read` gets each document, or each
/// element of a document that is a list, and returns `None` if it is not a statement.
///
/// # Errors
/// [`PlanError`] of the first damaged document or statement; [`PlanError::Unknown`] when a document
/// has no statement.
pub fn documents(
    text: &str,
    read: impl Fn(&Value) -> Option<Result<Statement, PlanError>>,
) -> Result<Vec<Statement>, PlanError> {
    let mut statements = Vec::new();
    for document in Deserializer::from_str(text).into_iter::<Value>() {
        let document = match document {
            Ok(document) => document,
            // A client may print other output behind a document.
            Err(_) if !statements.is_empty() => break,
            Err(error) => return Err(PlanError::from_json("JSON", &error)),
        };
        let parts = document.as_array().map_or(from_ref(&document), Vec::as_slice);
        let found = parts.iter().filter_map(&read).collect::<Result<Vec<_>, _>>()?;
        if found.is_empty() {
            return Err(PlanError::Unknown);
        }
        statements.extend(found);
    }
    if statements.is_empty() { Err(PlanError::Unknown) } else { Ok(statements) }
}

/// Returns true when a JSON text, damaged or not, has a member of this name at any level.
pub fn has_member(text: &str, name: &str) -> bool {
    let quoted = format!("\"{name}\"");
    text.match_indices(&quoted).any(|(at, _)| {
        // Within a text, the first quote would be escaped.
        !text[..at].ends_with('\\') && text[at + quoted.len()..].trim_start().starts_with(':')
    })
}

/// A member that is a number, or a text of one.
pub fn number(value: &Value, key: &str) -> Option<f64> {
    let value = &value[key];
    value.as_f64().or_else(|| value.as_str()?.parse().ok()).filter(|number| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::{documents, has_member};
    use crate::plans::PlanError;

    #[test]
    fn a_text_without_a_statement_is_refused() {
        for text in ["", "{}", "[]", "[1]", "{\"a\": 1}"] {
            assert_eq!(documents(text, |_| None), Err(PlanError::Unknown), "{text}");
        }
        let cut = documents("[{\"Plan\": {\"Node Type\": \"Seq Sc", |_| None);
        assert!(matches!(cut, Err(PlanError::Damaged { .. })), "{cut:?}");
    }

    #[test]
    fn a_member_is_a_name_before_a_colon() {
        assert!(has_member("[{\"Plan\" : {\"Node", "Plan"));
        assert!(!has_member("{\"table_name\": \"Plan\", \"text\": \"\\\"Plan\\\": 1\"}", "Plan"));
    }
}
