//! `steelbench report`

use crate::args::{Report, ReportFormat};
use crate::exit_code::{ExitCode, Failure};
use crate::{output, results};
use analysis::Summary;
use std::io::Write;
use std::path::Path;

/// Writes a report of a run and says where it is.
pub fn report(arguments: &Report) -> Result<ExitCode, Failure> {
    let ReportFormat::Html = arguments.format;
    let store = results::open(arguments.recorded.name.as_deref())?;
    let recording = results::read_run(&store, arguments.recorded.run)?;
    let path = arguments.output.clone().unwrap_or_else(|| store.path().with_extension("html"));
    write(&results::summary(&recording, store.path()), &path)?;
    output::print(&format!("{}\n", path.display()))?;
    Ok(ExitCode::Ok)
}

/// Writes the HTML report of a run; a report that is there already is replaced as a whole.
pub fn write(summary: &Summary, path: &Path) -> Result<(), Failure> {
    let html = report::html(summary);
    output::replace_file(path, |writer| writer.write_all(html.as_bytes()))
}
