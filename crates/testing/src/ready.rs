//! The ready experiments of the repository and their scripts, in whichever folder they are.

use std::path::{Path, PathBuf};

/// All experiment files, in the order of their paths.
pub fn experiments() -> Vec<PathBuf> {
    let is_experiment = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "toml");
    let found: Vec<PathBuf> = files().into_iter().filter(is_experiment).collect();
    assert!(found.len() > 100, "{found:?}");
    found
}

/// A file by its name: `disk-grid.toml`, `loop-volume.sh`.
pub fn file(name: &str) -> PathBuf {
    let found = files().into_iter().find(|path| path.ends_with(name));
    found.unwrap_or_else(|| panic!("no ready experiment has a file {name}"))
}

/// The text of an experiment.
pub fn text(name: &str) -> String {
    std::fs::read_to_string(file(&format!("{name}.toml"))).unwrap()
}

fn files() -> Vec<PathBuf> {
    let listed = |folder: PathBuf| folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let (folders, mut files): (Vec<_>, Vec<_>) = listed(root).partition(|path| path.is_dir());
    files.extend(folders.into_iter().flat_map(listed));
    files.sort();
    files
}
