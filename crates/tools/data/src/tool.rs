//! Arguments, and the writing of a data set.

use clap::{Parser, ValueEnum};
use command_line::arguments::setting;
use command_line::{Context, ExitCode, Failure, Tool, output, signals};
use datasets::{DataSet, Size};
use observations::number;
use probe::data::{COLUMNS, DATA_SEED, ROWS, SCALE};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use work::{Fill, Table};

/// Write a data set as files: TPC-H, TPC-DS, pgbench, published studies
#[derive(Debug, Parser)]
#[command(name = "data")]
pub struct Data {
    /// Data set: all tables of TPC-H (tpch) or one of them, of TPC-DS (tpcds), pgbench's (pgbench),
    /// those of the studies, or a synthetic one
    #[arg(
        value_name = "NAME",
        value_parser = clap::builder::PossibleValuesParser::new(datasets::NAMES),
    )]
    name: String,
    /// Scale factor of TPC-H (1: 6 million rows of LINEITEM), TPC-DS and pgbench (1: 100,000
    /// accounts)
    #[arg(long, value_name = "N", default_value = "1", value_parser = setting(SCALE))]
    scale: f64,
    /// Rows of the data sets synthetic, mybigtable and one-row-per-page, as in 2M
    #[arg(long, value_name = "N", default_value = "100k", value_parser = setting(ROWS))]
    rows: u64,
    /// Columns of the synthetic table, from 3 to 18; the last one, which only fills pages, is not
    /// written
    #[arg(long, value_name = "N", default_value = "6", value_parser = setting(COLUMNS))]
    columns: usize,
    /// Seed of the values of synthetic and mybigtable
    #[arg(long, value_name = "N", default_value = "1", value_parser = setting(DATA_SEED))]
    seed: u64,
    /// Format of the files
    #[arg(long, value_enum, default_value = "csv")]
    format: DataFormat,
    /// New folder for the files, one per table; "-" writes the only table as CSV to standard output
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    output: PathBuf,
}

/// Formats of a data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DataFormat {
    /// Comma-separated values, with the names of the columns in the first line
    Csv,
    /// With the types of the columns
    Parquet,
}

impl Tool for Data {
    const EXAMPLES: [&'static str; 2] = [
        "steelbench data tpch --scale 0.1 --output tpch",
        "steelbench data pgbench --scale 10 --format parquet --output pgbench",
    ];

    fn run(&self, _: &Context) -> Result<ExitCode, Failure> {
        let Data { name, scale, rows, columns, seed, format, output } = self;
        let size =
            Size { scale: *scale, rows: *rows, columns: *columns, seed: *seed, ..Size::default() };
        let set = DataSet::new(name, size)
            .ok_or_else(|| Failure::usage(format!("no data set {name}")))?;
        let (tables, fills) = (set.tables(), set.fills());
        if output.as_os_str() == "-" {
            return to_standard_output(*format, fills);
        }
        std::fs::create_dir_all(output).map_err(|error| {
            Failure::failed(format!("{}: cannot create it: {error}", output.display()))
        })?;
        let stop = signals::stop_flag()?;
        for fill in fills {
            let table = &tables[fill.table];
            let extension = if *format == DataFormat::Csv { "csv" } else { "parquet" };
            let path = output.join(format!("{}.{extension}", table.name));
            let rows = to_file(writer(*format), table, fill, &path, &stop)?;
            output::print(&format!("{}: {} rows\n", path.display(), number::count(rows)))?;
        }
        Ok(ExitCode::Ok)
    }
}

fn to_standard_output(format: DataFormat, mut fills: Vec<Fill>) -> Result<ExitCode, Failure> {
    match fills.pop() {
        Some(fill) if fills.is_empty() && format == DataFormat::Csv => {
            match datasets::csv(fill, BufWriter::new(io::stdout().lock())) {
                // A reader that has gone has what it wanted.
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                    Err(Failure::failed(error))
                }
                _ => Ok(ExitCode::Ok),
            }
        }
        _ => Err(Failure::usage("standard output can hold only one table, as CSV")),
    }
}

/// Writes the rows of a table to a file.
type Writer = fn(&Table, Fill, BufWriter<File>) -> io::Result<u64>;

fn writer(format: DataFormat) -> Writer {
    match format {
        DataFormat::Parquet => |table, fill, file| {
            engine::parquet::write(table, fill, file).map(|written| written.rows)
        },
        DataFormat::Csv => |_, fill, file| datasets::csv(fill, file),
    }
}

/// Writes a table to a temporary file beside its place and renames that when complete, so that an
/// interrupted write leaves no partial file under its name.
fn to_file(
    write: Writer,
    table: &Table,
    fill: Fill,
    path: &Path,
    stop: &Arc<AtomicBool>,
) -> Result<u64, Failure> {
    let unfinished = PathBuf::from(format!("{}.unfinished", path.display()));
    if let Some(there) =
        [path, &unfinished].into_iter().find(|path| path.symlink_metadata().is_ok())
    {
        let there = there.display();
        return Err(Failure::usage(format!(
            "{there} already exists; remove it or choose another folder with --output"
        )));
    }
    let (stop, is_stopped) = (stop.clone(), || stop.load(Ordering::Relaxed));
    let batches = fill.batches.take_while(move |_| !stop.load(Ordering::Relaxed));
    let fill = Fill { batches: Box::new(batches), ..fill };
    let file = File::create_new(&unfinished);
    let written = file.and_then(|file| write(table, fill, BufWriter::new(file)));
    let written = written.and_then(|rows| {
        if is_stopped() {
            Err(io::ErrorKind::Interrupted.into())
        } else {
            std::fs::rename(&unfinished, path).map(|()| rows)
        }
    });
    written.map_err(|error| {
        // Remove the partial file; the error to report is that of the write.
        let _ = std::fs::remove_file(&unfinished);
        let place = path.display();
        if is_stopped() {
            Failure::interrupted(format!("interrupted: {place} was not written"))
        } else {
            Failure::failed(format!("writing {place}: {error}"))
        }
    })
}
