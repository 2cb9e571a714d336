//! `steelbench export`

use crate::args::{Export, Format};
use crate::exit_code::{ExitCode, Failure};
use crate::{output, results};
use std::io::ErrorKind;
use std::path::PathBuf;

/// Writes the tables of a run for other programs.
pub fn export(arguments: &Export) -> Result<ExitCode, Failure> {
    let recording = results::read(&arguments.recorded)?;
    let folder = || {
        arguments.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}-export", recording.run.name)))
    };
    let written = match arguments.format {
        Format::Csv => store::export_csv(&recording, &folder()).map_err(Failure::failed)?,
        Format::Parquet => store::export_parquet(&recording, &folder()).map_err(Failure::failed)?,
        Format::Json => match &arguments.output {
            None => {
                return match store::export_json(&recording, std::io::stdout().lock()) {
                    Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::failed(error)),
                    _ => Ok(ExitCode::Ok),
                };
            }
            Some(path) => {
                let fail = |error: std::io::Error| Failure::failed(format!("{}: {error}", path.display()));
                let file = std::fs::File::create(path).map_err(fail)?;
                store::export_json(&recording, std::io::BufWriter::new(file)).map_err(fail)?;
                vec![path.clone()]
            }
        },
    };
    for path in written {
        output::print(&format!("{}\n", path.display()))?;
    }
    Ok(ExitCode::Ok)
}
