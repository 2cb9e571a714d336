//! Folders of results files.

use crate::{DeclaredRoles, Result, Store};
use observations::Recording;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The extension of the name of a results file.
pub const EXTENSION: &str = "steelbench";

/// Returns whether a path has the name of a results file, existing or not.
pub fn is_results_file(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == EXTENSION)
}

/// The results files in a folder; none in one that is not there.
pub fn results_files(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries =
        std::fs::read_dir(folder).map(|entries| entries.flatten().map(|entry| entry.path()));
    entries.into_iter().flatten().filter(|path| is_results_file(path))
}

/// The results file in a folder that was written last.
pub fn newest_results_file(folder: &Path) -> Option<PathBuf> {
    results_files(folder).filter(|path| path.is_file()).max_by_key(|path| {
        path.metadata().and_then(|file| file.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
    })
}

/// The runs in the folder of a results file of which a configuration has one of these values of a
/// setting. A file that cannot be read as it is has none: it is not what the user asked about, so
/// it is not touched. `declared` gives the roles of runs that recorded none.
pub fn runs_beside(
    results: &Path,
    setting: &str,
    values: &[&str],
    declared: &DeclaredRoles,
) -> Vec<Recording> {
    let folder =
        results.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let stores = results_files(folder).filter_map(|path| Store::open_untouched(&path).ok());
    let stores = stores.map(|store| store.with_declared_roles(declared.clone()));
    stores.flat_map(|store| runs_with(&store, setting, values).unwrap_or_default()).collect()
}

fn runs_with(store: &Store, setting: &str, values: &[&str]) -> Result<Vec<Recording>> {
    // Do not read the runs of other probes: a file may have hundreds of them.
    let sql = "SELECT DISTINCT run FROM configurations JOIN settings ON settings.configuration = \
               configurations.id
               WHERE path = ?1 AND value IN (SELECT json_quote(value) FROM json_each(?2)) ORDER \
               BY run";
    let values = serde_json::json!(values).to_string();
    let runs: Vec<i64> = store.sql(|connection| {
        connection.prepare(sql)?.query_map([setting, &values], |row| row.get(0))?.collect()
    })?;
    runs.into_iter().map(|run| store.read_figures(run)).collect()
}
