//! `steelbench data`: data sets as files.

use crate::args::{Data, DataFormat};
use crate::exit_code::{ExitCode, Failure};
use crate::{output, signals};
use datasets::{DataSet, Size};
use observations::number;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use work::{Fill, Table};

/// Writes each table of a data set.
pub fn data(arguments: &Data) -> Result<ExitCode, Failure> {
    let Data { name, scale, rows, columns, seed, format, output } = arguments;
    let size =
        Size { scale: *scale, rows: *rows, columns: *columns, seed: *seed, ..Size::default() };
    let set =
        DataSet::new(name, size).ok_or_else(|| Failure::usage(format!("no data set {name}")))?;
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
        _ => Err(Failure::usage(
            "only one table at a time can be written to standard output, as CSV",
        )),
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

/// Writes a table beside its place, so that what has its name is complete, unless it is told to
/// stop.
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
            "{there} is there already; remove it, or name another folder: --output"
        )));
    }
    let (asked, heard) = (stop.clone(), || stop.load(Ordering::Relaxed));
    let batches = fill.batches.take_while(move |_| !asked.load(Ordering::Relaxed));
    let fill = Fill { batches: Box::new(batches), ..fill };
    let file = File::create_new(&unfinished);
    let written = file.and_then(|file| write(table, fill, BufWriter::new(file)));
    let written = written.and_then(|rows| {
        if heard() {
            Err(io::ErrorKind::Interrupted.into())
        } else {
            std::fs::rename(&unfinished, path).map(|()| rows)
        }
    });
    written.map_err(|error| {
        // What is there of it is of no use; that it failed is what has to be told.
        let _ = std::fs::remove_file(&unfinished);
        let place = path.display();
        if heard() {
            Failure::interrupted(format!("interrupted: {place} is not written"))
        } else {
            Failure::failed(format!("writing {place}: {error}"))
        }
    })
}
