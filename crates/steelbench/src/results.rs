//! Finding results files and the runs in them.

use crate::args::Recorded;
use crate::exit_code::Failure;
use observations::Recording;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use store::Store;

/// Where results files are kept unless the user says otherwise.
const FOLDER: &str = "results";
const EXTENSION: &str = "steelbench";

/// The results file of an experiment.
pub fn default_path(name: &str) -> PathBuf {
    Path::new(FOLDER).join(format!("{name}.{EXTENSION}"))
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
    let entries = std::fs::read_dir(FOLDER).map(|entries| entries.flatten().map(|entry| entry.path()));
    let files =
        entries.into_iter().flatten().filter(|path| path.extension().is_some_and(|it| it == EXTENSION));
    let modified =
        |path: &PathBuf| path.metadata().and_then(|file| file.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    files.max_by_key(modified).ok_or_else(|| {
        Failure::usage(format!("there is no results file in {FOLDER}/; run an experiment, or name a file"))
    })
}

/// Opens a results file for reading.
pub fn open(name: Option<&str>) -> Result<Store, Failure> {
    Ok(Store::open(find(name)?)?)
}

/// Reads the run that the arguments mean.
pub fn read(recorded: &Recorded) -> Result<Recording, Failure> {
    read_run(&open(recorded.name.as_deref())?, recorded.run)
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
