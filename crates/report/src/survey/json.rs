//! The file of an inventory, which `survey merge` reads, and what programs read of a merge.

use crate::json::SCHEMA;
use analysis::survey::Merged;
use observations::{Advice, Survey};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What these objects call themselves in `kind`.
const SURVEY: &str = "survey";
const MERGED: &str = "survey_merge";

#[derive(Serialize)]
struct Surveyed<'a> {
    schema: &'static str,
    kind: &'static str,
    #[serde(flatten)]
    survey: &'a Survey,
    advice: &'a [Advice],
}

#[derive(Serialize)]
struct SideBySide<'a> {
    schema: &'static str,
    kind: &'static str,
    #[serde(flatten)]
    merged: &'a Merged,
}

/// What tells whether a file is ours.
#[derive(Deserialize)]
struct Envelope {
    schema: Option<String>,
    kind: Option<String>,
}

/// Why a text is no inventory.
#[derive(Debug, thiserror::Error)]
pub enum SurveyFileError {
    /// It is no JSON object, or a field has another type.
    #[error("it is no inventory: {0}; write one with `steelbench survey --json --output FILE`")]
    Json(#[from] serde_json::Error),
    /// It is something else.
    #[error("it is {found}, not an inventory; write one with `steelbench survey --json --output FILE`")]
    Other {
        /// What it says it is.
        found: String,
    },
    /// It is of another version.
    #[error(
        "it has the schema {found}, and this version reads {SCHEMA}; use the version that wrote it, or a \
         newer one"
    )]
    Version {
        /// What it says.
        found: String,
    },
}

/// An inventory: `kind` is `survey`, then the fields of [`Survey`] and `advice`.
///
/// # Errors
/// None that the types allow; serde's signature has one.
pub fn survey(survey: &Survey, advice: &[Advice]) -> serde_json::Result<Value> {
    serde_json::to_value(Surveyed { schema: SCHEMA, kind: SURVEY, survey, advice })
}

/// Inventories side by side: `kind` is `survey_merge`, then the fields of [`Merged`].
///
/// # Errors
/// As [`survey`].
pub fn merged(merged: &Merged) -> serde_json::Result<Value> {
    serde_json::to_value(SideBySide { schema: SCHEMA, kind: MERGED, merged })
}

/// Reads an inventory that [`survey`] wrote. Fields that this version does not know are ignored.
///
/// # Errors
/// When the text is none.
pub fn read(text: &str) -> Result<Survey, SurveyFileError> {
    let envelope: Envelope = serde_json::from_str(text)?;
    let (schema, kind) = (envelope.schema.unwrap_or_default(), envelope.kind.unwrap_or_default());
    if !schema.starts_with("steelbench/") || kind != SURVEY {
        let found = if kind.is_empty() { "something else".to_owned() } else { format!("of kind {kind:?}") };
        return Err(SurveyFileError::Other { found });
    }
    if schema != SCHEMA {
        return Err(SurveyFileError::Version { found: format!("{schema:?}") });
    }
    Ok(serde_json::from_str(text)?)
}
