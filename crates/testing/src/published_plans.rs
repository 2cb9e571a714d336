//! Published plans of SQL Server, in a folder beside the project: see their licences there.

use std::path::{Path, PathBuf};

/// The files; none where the folder is not there.
pub fn published_plans() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/plans");
    let mut folders = vec![folder];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        let entries =
            std::fs::read_dir(&folder).into_iter().flatten().map(|entry| entry.unwrap().path());
        for path in entries {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "sqlplan") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}
