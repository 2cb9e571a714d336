//! `steelbench export`

use crate::args::{Export, Format};
use crate::commands::report::replace;
use crate::exit_code::{ExitCode, Failure};
use crate::{output, results};
use observations::Recording;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Writes the tables of a run for other programs.
pub fn export(arguments: &Export) -> Result<ExitCode, Failure> {
    let store = results::open(arguments.recorded.name.as_deref())?;
    let recording = results::read_run(&store, arguments.recorded.run)?;
    let output = arguments.output.as_deref();
    let named = |ending: &str| {
        output.map_or_else(|| PathBuf::from(format!("{}{ending}", recording.run.name)), Path::to_path_buf)
    };
    let written = match arguments.format {
        Format::Csv => store::export_csv(&recording, &named("-export")).map_err(Failure::failed)?,
        Format::Parquet => store::export_parquet(&recording, &named("-export")).map_err(Failure::failed)?,
        Format::Json => json(&recording, output)?,
        Format::Xlsx => {
            let path = named(".xlsx");
            let summary = results::summary(&recording, store.path());
            let book = report::xlsx(&recording, &summary).map_err(Failure::failed)?;
            replace(&path, &book)
                .map_err(|error| Failure::failed(format!("cannot write {}: {error}", path.display())))?;
            vec![path]
        }
    };
    for path in written {
        output::print(&format!("{}\n", path.display()))?;
    }
    Ok(ExitCode::Ok)
}

/// To a file, which is returned, or to standard output.
fn json(recording: &Recording, output: Option<&Path>) -> Result<Vec<PathBuf>, Failure> {
    let Some(path) = output else {
        return match store::export_json(recording, std::io::stdout().lock()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::failed(error)),
            _ => Ok(Vec::new()),
        };
    };
    let fail = |error: std::io::Error| Failure::failed(format!("{}: {error}", path.display()));
    let file = std::fs::File::create(path).map_err(fail)?;
    store::export_json(recording, std::io::BufWriter::new(file)).map_err(fail)?;
    Ok(vec![path.to_path_buf()])
}
