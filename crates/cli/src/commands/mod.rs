//! One module a command.

pub mod capture;
pub mod check;
pub mod compare;
pub mod data;
pub mod disk;
pub mod file;
pub mod pg;
pub mod plan;
pub mod predict;
pub mod profile;
pub mod queries;
pub mod recorded;
pub mod results;
pub mod run;
mod select;
pub mod serve;
pub mod size;
pub mod sort_order;
pub mod survey;
pub mod sync;
pub mod time;
pub mod try_change;
pub mod waits;
mod watch;

use crate::exit_code::Failure;
use crate::registry::REGISTRY;
use experiment::{Draft, Experiment, FileErrors};
use std::path::Path;

/// Reads and validates an experiment file and the files that it names, engines and probes included.
fn read_experiment(path: &Path) -> Result<Experiment, Failure> {
    let name = path.display().to_string();
    let source = experiment::read_text(path, experiment::SOURCE_BYTES_MAX)
        .map_err(|error| Failure::usage(format!("{name}: {error}")))?;
    let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
    let read = experiment::parse(&source, &REGISTRY.catalog()).map(|mut experiment| {
        experiment.folder = folder;
        experiment
    });
    valid(read, &name, &source)
}

/// Validates what a quick command built, engines and probes included. Errors call its file `name`.
fn build(draft: &Draft, name: &str) -> Result<Experiment, Failure> {
    valid(draft.build(&REGISTRY.catalog()), name, &draft.source())
}

fn valid(
    read: Result<Experiment, FileErrors>,
    name: &str,
    source: &str,
) -> Result<Experiment, Failure> {
    read.and_then(|read| runner::load(REGISTRY, read))
        .map_err(|errors| Failure::usage(errors.render(name, source)))
}
