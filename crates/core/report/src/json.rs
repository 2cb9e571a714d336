//! The analysis for programs: exact figures, stable names.
//!
//! Every object has `schema` and `kind`, then the fields of its type. `schema` is `steelbench/3`
//! for a run, `steelbench/2` for recordings and comparisons, `steelbench/1` for the rest; the
//! number grows with each incompatible change. Times are in seconds, shares from 0 to 1; a figure
//! that cannot be computed is `null`. Functions return serde's errors only because its signature
//! has them: the types of the analysis cause none.

use crate::{StudySections, escaped};
use analysis::Summary;
use observations::{Recording, redact_json};
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use serde_json::{Result, Value, json};
use std::io::{self, Write};

/// Version of what this module writes.
pub const SCHEMA: &str = "steelbench/1";
/// Version of a run's object as it was analysed.
const SUMMARY_SCHEMA: &str = "steelbench/3";
/// Version of a run's object as it was recorded, and of two configurations.
pub const RUN_SCHEMA: &str = "steelbench/2";

/// An object for programs: its schema and kind, the fields of some content, and others, without
/// secrets: this is the guard of documents for programs.
///
/// # Errors
/// Errors of serializing the content.
pub fn object(kind: &str, content: &impl Serialize, others: Value) -> Result<Value> {
    let mut object = serde_json::to_value(content)?;
    for field in [json!({ "schema": SCHEMA, "kind": kind }), others] {
        if let (Some(object), Value::Object(fields)) = (object.as_object_mut(), field) {
            object.extend(fields);
        }
    }
    redact_json(&mut object);
    Ok(object)
}

/// A run: the data of each section by its name.
pub fn summary(summary: &Summary, studies: StudySections<'_>) -> Result<Value> {
    object(
        "summary",
        &crate::sections::data(summary, studies)?,
        json!({ "schema": SUMMARY_SCHEMA }),
    )
}

/// All that a run recorded, as one object: its schema, then the fields of [`Recording`]. Histograms
/// are arrays of `[nanoseconds, count]`; a figure that is not a finite number is `null`; integers
/// are exact up to 2^64.
///
/// # Errors
/// Errors of the writer.
pub fn recording(recording: &Recording, writer: &mut dyn Write) -> io::Result<()> {
    #[derive(Serialize)]
    struct Recorded<'a> {
        schema: &'static str,
        #[serde(flatten)]
        recording: &'a Recording,
    }
    let recorded = Recorded { schema: RUN_SCHEMA, recording };
    recorded.serialize(&mut Serializer::with_formatter(&mut *writer, Printable))?;
    writeln!(writer)?;
    writer.flush()
}

/// Compact JSON that is safe to print: see [`crate::escaped`].
struct Printable;

impl Formatter for Printable {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        text: &str,
    ) -> io::Result<()> {
        let plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        if plain {
            writer.write_all(text.as_bytes())
        } else {
            writer.write_all(escaped(text).as_bytes())
        }
    }
}
