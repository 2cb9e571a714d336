//! `steelbench export`

use crate::args::{Export, Format};
use crate::exit_code::{ExitCode, Failure};
use crate::{output, results};
use observations::Recording;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Writes a run for other programs.
pub fn export(arguments: &Export) -> Result<ExitCode, Failure> {
    let store = results::open(arguments.recorded.name.as_deref())?;
    let recording = results::read_run(&store, arguments.recorded.run)?;
    let output = arguments.output.as_deref();
    let named = |ending: &str| {
        output.map_or_else(|| PathBuf::from(format!("{}{ending}", recording.run.name)), Path::to_path_buf)
    };
    let written = match (arguments.format, output) {
        (Format::Csv | Format::Parquet, _) => tables(&recording, arguments.format, &named("-export"))?,
        (Format::Json, None) => return json(&recording),
        (Format::Json, Some(path)) => {
            output::replace_file(path, |writer| report::json::recording(&recording, writer))?;
            vec![path.to_path_buf()]
        }
        (Format::Xlsx, _) => {
            let path = named(".xlsx");
            let summary = results::summary(&recording, store.path());
            let book = report::xlsx(&summary).map_err(Failure::failed)?;
            output::replace_file(&path, |writer| writer.write_all(&book))?;
            vec![path]
        }
    };
    for path in written {
        output::print(&format!("{}\n", path.display()))?;
    }
    Ok(ExitCode::Ok)
}

/// A file for each table, in a folder that is made if need be.
fn tables(recording: &Recording, format: Format, folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    fs::create_dir_all(folder).map_err(|error| {
        Failure::failed(format!("cannot create the folder {}: {error}", folder.display()))
    })?;
    let write = |table: report::Table| {
        let parquet = matches!(format, Format::Parquet);
        let path = folder.join(format!("{}.{}", table.name, if parquet { "parquet" } else { "csv" }));
        output::replace_file(
            &path,
            |writer| if parquet { table.parquet(writer) } else { table.csv(writer) },
        )?;
        Ok(path)
    };
    report::tables(recording).into_iter().map(write).collect()
}

/// To standard output. A reader that has gone has seen enough.
fn json(recording: &Recording) -> Result<ExitCode, Failure> {
    match report::json::recording(recording, std::io::stdout().lock()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::failed(error)),
        _ => Ok(ExitCode::Ok),
    }
}
