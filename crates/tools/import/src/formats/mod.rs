//! The formats of other tools, each read into trials.

mod fio;
mod hyperfine;
mod pgbench;
mod table;
mod text;
mod trial;
pub mod waits;

pub use trial::{FormatError, Options, Trial};

/// The trials of a text, by its contents, with the name of its format.
pub fn read(text: &str, options: &Options<'_>) -> Result<(&'static str, Vec<Trial>), FormatError> {
    let single =
        |format, observations| Ok((format, vec![Trial { observations, ..Trial::default() }]));
    if text.trim_start().starts_with('{') {
        let document = serde_json::from_str(text)?;
        if let Some(trials) = hyperfine::read(&document) {
            return Ok(("JSON of hyperfine", trials?));
        }
        return fio::read(&document)
            .map(|trials| ("JSON of fio", trials))
            .ok_or(FormatError::Unknown);
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
