//! The origin of the binary, for `--version --json`: the commit and the target. Ready experiments.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-env-changed=STEELBENCH_COMMIT");
    println!("cargo::rustc-env=STEELBENCH_TARGET={}", env::var("TARGET").unwrap_or_default());
    println!("cargo::rustc-env=STEELBENCH_COMMIT={}", commit());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    println!("cargo::rerun-if-changed={}", folder.display());
    let table = env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default().join("ready.rs");
    fs::write(table, format!("&[{}]", ready(&folder, "")?))
}

/// The ready experiments in a folder and the folders in it, each with the scripts that it names, as
/// `src/ready.rs` includes them.
fn ready(folder: &Path, name: &str) -> io::Result<String> {
    let mut table = String::new();
    let entries = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut paths: Vec<PathBuf> = entries.collect::<io::Result<_>>()?;
    paths.sort();
    let (folders, files): (Vec<_>, Vec<_>) = paths.into_iter().partition(|path| path.is_dir());
    let (experiments, scripts): (Vec<_>, Vec<_>) =
        files.into_iter().partition(|path| path.extension().is_some_and(|ending| ending == "toml"));
    for path in experiments {
        let text = fs::read_to_string(&path)?;
        let named = scripts.iter().filter(|script| has_word(&text, &name_of(script)));
        let stem = name_of(&path.with_extension(""));
        let _ = write!(table, "Ready {{ folder: {name:?}, name: {stem:?}, files: &[");
        for path in [&path].into_iter().chain(named) {
            let (name, path) = (name_of(path), path.display().to_string());
            let _ = write!(table, "ReadyFile {{ name: {name:?}, text: include_str!({path:?}) }},");
        }
        table += "] },\n";
    }
    for path in folders {
        table += &ready(&path, &name_of(&path))?;
    }
    Ok(table)
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns whether a text names a file, not one whose longer name ends so.
fn has_word(text: &str, name: &str) -> bool {
    let continues = |c: char| c.is_alphanumeric() || c == '-';
    text.match_indices(name).any(|(at, _)| !text[..at].ends_with(continues))
}

/// The commit that packagers give, or that the working tree has. A debug build has none, so that a
/// commit does not make developers compile again.
fn commit() -> String {
    const UNKNOWN: &str = "unknown";
    if let Ok(commit) = env::var("STEELBENCH_COMMIT") {
        return commit;
    }
    if env::var("PROFILE").is_ok_and(|profile| profile == "debug") {
        return UNKNOWN.into();
    }
    println!("cargo::rerun-if-changed=../../.git/HEAD");
    let output = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output();
    let hash = output.ok().filter(|output| output.status.success());
    hash.and_then(|output| String::from_utf8(output.stdout).ok())
        .map_or_else(|| UNKNOWN.into(), |hash| hash.trim().to_owned())
}
