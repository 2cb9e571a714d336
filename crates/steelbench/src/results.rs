//! Finding results files and the runs in them.

use crate::exit_code::Failure;
use analysis::{Summary, summarize_with};
use observations::Recording;
use std::path::{Path, PathBuf};
use store::Store;

/// Where results files are kept unless the user says otherwise.
pub const FOLDER: &str = "results";

/// The results file of an experiment.
pub fn default_path(name: &str) -> PathBuf {
    Path::new(FOLDER).join(format!("{name}.{}", store::EXTENSION))
}

/// The results file that a name or path means; without one, the newest.
pub fn find(name: Option<&str>) -> Result<PathBuf, Failure> {
    let Some(name) = name else { return newest() };
    let path = PathBuf::from(name);
    if path.is_file() {
        return Ok(path);
    }
    let by_name = default_path(name);
    if by_name.is_file() {
        return Ok(by_name);
    }
    Err(Failure::usage(format!("there is neither a results file {name} nor {}", by_name.display())))
}

fn newest() -> Result<PathBuf, Failure> {
    store::newest_results_file(Path::new(FOLDER)).ok_or_else(|| {
        Failure::usage(format!("there is no results file in {FOLDER}/; run an experiment, or name a file"))
    })
}

/// Opens a results file for reading.
pub fn open(name: Option<&str>) -> Result<Store, Failure> {
    Ok(Store::open(find(name)?)?)
}

/// Reads a run, the latest one without a number.
pub fn read_run(store: &Store, run: Option<i64>) -> Result<Recording, Failure> {
    match run {
        Some(run) => Ok(store.read(run)?),
        None => store
            .read_latest()?
            .ok_or_else(|| Failure::usage(format!("{}: no run was recorded yet", store.path().display()))),
    }
}

/// All that a report shows of a run; of a database with the ceilings that were measured on its storage, by
/// runs of the disk probe that are recorded in the same folder.
pub fn summary<'r>(recording: &'r Recording, results: &Path) -> Summary<'r> {
    summarize_with(recording, store::ceilings(recording, results))
}
