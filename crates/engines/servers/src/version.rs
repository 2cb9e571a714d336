//! Versions of programs of servers, and the choice among those that are installed. A program is
//! asked once: starting it takes tens of milliseconds, and each trial looks for its server.

use crate::hosted::{Client, Hosted};
use engine::{Result, lock};
use experiment::Configuration;
use observations::EngineVersion;
use observe::child::answer;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, Mutex};
use work::Stop;

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

/// The versions of the servers of an experiment, private ones and those by URL. `by_url` is the
/// version of a server, `installed` that of the programs for a private one, with their place.
pub fn versions_of<E: Hosted>(
    configurations: &[&Configuration],
    stop: &Stop,
    by_url: impl Fn(&Client<E>) -> String,
    installed: impl Fn(&Configuration) -> Result<(String, String)>,
) -> EngineVersion {
    let version_of = |configuration: &Configuration| match configuration.get(E::SETTINGS.url) {
        Some(url) => {
            let client = E::at_url(&url).and_then(|config| E::connect(&config, stop));
            let version = client.map(|client| by_url(&client));
            (version.unwrap_or_else(|error| format!("unknown ({error})")), "by URL".into())
        }
        None => installed(configuration).unwrap_or_else(|error| ("none".into(), error.to_string())),
    };
    versions(configurations, |configuration| E::SETTINGS.server(configuration), version_of)
}

/// The suitability of a version for data of a requested one; the greatest is the best. A newer
/// series reads what an older one has written; the reverse is not certain.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    Older(Vec<u32>),
    Newer(Reverse<Vec<u32>>, Vec<u32>),
    Requested(Vec<u32>),
}

/// Chooses among versions, of which the first numbers name the series, as many as `series`: one of
/// PostgreSQL's (15 of 15.18), two of MariaDB's and MySQL's (10.11 of 10.11.6). Of equal ones the
/// first is chosen; without a requested version the newest.
pub fn choose<T>(
    all: impl IntoIterator<Item = T>,
    requested: Option<&[u32]>,
    series: usize,
    numbers: impl Fn(&T) -> Vec<u32>,
) -> Option<T> {
    let fit = |item: &T| {
        let numbers = numbers(item);
        let series_of = |version: &[u32]| version[..series.min(version.len())].to_vec();
        let own_series = series_of(&numbers);
        match requested.map(series_of) {
            Some(requested_series) if own_series < requested_series => Fit::Older(numbers),
            Some(requested_series) if own_series > requested_series => {
                Fit::Newer(Reverse(own_series), numbers)
            }
            _ => Fit::Requested(numbers),
        }
    };
    all.into_iter().min_by_key(|item| Reverse(fit(item)))
}

/// States which version is measured where the source's is not available, and why.
pub fn substitution(measured: &str, source: &str, reason: &str) -> String {
    format!("Measuring on {measured} instead of {source}: {reason}.")
}

#[cfg(test)]
mod tests {
    use super::{choose, printed_version};
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

    fn chosen(installed: &[&[u32]], requested: Option<&[u32]>, series: usize) -> Vec<u32> {
        choose(installed, requested, series, |version| version.to_vec()).unwrap().to_vec()
    }

    #[test]
    fn the_newest_release_of_the_wanted_series_goes_before_newer_series() {
        let installed: &[&[u32]] = &[&[18, 6], &[15, 18], &[15, 20], &[15, 3], &[17, 2], &[14, 9]];
        for (requested, expected) in [
            (Some(&[15, 19][..]), [15, 20]),
            (Some(&[15]), [15, 20]),
            (Some(&[18, 9]), [18, 6]),
            // Not installed: the nearest newer series, else the nearest older one.
            (Some(&[16, 4]), [17, 2]),
            (Some(&[10, 23]), [14, 9]),
            (Some(&[19, 0]), [18, 6]),
            (None, [18, 6]),
        ] {
            assert_eq!(chosen(installed, requested, 1), expected, "{requested:?}");
        }
        let installed: &[&[u32]] = &[&[11, 4, 2], &[10, 6, 22], &[10, 11, 6], &[10, 11, 19]];
        assert_eq!(chosen(installed, Some(&[10, 11, 14]), 2), [10, 11, 19]);
        assert_eq!(chosen(installed, Some(&[10, 5, 1]), 2), [10, 6, 22]);
    }

    #[test]
    fn the_first_of_equal_ones_is_chosen() {
        let installed = [("a", [15, 18]), ("b", [15, 20]), ("c", [15, 20])];
        let found = choose(&installed, Some(&[15]), 1, |(_, version)| version.to_vec());
        assert_eq!(found.unwrap().0, "b");
        assert!(choose(&installed[..0], None, 1, |(_, version)| version.to_vec()).is_none());
    }
}
