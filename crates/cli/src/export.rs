//! `steelbench export`

use clap::{Parser, ValueEnum};
use command_line::arguments::Recorded;
use command_line::files::{Replace, replace_file};
use command_line::{Context, ExitCode, Failure, Tool, output, results};
use observations::Recording;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use store::Store;

/// Export a run's records as CSV, JSON, Parquet or XLSX
#[derive(Debug, Parser)]
#[command(name = "export")]
pub struct Export {
    #[command(flatten)]
    pub recorded: Recorded,
    /// Format of the files
    #[arg(long, value_enum)]
    pub format: Format,
    /// Destination: a folder for CSV and Parquet, a file for JSON and XLSX [default: NAME-export,
    /// standard output, NAME.xlsx, where NAME is that of the results file]. Only files written by
    /// Steelbench are replaced
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
}

/// Formats of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A folder with one file for each table: trials, responses, waits, latencies and others
    Csv,
    /// The whole run as one document
    Json,
    /// The CSV tables with typed columns
    Parquet,
    /// A workbook with a sheet for each table, filters and charts
    Xlsx,
}

impl Tool for Export {
    const EXAMPLES: [&'static str; 2] = [
        "steelbench export random-insert --format csv",
        "steelbench export random-insert --format xlsx --output trials.xlsx",
    ];

    fn run(&self, context: &Context) -> Result<ExitCode, Failure> {
        // A workbook has the report too, which computes with figures.
        let is_computed = self.format == Format::Xlsx;
        let read = if is_computed { Store::read } else { Store::read_exact };
        let store = results::open(context, self.recorded.name.as_deref())?;
        let recording = results::read_run(&store, self.recorded.run, read)?;
        let results = store.path();
        let output = self.output.clone();
        let may = if output.is_some() { Replace::Named } else { Replace::Ours };
        // The default name comes from that of the results file, never from its content.
        let usual = |ending: &str| {
            let mut name = results.file_stem().unwrap_or_default().to_owned();
            name.push(ending);
            PathBuf::from(name)
        };
        let written = match (self.format, output) {
            (Format::Csv | Format::Parquet, folder) => {
                tables(&recording, self.format, &folder.unwrap_or_else(|| usual("-export")))?
            }
            (Format::Json, None) => return json(&recording),
            (Format::Json, Some(path)) => {
                replace_file(&path, may, |writer| report::json::recording(&recording, writer))?;
                vec![path]
            }
            (Format::Xlsx, path) => {
                vec![workbook(
                    context,
                    &recording,
                    results,
                    path.unwrap_or_else(|| usual(".xlsx")),
                    may,
                )?]
            }
        };
        for path in written {
            output::print(&format!("{}\n", path.display()))?;
        }
        Ok(ExitCode::Ok)
    }
}

/// A workbook.
fn workbook(
    context: &Context,
    recording: &Recording,
    results: &Path,
    path: PathBuf,
    may: Replace,
) -> Result<PathBuf, Failure> {
    let summary = results::summary(context, recording, results);
    replace_file(&path, may, |writer| report::xlsx(&summary, context.sections, writer))?;
    Ok(path)
}

/// In a folder of exports: the tables in it are ours, and a new export replaces them.
const MARKER: &str = ".steelbench-export";

/// A folder for tables, made if need be, and what may be replaced in it. One that is new or empty
/// is marked as ours; in another one nothing is replaced.
fn export_folder(folder: &Path) -> std::io::Result<Replace> {
    fs::create_dir_all(folder)?;
    let marker = folder.join(MARKER);
    if fs::symlink_metadata(&marker).is_ok_and(|found| found.is_file()) {
        return Ok(Replace::Any);
    }
    if fs::read_dir(folder)?.next().is_some() {
        return Ok(Replace::Nothing);
    }
    fs::File::create_new(marker).map(|_| Replace::Any)
}

/// A file for each table, in a folder that is made if need be.
fn tables(recording: &Recording, format: Format, folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let may = export_folder(folder).map_err(|error| {
        Failure::failed(format!("cannot create the folder {}: {error}", folder.display()))
    })?;
    report::tables(recording)
        .into_iter()
        .map(|table| {
            let ending = if matches!(format, Format::Parquet) { "parquet" } else { "csv" };
            let path = folder.join(format!("{}.{ending}", table.name));
            replace_file(&path, may, |writer| match format {
                Format::Parquet => table.parquet(writer),
                _ => table.csv(writer),
            })?;
            Ok(path)
        })
        .collect()
}

/// To standard output. A reader that has gone has seen enough.
fn json(recording: &Recording) -> Result<ExitCode, Failure> {
    match report::json::recording(recording, &mut std::io::stdout().lock()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::failed(error)),
        _ => Ok(ExitCode::Ok),
    }
}
