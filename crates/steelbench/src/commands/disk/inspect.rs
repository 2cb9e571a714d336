//! `--inspect`: how the storage under a path is set up.

use crate::exit_code::{ExitCode, Failure};
use crate::output;
use std::path::PathBuf;

/// Prints what is known of each path, with advice. Runs nothing.
pub fn inspect(paths: &[PathBuf], json: bool) -> Result<ExitCode, Failure> {
    for path in paths {
        let facts = observe::inspect::volume(path).map_err(Failure::usage)?;
        let advice = analysis::volume_advice(&facts);
        if json {
            output::print_json(&report::json::volume(&facts, &advice).map_err(Failure::failed)?)?;
        } else {
            output::print_document(&report::volume(&facts, &advice))?;
        }
    }
    Ok(ExitCode::Ok)
}
