//! `steelbench sort-order`

use crate::document;
use crate::file::{Advised, FileError, ParquetFile};
use clap::Parser;
use command_line::arguments::setting;
use command_line::output::{self, Form};
use command_line::servers::Deadline;
use command_line::{Chapter, Command, Context, ExitCode, Failure, Tool};
use engine::{EngineError, server};
use probe::data::ROWS;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The command of this study.
pub const COMMAND: Command = Command::new::<SortOrder>(Chapter::QuickTests);

/// Find the sort order that makes a table smallest
///
/// Reads a Parquet file, or a table of a database.
#[derive(Debug, Parser)]
#[command(name = "sort-order")]
pub struct SortOrder {
    /// A Parquet file; or, followed by a table, a DuckDB or SQLite database or the URL of a
    /// PostgreSQL server
    #[arg(value_name = "FILE|URL")]
    pub file: PathBuf,
    /// The table; libduckdb is found as by `run`
    pub table: Option<String>,
    /// Maximum number of rows to sample: whole row groups, blocks or pages spread over the table.
    /// They are kept in memory
    #[arg(long, value_name = "N", default_value = "1M", value_parser = setting(ROWS))]
    pub rows: u64,
    /// Write these rows in the current and the best orders to temporary files, and measure size and
    /// reading
    #[arg(long)]
    pub measure: bool,
    /// Orders to show, and to measure with --measure
    #[arg(
        long, value_name = "N", default_value = "5",
        value_parser = clap::value_parser!(u8).range(1..=8),
    )]
    pub orders: u8,
    /// An order of yours to predict, and to measure with --measure: columns separated by commas;
    /// repeatable
    #[arg(long, value_name = "COLUMNS", value_parser = columns)]
    pub order: Vec<Columns>,
    /// Give up reading a server after this time, in seconds
    #[arg(
        long, value_name = "N", default_value = "14400",
        value_parser = clap::value_parser!(u32).range(1..=604_800),
    )]
    pub time_limit: u32,
    #[command(flatten)]
    pub form: Form,
}

/// The names of the columns of an order.
#[derive(Debug, Clone)]
pub struct Columns(Vec<String>);

/// A list that names no column.
#[derive(Debug, thiserror::Error)]
#[error("names of columns, separated by commas")]
pub struct NoColumn;

fn columns(text: &str) -> Result<Columns, NoColumn> {
    let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
    if names.iter().any(String::is_empty) { Err(NoColumn) } else { Ok(Columns(names)) }
}

impl Tool for SortOrder {
    const EXAMPLES: [&'static str; 2] =
        ["steelbench sort-order orders.parquet", "steelbench sort-order shop.duckdb orders"];

    fn run(&self, context: &Context) -> Result<ExitCode, Failure> {
        let (path, rows_max) = (&self.file, self.rows as usize);
        let (name, file, rows_all) = if let Some(table) = &self.table {
            let folder = tempfile::tempdir().map_err(Failure::failed)?;
            let exported = folder.path().join("rows.parquet");
            let source = self.export(context, table, &exported)?;
            let file = ParquetFile::read(&exported, rows_max).map_err(failure)?;
            (format!("{table} of {}", source.name), file, source.rows_all)
        } else {
            let file = ParquetFile::read(path, rows_max).map_err(failure)?;
            let rows_all = file.rows_all;
            (path.display().to_string(), file, rows_all)
        };
        let column_names: Vec<Vec<String>> =
            self.order.iter().map(|order| order.0.clone()).collect();
        let mut advised =
            Advised::for_file(name, &file, rows_all, &column_names).map_err(failure)?;
        advised.keep(usize::from(self.orders));
        if self.measure {
            advised.measure(&file).map_err(failure)?;
        }
        output::show(self.form, || document::json(&advised), || document::sort_order(&advised))
    }
}

/// The source of exported rows.
struct Source {
    /// Name of the file or, without its password, of the server.
    name: String,
    /// Rows of the table.
    rows_all: u64,
}

impl SortOrder {
    /// Writes rows of a table to a new Parquet file: of a server by URL, an SQLite file or a DuckDB
    /// database, which are only read.
    fn export(&self, context: &Context, table: &str, to: &Path) -> Result<Source, Failure> {
        let (place, rows_max) = (&self.file, self.rows);
        if let Some(url) = place.to_str().filter(|place| place.contains("://")) {
            return self.export_from_server(context, url, table, to);
        }
        let mut files = context.registry.engines.iter().filter_map(|engine| engine.database_files);
        let (engine, what) = ("this binary", "database files");
        let unsupported = || Failure::failed(EngineError::Unsupported { engine, what });
        let files = files.find(|files| files.is_database(place)).ok_or_else(unsupported)?;
        let rows_all = files.export(place, table, rows_max, to).map_err(Failure::failed)?;
        Ok(Source { name: place.display().to_string(), rows_all })
    }

    fn export_from_server(
        &self,
        context: &Context,
        url: &str,
        table: &str,
        to: &Path,
    ) -> Result<Source, Failure> {
        let server = server::by_url(context.registry.engines, url)
            .map_err(|error| Failure::failed(EngineError::failed("reading the URL", error)))?;
        // A signal ends the command.
        let deadline = Deadline::begin(self.time_limit, 0.0, &server, &Arc::default());
        let sampled = server.sample(table, self.rows, &deadline.stop()).map_err(|error| {
            let doing = format!("reading table {table} of {server}");
            let error = EngineError::failed(doing, error);
            deadline.reached(&error).unwrap_or_else(|| Failure::failed(error))
        })?;
        let rows_all = sampled.export(table, to).map_err(Failure::failed)?;
        Ok(Source { name: server.to_string(), rows_all })
    }
}

fn failure(error: FileError) -> Failure {
    match error {
        FileError::Write(_) => Failure::failed(error),
        _ => Failure::usage(error),
    }
}
