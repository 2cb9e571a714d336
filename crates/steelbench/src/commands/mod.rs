//! One module a command.

pub mod check;
pub mod compare;
pub mod disk;
pub mod export;
pub mod file;
pub mod history;
pub mod profile;
pub mod report;
pub mod run;
pub mod serve;
pub mod show;
pub mod survey;
pub mod sync;
pub mod waits;

mod file_text;

use crate::exit_code::Failure;
use experiment::Experiment;
use std::path::Path;

/// Reads and validates an experiment file, engines and probes included.
fn read_experiment(path: &Path) -> Result<Experiment, Failure> {
    let source = std::fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?;
    parse_experiment(&source, &path.display().to_string())
}

/// Validates the text of an experiment file, engines and probes included. Errors call it `name`.
fn parse_experiment(source: &str, name: &str) -> Result<Experiment, Failure> {
    let render = |errors: experiment::FileErrors| errors.render(name, source);
    let experiment =
        experiment::parse(source, &runner::catalog()).map_err(|errors| Failure::usage(render(errors)))?;
    runner::validate(&experiment).map_err(|errors| Failure::usage(render(errors)))?;
    Ok(experiment)
}
