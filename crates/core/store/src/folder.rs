//! Folders of results files.

use crate::{Result, Store};
use observations::Recording;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// How the name of a results file ends.
pub const EXTENSION: &str = "steelbench";

/// Whether a path has the name of a results file, there or not.
pub fn is_results_file(path: &Path) -> bool {
    path.extension().is_some_and(|it| it == EXTENSION)
}

/// The results files in a folder; none in one that is not there.
pub fn results_files(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries =
        std::fs::read_dir(folder).map(|entries| entries.flatten().map(|entry| entry.path()));
    entries.into_iter().flatten().filter(|path| is_results_file(path))
}

/// The results file in a folder that was written last.
pub fn newest_results_file(folder: &Path) -> Option<PathBuf> {
    let modified = |path: &PathBuf| {
        path.metadata().and_then(|file| file.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
    };
    results_files(folder).filter(|path| path.is_file()).max_by_key(modified)
}

/// What the storage of a database can do at most: the runs of the disk probe that are recorded in
/// the folder of its results file. A file that cannot be read as it is has none: it is not what the
/// user asked about, so it is not touched.
pub fn ceilings(recording: &Recording, results: &Path) -> Vec<Recording> {
    if measures_disk(recording) {
        return Vec::new();
    }
    let folder =
        results.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let stores = results_files(folder).filter_map(|path| Store::open_untouched(&path).ok());
    stores.flat_map(|store| disk_runs(&store).unwrap_or_default()).collect()
}

fn disk_runs(store: &Store) -> Result<Vec<Recording>> {
    // A file may have hundreds of runs of other probes: none of these is read.
    let sql = "SELECT DISTINCT run FROM configurations JOIN settings ON settings.configuration = \
               configurations.id
               WHERE path = 'workload.probe' AND value = '\"disk\"' ORDER BY run";
    let runs: Vec<i64> = store
        .sql(|connection| connection.prepare(sql)?.query_map([], |row| row.get(0))?.collect())?;
    runs.into_iter().map(|run| store.read_figures(run)).collect()
}

/// Whether any configuration has the disk probe.
fn measures_disk(recording: &Recording) -> bool {
    let mut configurations = recording.configurations.iter();
    configurations.any(|it| it.get::<String>("workload.probe").as_deref() == Some("disk"))
}
