//! `steelbench results`

use crate::args::Results;
use crate::exit_code::{ExitCode, Failure};
use crate::output;
use models::published;

/// Compares published benchmark results.
pub fn results(arguments: &Results) -> Result<ExitCode, Failure> {
    if arguments.example {
        return output::print_as_it_is(published::EXAMPLE);
    }
    let mut entries = Vec::new();
    for file in &arguments.files {
        let wrong =
            |error: &dyn std::fmt::Display| Failure::usage(format!("{}: {error}", file.display()));
        let text = experiment::read_text(file, experiment::SOURCE_BYTES_MAX)
            .map_err(|error| wrong(&error))?;
        entries.extend(published::read(&text, &arguments.columns).map_err(|error| wrong(&error))?);
    }
    let compared = published::compare(&entries);
    output::show(
        arguments.form,
        || report::json::published(&compared),
        || report::published(&compared),
    )
}
