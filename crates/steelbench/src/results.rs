//! Finding results files and the runs in them.

use crate::args::Recorded;
use crate::exit_code::Failure;
use crate::output::{self, Replace};
use analysis::{Summary, summarize_with};
use observations::Recording;
use std::io::Write;
use std::path::{Path, PathBuf};
use store::Store;

/// Where results files are kept unless the user says otherwise.
pub const FOLDER: &str = "results";

/// The results file of an experiment: the one that is asked for, or the usual one.
pub fn path(asked: Option<&PathBuf>, experiment: &str) -> PathBuf {
    asked.cloned().unwrap_or_else(|| {
        let ending = format!(".{}", store::EXTENSION);
        // A name that has the ending of a results file names that file.
        let name = experiment.strip_suffix(&ending).unwrap_or(experiment);
        Path::new(FOLDER).join(format!("{name}{ending}"))
    })
}

/// The results file that a name or path means; without one, the newest.
pub fn find(name: Option<&str>) -> Result<PathBuf, Failure> {
    let Some(name) = name else {
        return store::newest_results_file(Path::new(FOLDER)).ok_or_else(|| {
            Failure::usage(format!(
                "there is no results file in {FOLDER}/; run an experiment, or name a file"
            ))
        });
    };
    let path = PathBuf::from(name);
    if path.is_file() {
        return Ok(path);
    }
    let by_name = self::path(None, name);
    if by_name.is_file() {
        return Ok(by_name);
    }
    Err(Failure::usage(format!("there is neither a results file {name} nor {}", by_name.display())))
}

/// Opens a results file for reading.
pub fn open(name: Option<&str>) -> Result<Store, Failure> {
    Ok(Store::open(find(name)?)?)
}

/// Opens a results file and reads a run of it.
pub fn read(recorded: &Recorded) -> Result<(PathBuf, Recording), Failure> {
    let store = open(recorded.name.as_deref())?;
    Ok((store.path().to_path_buf(), read_run(&store, recorded.run)?))
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

/// Writes the HTML report of a run; what is there already is replaced as a whole, if it may be.
pub fn write_report(summary: &Summary, path: &Path, may: Replace) -> Result<(), Failure> {
    let html = report::html(summary);
    output::replace_file(path, may, |writer| writer.write_all(html.as_bytes()))
}
