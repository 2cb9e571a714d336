use observations::Recording;
use serde::Serialize;
use std::io::{self, Write};

/// Writes a recording as one JSON object.
///
/// The object has `schema` (`steelbench/1`: a number that grows when a program that reads it would
/// have to change) and the fields of [`Recording`]: `run`, `environments`, `factors`,
/// `configurations`, `trials`. Histograms are arrays of `[nanoseconds, count]`; a figure that is not
/// a finite number is `null`; integers are exact up to 2^64.
///
/// # Errors
/// Those of the writer.
pub fn export_json(recording: &Recording, mut writer: impl Write) -> io::Result<()> {
    serde_json::to_writer(&mut writer, &Envelope { schema: "steelbench/1", recording })?;
    writeln!(writer)?;
    writer.flush()
}

#[derive(Serialize)]
struct Envelope<'a> {
    schema: &'static str,
    #[serde(flatten)]
    recording: &'a Recording,
}
