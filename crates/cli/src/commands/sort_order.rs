//! `steelbench sort-order`

use crate::args::SortOrder;
use crate::exit_code::{ExitCode, Failure};
use crate::output;
use crate::registry::REGISTRY;
use engine::{EngineError, server};
use sort_order::file::{Advised, FileError, ParquetFile};
use std::path::Path;
use work::Stop;

/// Says in which order the rows of a table would take the least.
pub fn sort_order(arguments: &SortOrder) -> Result<ExitCode, Failure> {
    let (path, rows_max) = (&arguments.file, arguments.rows as usize);
    let shown = path.display().to_string();
    let (name, file, rows_all) = if let Some(table) = &arguments.table {
        let folder = tempfile::tempdir().map_err(Failure::failed)?;
        let exported = folder.path().join("rows.parquet");
        let rows_all = export(path, table, arguments.rows, &exported).map_err(Failure::failed)?;
        (
            format!("{table} of {shown}"),
            ParquetFile::read(&exported, rows_max).map_err(failure)?,
            rows_all,
        )
    } else {
        let file = ParquetFile::read(path, rows_max).map_err(failure)?;
        let rows_all = file.rows_all;
        (shown, file, rows_all)
    };
    let mut advised = Advised::of(name, &file, rows_all).map_err(failure)?;
    let orders = usize::from(arguments.orders);
    if arguments.measure {
        advised.measure(&file, orders).map_err(failure)?;
    }
    advised.orders.truncate(orders);
    output::show(
        arguments.form,
        || sort_order::document::json(&advised),
        || sort_order::document::sort_order(&advised),
    )
}

/// Writes rows of a table to a new Parquet file: of a server by URL, an SQLite file or a DuckDB
/// database, which are only read. Returns the number of rows of the table.
fn export(place: &Path, table: &str, rows_max: u64, to: &Path) -> Result<u64, EngineError> {
    if let Some(url) = place.to_str().filter(|place| place.contains("://")) {
        let server = server::by_url(REGISTRY.engines, url)
            .map_err(|error| EngineError::failed("reading the URL", error.what))?;
        let sampled = server.sample(table, rows_max, &Stop::when(|| false)).map_err(|error| {
            EngineError::failed(format!("reading table {table} of {server}"), error.what)
        })?;
        return sampled.export(table, to);
    }
    if sqlite::is_database(place) {
        return sqlite::sample(place, table, rows_max)?.export(table, to);
    }
    duckdb::export(place, table, rows_max, to)
}

fn failure(error: FileError) -> Failure {
    match error {
        FileError::Write(_) => Failure::failed(error),
        _ => Failure::usage(error),
    }
}
