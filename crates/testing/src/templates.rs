//! Data directories of servers: made once for a run of the suite, and copied.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The variable that names the folder with them.
const FOLDER: &str = "STEELBENCH_TEST_TEMPLATES";

/// Has `make` make a data directory, or copies one that another test made by the same recipe.
/// Without a folder for them, which `cargo xtask test` names, each test makes its own.
pub fn data_directory(recipe: &str, data: &Path, make: impl FnOnce()) {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return make() };
    let template = folder.join(observations::sha256([recipe]));
    if !template.exists() {
        let lock = File::create(template.with_extension("lock")).unwrap();
        lock.lock().unwrap();
        if !template.exists() {
            make();
            let unfinished = template.with_extension("unfinished");
            let _ = fs::remove_dir_all(&unfinished);
            copy(data, &unfinished);
            return fs::rename(unfinished, template).unwrap();
        }
    }
    copy(&template, data);
}

/// Copies a folder with its owners and permissions.
fn copy(from: &Path, to: &Path) {
    let copied =
        Command::new("cp").args(["--archive", "--reflink=auto"]).arg(from).arg(to).output();
    let copied = copied.unwrap();
    assert!(copied.status.success(), "{}", String::from_utf8_lossy(&copied.stderr));
}
