//! Finding results files and the runs in them.

use crate::exit_code::Failure;
use analysis::{Summary, summarize_with};
use observations::{ConfigurationRecord, Recording};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use store::Store;

/// Where results files are kept unless the user says otherwise.
pub const FOLDER: &str = "results";
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

/// Whether a text can only mean a results file, there or not.
pub fn is_path(text: &str) -> bool {
    Path::new(text).extension().is_some_and(|it| it == EXTENSION)
}

fn newest() -> Result<PathBuf, Failure> {
    let files = files(Path::new(FOLDER));
    let modified =
        |path: &PathBuf| path.metadata().and_then(|file| file.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    files.max_by_key(modified).ok_or_else(|| {
        Failure::usage(format!("there is no results file in {FOLDER}/; run an experiment, or name a file"))
    })
}

/// The results files in a folder.
pub fn files(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(folder).map(|entries| entries.flatten().map(|entry| entry.path()));
    entries.into_iter().flatten().filter(|path| path.extension().is_some_and(|it| it == EXTENSION))
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
    let disk_runs = if is_disk(recording) { Vec::new() } else { disk_runs(results) };
    summarize_with(recording, disk_runs)
}

/// Whether any configuration has the disk probe.
fn is_disk(recording: &Recording) -> bool {
    let disk = |configuration: &ConfigurationRecord| {
        configuration.get::<String>("workload.probe").as_deref() == Some("disk")
    };
    recording.configurations.iter().any(disk)
}

/// Runs of the disk probe in the folder of a results file. A file that cannot be read has none: it is
/// not what the user asked about.
fn disk_runs(results: &Path) -> Vec<Recording> {
    let folder = results.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let stores = files(folder).filter_map(|path| Store::open(&path).ok());
    stores.flat_map(|store| disk_runs_of(&store).unwrap_or_default()).collect()
}

fn disk_runs_of(store: &Store) -> Result<Vec<Recording>, store::StoreError> {
    let mut found = Vec::new();
    for run in store.runs()? {
        // Trials are read only of those that matter.
        if is_disk(&store.read_plan(run.id)?) {
            found.push(store.read(run.id)?);
        }
    }
    Ok(found)
}
