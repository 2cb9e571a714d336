//! The formats of other tools, each read into trials.

mod fio;
mod hyperfine;
mod pgbench;
mod table;
mod text;
mod trial;
pub mod waits;

pub use trial::{Format, FormatError, Options, Trial};

/// The trials of a text, by its contents.
pub fn read(text: &str, options: &Options<'_>) -> Result<(Format, Vec<Trial>), FormatError> {
    let single =
        |format, observations| Ok((format, vec![Trial { observations, ..Trial::default() }]));
    if text.trim_start().starts_with('{') {
        let document = serde_json::from_str(text)?;
        if let Some(trials) = hyperfine::read(&document) {
            return Ok((Format::Hyperfine, trials?));
        }
        return fio::read(&document)
            .map(|trials| (Format::Fio, trials))
            .ok_or(FormatError::Unknown);
    }
    if text.contains("NOPM") {
        return single(Format::HammerDb, text::hammerdb(text)?);
    }
    if text.contains("tps = ") {
        return single(Format::PgbenchOutput, pgbench::output(text)?);
    }
    if text.contains("SQL statistics:") || text.contains("General statistics:") {
        return single(Format::Sysbench, text::sysbench(text)?);
    }
    if pgbench::is_log(text) {
        return single(Format::PgbenchLog, pgbench::log(text)?);
    }
    if text.lines().next().is_some_and(|header| header.contains(',')) {
        return Ok((Format::Table, table::read(text, options)?));
    }
    Err(FormatError::Unknown)
}
