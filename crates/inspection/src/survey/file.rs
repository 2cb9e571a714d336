//! Files of surveys and captures: JSON objects by [`report::json::object`].

use crate::statements::Captured;
use command_line::Failure;
use observations::{ActivityRecord, Advice, CounterReadings, Survey};
use report::json::{SCHEMA, object};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::io;
use std::path::Path;

/// Kind of an inventory.
const SURVEY: &str = "survey";
/// Kind of an inventory of a server with an observation of it.
const CAPTURE: &str = "capture";
/// No capture comes near to this size.
const CAPTURE_BYTES_MAX: u64 = 256 << 20;

/// An inventory, with `advice`.
///
/// # Errors
/// As [`object`].
pub fn survey_json(survey: &Survey, advice: &[Advice]) -> serde_json::Result<Value> {
    object(SURVEY, survey, json!({ "advice": advice }))
}

/// The survey of a server, an observation of it, and its counters of statements and indexes.
#[derive(Debug, Serialize, Deserialize)]
pub struct Capture {
    /// The survey.
    #[serde(flatten)]
    pub survey: Survey,
    /// The waits of its sessions.
    pub observation: ActivityRecord,
    /// `None`: it could not be read, or an older version has written the file.
    pub queries: Option<Captured>,
    /// The server's counters at the beginning and at the end, from which the differences of the
    /// observation follow.
    #[serde(default)]
    pub readings: Vec<CounterReadings>,
}

/// A capture, with `advice` on its server.
///
/// # Errors
/// As [`object`].
pub fn capture_json(captured: &Capture, advice: &[Advice]) -> serde_json::Result<Value> {
    object(CAPTURE, captured, json!({ "advice": advice }))
}

/// Reads the file of a capture; `None` of a file that is not called like one.
pub fn read_capture(name: &str) -> Option<Result<Capture, Failure>> {
    let path = Path::new(name);
    let is_json = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    is_json.then(|| captured(path).map_err(|error| Failure::usage(format!("{name}: {error}"))))
}

fn captured(path: &Path) -> Result<Capture, SurveyFileError> {
    let text = experiment::read_text(path, CAPTURE_BYTES_MAX)?;
    let captured: Capture = serde_json::from_value(content(&text, &[CAPTURE])?)?;
    if captured.observation.activity.is_consistent() {
        Ok(captured)
    } else {
        Err(SurveyFileError::Other("a file with counts that cannot be summed".into()))
    }
}

/// Reason why a text is not an inventory.
#[derive(Debug, thiserror::Error)]
pub enum SurveyFileError {
    /// It is not a JSON object, or a field has another type.
    #[error("not an inventory: {0}; write one with `steelbench survey --json --output FILE`")]
    Json(#[from] serde_json::Error),
    /// It cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is something else.
    #[error(
        "this is {0}, not an inventory; write one with `steelbench survey --json --output \
             FILE`"
    )]
    Other(String),
    /// It is of another version.
    #[error(
        "the file has schema {0:?}, and this version reads {SCHEMA}; use the version that wrote \
         it, or a newer one"
    )]
    Version(String),
}

/// Reads an inventory that [`survey_json`] or [`capture_json`] made. Fields that this version does
/// not know are ignored.
///
/// # Errors
/// When the text is something else, or of another version.
pub fn parse_survey(text: &str) -> Result<Survey, SurveyFileError> {
    Ok(serde_json::from_value(content(text, &[SURVEY, CAPTURE])?)?)
}

/// The content of a file of one of these kinds. Its large types are compiled for values only.
fn content(text: &str, kinds: &[&str]) -> Result<Value, SurveyFileError> {
    let content: Map<String, Value> = serde_json::from_str(text)?;
    let field = |name: &str| content.get(name).and_then(Value::as_str).unwrap_or_default();
    let (schema, kind) = (field("schema"), field("kind"));
    if !schema.starts_with("steelbench/") || !kinds.contains(&kind) {
        let something = "something else".to_owned();
        let found = if kind.is_empty() { something } else { format!("of kind {kind:?}") };
        return Err(SurveyFileError::Other(found));
    }
    if schema != SCHEMA {
        return Err(SurveyFileError::Version(schema.to_owned()));
    }
    Ok(content.into())
}
