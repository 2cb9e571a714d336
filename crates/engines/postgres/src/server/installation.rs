//! The PostgreSQL servers that are installed.

use engine::programs::{find, missing};
use engine::{EngineError, Program, ProgramNames, Result};
use servers::programs::find_version;
use servers::{choose, printed_version};
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

/// Where packages put the programs of a version: Debian, Red Hat, Homebrew (both), sources.
/// A star stands for the rest of one name.
const PLACES: &[&str] = &[
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/opt/homebrew/opt/postgresql*/bin",
    "/usr/local/opt/postgresql*/bin",
    "/usr/local/pgsql/bin",
];

/// A list of further folders, separated by colons.
const PLACES_VARIABLE: &str = "STEELBENCH_PG_BINDIRS";

/// The package of the programs for clients.
const CLIENTS_PACKAGE: &str = "postgresql-client";

/// The numbers of a version that name its series: the major version.
const SERIES: usize = 1;

/// Older versions have left the care of their makers and lack statistics that we read.
const MAJOR_MIN: u32 = 14;

/// A version of PostgreSQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// 15 of 15.18.
    pub major: u32,
    /// 18 of 15.18; 0 for a version that is not released yet.
    pub minor: u32,
}

/// Programs of one version of PostgreSQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    /// The folder with `postgres` and `initdb`.
    pub bindir: PathBuf,
    /// Their version.
    pub version: Version,
}

impl Version {
    /// Reads the version in what a program prints, `postgres (PostgreSQL) 15.18 (Debian 15.18-1)`,
    /// in a server's `server_version`, or in a dump.
    pub(crate) fn parse(output: &str) -> Option<Self> {
        let text = output
            .split_whitespace()
            .find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
        let (major, rest) =
            text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
        // `19devel` and `19beta1` have no minor version.
        let minor = rest.strip_prefix('.').and_then(|minor| {
            minor.split(|c: char| !c.is_ascii_digit()).next().and_then(|minor| minor.parse().ok())
        });
        Some(Self { major: major.parse().ok()?, minor: minor.unwrap_or(0) })
    }

    fn numbers(self) -> [u32; 2] {
        [self.major, self.minor]
    }

    /// Returns whether the version matches `15` or `15.18`.
    fn is(self, text: &str) -> bool {
        text == self.major.to_string() || text == self.to_string()
    }
}

impl fmt::Display for Version {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}", self.major, self.minor)
    }
}

impl Installation {
    /// All installed versions from 14 up, each distinct server program once: first those in
    /// `bindirs`, then those in `STEELBENCH_PG_BINDIRS`, on the `PATH`, and where packages put
    /// them.
    pub fn find_all(bindirs: &[PathBuf]) -> Vec<Self> {
        let places = bindirs.iter().cloned().chain(listed(PLACES_VARIABLE));
        let places = places.chain(listed("PATH")).chain(usual_places());
        let mut bindirs = BTreeSet::new();
        let real =
            places.filter(|place| place.is_absolute()).filter_map(|place| real_bindir(&place));
        let distinct = real.filter(|bindir| bindirs.insert(bindir.clone()));
        distinct
            .filter_map(Self::in_bindir)
            .filter(|found| found.version.major >= MAJOR_MIN)
            .collect()
    }

    /// Finds an installation of this version (`15`, `15.18`), else the newest; those in `bindirs`
    /// go before others. When there is none, the error lists what was found and what to do.
    pub fn find(bindirs: &[PathBuf], version: Option<&str>) -> Result<Self> {
        let mut all = Self::find_all(bindirs);
        let found = all.clone();
        all.retain(|found| version.is_none_or(|version| found.version.is(version)));
        Self::choose(all, bindirs, None).ok_or_else(|| not_found(version, bindirs, &found))
    }

    /// Finds the installation on which data of a server of this version is measured: the newest one
    /// of its major version, else one of the nearest other version.
    pub fn for_source(bindirs: &[PathBuf], source: Version) -> Result<Self> {
        let all = Self::find_all(bindirs);
        let found = Self::choose(all, bindirs, Some(source));
        found.ok_or_else(|| not_found(None, bindirs, &[]))
    }

    fn choose(mut all: Vec<Self>, bindirs: &[PathBuf], requested: Option<Version>) -> Option<Self> {
        let places: BTreeSet<PathBuf> =
            bindirs.iter().filter_map(|place| real_bindir(place)).collect();
        if all.iter().any(|found| places.contains(&found.bindir)) {
            all.retain(|found| places.contains(&found.bindir));
        }
        let requested_numbers = requested.map(Version::numbers);
        choose(all, requested_numbers.as_ref().map(<[u32; 2]>::as_slice), SERIES, |found| {
            found.version.numbers().to_vec()
        })
    }

    /// States that this installation is measured instead of one of the source's version.
    pub fn substitution(&self, source: Version) -> Option<String> {
        let Version { major, .. } = source;
        let reason = format!("PostgreSQL {major} is not installed (Debian: postgresql-{major})");
        substitution(self.version, source, &reason)
    }

    /// The client program of its version: in its folder.
    pub fn client_program(&self, program: ProgramNames) -> Program {
        Program {
            path: self.program(program.names[0]),
            server: format!("PostgreSQL {}", self.version),
            major: self.version.major,
            other_series: None,
        }
    }

    /// The path of one of its programs.
    pub fn program(&self, name: &str) -> PathBuf {
        self.bindir.join(name)
    }

    fn in_bindir(bindir: PathBuf) -> Option<Self> {
        if !bindir.join("initdb").exists() {
            return None;
        }
        let version = Version::parse(&printed_version(&bindir.join("postgres")).ok()?)?;
        Some(Self { bindir, version })
    }
}

