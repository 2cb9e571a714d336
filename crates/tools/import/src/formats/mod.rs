//! The formats of other tools, each read into trials.

mod fio;
mod hyperfine;
mod pgbench;
mod table;
mod text;
mod trial;
pub mod waits;

pub use trial::{FormatError, Options, Trial, check_rows};

use serde::Deserialize;
use serde::de::IgnoredAny;

/// Bytes of JSON that are read at most: of a document with many small objects the memory takes ten
/// times as many.
const JSON_BYTES_MAX: usize = 32 << 20;

/// JSON of fio or hyperfine. Members that are not named here are skipped.
#[derive(Deserialize)]
struct Document {
    #[serde(rename = "fio version")]
    fio: Option<IgnoredAny>,
    #[serde(default)]
    jobs: Vec<fio::Job>,
    #[serde(default)]
    results: Vec<hyperfine::Command>,
}

/// The trials of a text, by its contents, with the name of its format.
pub fn read(text: &str, options: &Options<'_>) -> Result<(&'static str, Vec<Trial>), FormatError> {
    let single =
        |format, observations| Ok((format, vec![Trial { observations, ..Trial::default() }]));
    if text.trim_start().starts_with('{') {
        if text.len() > JSON_BYTES_MAX {
            let mib = JSON_BYTES_MAX >> 20;
            let cause = format!("the JSON is larger than {mib} MiB: export fewer runs");
            return Err(FormatError::Damaged(cause));
        }
        let document: Document = serde_json::from_str(text)?;
        return match document {
            _ if !document.results.is_empty() => {
                Ok(("JSON of hyperfine", hyperfine::read(&document.results)?))
            }
            _ if document.fio.is_some() => Ok(("JSON of fio", fio::read(&document.jobs)?)),
            _ => Err(FormatError::Unknown),
        };
    }
    if text.contains("NOPM") {
        return single("result of HammerDB", text::hammerdb(text)?);
    }
    if text.contains("tps = ") {
        return single("output of pgbench", pgbench::output(text)?);
    }
    if text.contains("SQL statistics:") || text.contains("General statistics:") {
        return single("output of sysbench", text::sysbench(text)?);
    }
    if pgbench::is_log(text) {
        return single("transaction log of pgbench", pgbench::log(text)?);
    }
    if text.lines().next().is_some_and(|header| header.contains(',')) {
        return Ok(("CSV", table::read(text, options)?));
    }
    Err(FormatError::Unknown)
}
