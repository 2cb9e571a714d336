//! Versions of server programs, in their own words: asked once, as starting one takes tens of
//! milliseconds and each trial looks for its server.

use engine::lock;
use experiment::Configuration;
use observations::EngineVersion;
use observe::child::answer;
use std::collections::HashMap;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, Mutex};

/// A program's file; another one after an upgrade, which may happen during a run of days.
#[derive(PartialEq, Eq, Hash)]
struct ProgramFile {
    path: PathBuf,
    device: u64,
    inode: u64,
    changed_ns: i128,
}

static PRINTED: LazyLock<Mutex<HashMap<ProgramFile, String>>> = LazyLock::new(Mutex::default);

/// Returns what a program prints when it is asked with `--version`, to either output: backup
/// programs use the one for errors.
///
/// # Errors
/// When the file cannot be read, or the program does not start or end, or fails.
pub fn printed_version(program: &Path) -> io::Result<String> {
    let found = program.metadata()?;
    let changed_ns = i128::from(found.ctime()) * 1_000_000_000 + i128::from(found.ctime_nsec());
    let file =
        ProgramFile { path: program.into(), device: found.dev(), inode: found.ino(), changed_ns };
    if let Some(known) = lock(&PRINTED).get(&file) {
        return Ok(known.clone());
    }
    let output = answer(Command::new(program).arg("--version"))?;
    if !output.status.success() {
        return Err(io::Error::other(output.status.to_string()));
    }
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    lock(&PRINTED).insert(file, text.clone());
    Ok(text)
}

/// The versions of the servers of an experiment, each read once: `server` identifies them by their
/// settings, `version_of` returns a version and its options.
pub fn versions<K: PartialEq>(
    configurations: &[&Configuration],
    server: impl Fn(&Configuration) -> K,
    version_of: impl Fn(&Configuration) -> (String, String),
) -> EngineVersion {
    let mut distinct: Vec<&Configuration> = Vec::new();
    for configuration in configurations {
        if distinct.iter().all(|known| server(known) != server(configuration)) {
            distinct.push(configuration);
        }
    }
    let (versions, options): (Vec<String>, Vec<String>) =
        distinct.into_iter().map(version_of).unzip();
    EngineVersion { version: versions.join(", "), options }
}

#[cfg(test)]
mod tests {
    use super::printed_version;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_program_is_asked_again_when_it_has_changed() {
        let folder = tempfile::tempdir().unwrap();
        let (program, text) = (folder.path().join("server"), folder.path().join("asked"));
        let install = |version: u32| {
            let text = format!("#!/bin/sh\necho x >> {}\necho {version}\n", text.display());
            let new = folder.path().join("new");
            std::fs::write(&new, text).unwrap();
            std::fs::set_permissions(&new, Permissions::from_mode(0o755)).unwrap();
            std::fs::rename(&new, &program).unwrap();
        };
        let times = || std::fs::read_to_string(&text).unwrap().lines().count();
        install(1);
        assert_eq!(printed_version(&program).unwrap(), "1\n");
        assert_eq!(printed_version(&program).unwrap(), "1\n");
        assert_eq!(times(), 1);
        install(2);
        assert_eq!(printed_version(&program).unwrap(), "2\n");
        assert_eq!(times(), 2);
        assert!(printed_version(&folder.path().join("absent")).is_err());
    }
}