/// A program for clients.
#[derive(Debug)]
pub struct ClientProgram {
    /// The path.
    pub path: PathBuf,
    /// The version.
    pub version: Version,
}

impl ClientProgram {
    /// Finds the program that suits a server of this version best, without one the newest: in this
    /// folder, or where servers are looked for. The `PATH` is last: Debian's programs there start
    /// those of any version.
    pub fn find(name: &str, bindir: Option<&Path>, requested: Option<Version>) -> Result<Self> {
        let places = bindir.map(Path::to_path_buf).into_iter().chain(listed(PLACES_VARIABLE));
        let places: Vec<PathBuf> = places.chain(usual_places()).chain(listed("PATH")).collect();
        let requested_numbers = requested.map(Version::numbers);
        let numbers = |text: &str| Version::parse(text).map(|version| version.numbers().to_vec());
        let requested_slice = requested_numbers.as_ref().map(<[u32; 2]>::as_slice);
        let found = find_version(&[name], &places, numbers, requested_slice, SERIES);
        match found.as_ref().map(|(path, numbers)| (path, numbers.as_slice())) {
            Some((path, &[major, minor])) => {
                Ok(Self { path: path.clone(), version: Version { major, minor } })
            }
            _ => Err(missing(&[name], bindir, CLIENTS_PACKAGE)),
        }
    }
}

/// Finds psql, which runs SQL on servers of any version: in this folder or on the `PATH`; without a
/// folder also where servers are looked for.
pub fn psql(bindir: Option<&Path>) -> Result<PathBuf> {
    match bindir {
        Some(_) => find(&["psql"], bindir, CLIENTS_PACKAGE),
        None => ClientProgram::find("psql", None, None).map(|program| program.path),
    }
}

/// States for what reason another major version is measured instead of the source's.
pub fn substitution(measured: Version, source: Version, reason: &str) -> Option<String> {
    let [measured_name, source_name] =
        [measured, source].map(|version| format!("PostgreSQL {version}"));
    (measured.major != source.major)
        .then(|| servers::substitution(&measured_name, &source_name, reason))
}

/// The folder of the program that is linked to here: `initdb` and the libraries are beside it.
fn real_bindir(bindir: &Path) -> Option<PathBuf> {
    bindir.join("postgres").canonicalize().ok()?.parent().map(Path::to_path_buf)
}

/// The folders in a variable.
fn listed(variable: &str) -> Vec<PathBuf> {
    std::env::split_paths(&std::env::var_os(variable).unwrap_or_default()).collect()
}

/// The folders in which packages put their programs.
fn usual_places() -> impl Iterator<Item = PathBuf> {
    PLACES.iter().flat_map(|pattern| expand(pattern))
}

/// The folders that a pattern with at most one star stands for, in order of their names.
fn expand(pattern: &str) -> Vec<PathBuf> {
    let Some((before, after)) = pattern.split_once('*') else { return vec![pattern.into()] };
    let (parent, prefix) = before.rsplit_once('/').unwrap_or(("", before));
    let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
    let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix));
    let mut found: Vec<PathBuf> =
        named.map(|entry| entry.path().join(after.trim_start_matches('/'))).collect();
    found.sort();
    found
}

fn not_found(version: Option<&str>, bindirs: &[PathBuf], all: &[Installation]) -> EngineError {
    let text = version.map_or("PostgreSQL".to_owned(), |version| format!("PostgreSQL {version}"));
    let found: Vec<String> = all
        .iter()
        .map(|installation| {
            format!("{} in {}", installation.version, installation.bindir.display())
        })
        .collect();
    let found = if found.is_empty() { "no version 14 or later".into() } else { found.join(", ") };
    let empty: Vec<String> = bindirs
        .iter()
        .filter(|place| !place.join("postgres").exists() || !place.join("initdb").exists())
        .map(|place| format!("; {} does not contain postgres and initdb", place.display()))
        .collect();
    let major = version.map_or("VERSION", |version| version.split('.').next().unwrap_or(version));
    EngineError::failed(
        format!("looking for {text}"),
        format!(
            "found {found}{}; install a server (Debian: postgresql-{major}, Red Hat: \
             postgresql{major}-server), or set target.bindir to the folder of its programs",
            empty.concat()
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::{Version, expand};

    #[test]
    fn reads_versions_as_builds_print_them() {
        for (output, major, minor) in [
            ("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n", 15, 18),
            ("postgres (PostgreSQL) 18.4", 18, 4),
            ("postgres (PostgreSQL) 19devel", 19, 0),
            ("postgres (PostgreSQL) 18beta1", 18, 0),
            ("postgres (EnterpriseDB) 16.2.1", 16, 2),
        ] {
            assert_eq!(Version::parse(output), Some(Version { major, minor }), "{output}");
        }
        assert_eq!(Version::parse("bash: postgres: command not found"), None);
    }

    #[test]
    fn a_major_version_stands_for_all_its_minor_ones() {
        let version = Version { major: 15, minor: 18 };
        assert!(version.is("15") && version.is("15.18"));
        assert!(!version.is("15.1") && !version.is("1") && !version.is("18") && !version.is(""));
    }

    #[test]
    fn a_star_stands_for_the_rest_of_a_name() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["pg-14/bin", "pg-15/bin", "other/bin"] {
            std::fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        let pattern = format!("{}/pg-*/bin", folder.path().display());
        let expected = ["pg-14/bin", "pg-15/bin"].map(|name| folder.path().join(name));
        assert_eq!(expand(&pattern), expected);
        assert_eq!(expand("/a/b"), [std::path::PathBuf::from("/a/b")]);
    }
}
