//! The servers that are installed.

use super::server_version::{SERIES, ServerVersion};
use engine::{EngineError, Result};
use servers::{choose, printed_version};
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

/// The server's program, of MariaDB and of MySQL; packages of MariaDB have both.
pub const PROGRAMS: [&str; 2] = ["mariadbd", "mysqld"];
/// MariaDB's program that makes data directories.
const INSTALLER: &str = "mariadb-install-db";

/// Where packages put the server: Debian, Red Hat, sources, Homebrew (both).
const PLACES: [&str; 6] = [
    "/usr/sbin",
    "/usr/libexec",
    "/usr/local/mariadb/bin",
    "/usr/local/mysql/bin",
    "/opt/homebrew/opt/mariadb/bin",
    "/usr/local/opt/mariadb/bin",
];

/// Where the other programs are from there.
pub(super) const FOLDERS: [&str; 3] = [".", "../bin", "../scripts"];

/// A list of further folders, separated by colons.
pub(super) const PLACES_VARIABLE: &str = "STEELBENCH_MARIADB_BINDIRS";

/// The oldest versions of MariaDB and of MySQL that have all that is used here.
const OLDEST: [[u32; 2]; 2] = [[10, 6], [9, 0]];

/// Programs of one version of MariaDB or MySQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    /// The server's program.
    pub server: PathBuf,
    /// The program that makes a data directory; MySQL's server makes it itself.
    pub installer: Option<PathBuf>,
    /// Their version: 10.11.6.
    pub version: String,
}

impl Installation {
    /// All installed versions from MariaDB 10.6 and MySQL 9.0 up, each distinct server program
    /// once: first those in `bindirs`, then those in `STEELBENCH_MARIADB_BINDIRS`, on the
    /// `PATH`, and where packages put them.
    pub fn find_all(bindirs: &[PathBuf]) -> Vec<Self> {
        let listed = |variable| std::env::var_os(variable).unwrap_or_default();
        let (ours, path) = (listed(PLACES_VARIABLE), listed("PATH"));
        let places = bindirs.iter().cloned().chain(std::env::split_paths(&ours));
        let places = places.chain(std::env::split_paths(&path)).chain(usual_places());
        let mut servers = BTreeSet::new();
        let programs = places.flat_map(|place| programs_in(&place));
        let distinct = programs.filter(|server| servers.insert(server.clone()));
        distinct
            .filter_map(Self::of_program)
            .filter(|found| found.numbers() >= OLDEST[usize::from(found.is_mysql())].to_vec())
            .collect()
    }

    /// An installation: of the requested version (`10.11`, `10.11.6`), else the newest; those in
    /// `bindirs` go before others, and MariaDB's before MySQL's.
    ///
    /// # Errors
    /// When there is none: lists what was found, and says what to do.
    pub fn find(bindirs: &[PathBuf], version: Option<&str>) -> Result<Self> {
        let programs: Vec<PathBuf> = bindirs.iter().flat_map(|place| programs_in(place)).collect();
        let all = Self::find_all(bindirs);
        let is_given = |found: &&Self| programs.contains(&found.server);
        // In the place of a folder's server no other one is taken.
        let fitting = all.iter().filter(|found| match version {
            Some(version) => found.is(version),
            None => bindirs.is_empty() || is_given(found),
        });
        let best =
            fitting.max_by_key(|found| (is_given(found), !found.is_mysql(), found.numbers()));
        best.cloned().ok_or_else(|| not_found(version, bindirs, &all))
    }

    /// Finds the installation on which data of a server of this version is measured: the newest one
    /// of its series, else one of the nearest other series, if possible of the same product.
    ///
    /// # Errors
    /// As of [`Self::find`].
    pub fn for_source(bindirs: &[PathBuf], source: &ServerVersion) -> Result<Self> {
        let programs: Vec<PathBuf> = bindirs.iter().flat_map(|place| programs_in(place)).collect();
        let all = Self::find_all(bindirs);
        let mut fitting = all.clone();
        fitting.retain(|found| bindirs.is_empty() || programs.contains(&found.server));
        if fitting.iter().any(|found| found.is_mysql() == source.is_mysql) {
            fitting.retain(|found| found.is_mysql() == source.is_mysql);
        }
        let found = choose(fitting, Some(&source.numbers), SERIES, Self::numbers);
        found.ok_or_else(|| not_found(None, bindirs, &all))
    }

    /// States that this installation is measured instead of one of the source's version.
    pub fn substitution(&self, source: &ServerVersion) -> Option<String> {
        let reason = format!("a server of the series of {source} is not installed");
        let is_same = self.server_version().is_same_series(source);
        (!is_same).then(|| servers::substitution(&self.to_string(), &source.to_string(), &reason))
    }

    /// The version and product.
    pub fn server_version(&self) -> ServerVersion {
        ServerVersion { numbers: self.numbers(), is_mysql: self.is_mysql() }
    }

    /// The series: the value of `target.version` for its newest release.
    pub fn series(&self) -> String {
        let numbers = self.numbers().into_iter().take(SERIES);
        numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(".")
    }

    fn of_program(server: PathBuf) -> Option<Self> {
        let (version, is_mysql) = version_of(&printed_version(&server).ok()?)?;
        let installer = if is_mysql {
            None
        } else {
            Some(FOLDERS.iter().find_map(|place| {
                server.parent()?.join(place).join(INSTALLER).canonicalize().ok()
            })?)
        };
        Some(Self { server, installer, version })
    }

    /// Returns whether it is MySQL's.
    pub fn is_mysql(&self) -> bool {
        self.installer.is_none()
    }

    /// The redo log in the data directory, a file or MySQL's folder
    /// (<https://mariadb.com/kb/en/innodb-redo-log/>,
    /// <https://dev.mysql.com/doc/refman/9.4/en/innodb-redo-log.html>).
    pub fn redo_log(&self) -> &'static str {
        if self.is_mysql() { "#innodb_redo" } else { "ib_logfile0" }
    }

    fn numbers(&self) -> Vec<u32> {
        self.version.split('.').map_while(|part| part.parse().ok()).collect()
    }

    /// Returns whether compression algorithms are separate plugins: from 10.7 on.
    pub fn has_provider_plugins(&self) -> bool {
        self.numbers() >= vec![10, 7]
    }

    /// Returns whether the version matches `10.11` or `10.11.6`.
    fn is(&self, text: &str) -> bool {
        self.version.strip_prefix(text).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }
}

impl fmt::Display for Installation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", if self.is_mysql() { "MySQL" } else { "MariaDB" }, self.version)
    }
}

/// The folders in which packages put the server.
pub(super) fn usual_places() -> impl Iterator<Item = PathBuf> {
    PLACES.iter().map(PathBuf::from)
}

/// The servers in a folder, without links.
fn programs_in(place: &Path) -> Vec<PathBuf> {
    PROGRAMS.iter().filter_map(|program| place.join(program).canonicalize().ok()).collect()
}

/// The version in `mariadbd  Ver 10.11.6-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64`, and
/// whether it is MySQL's.
fn version_of(output: &str) -> Option<(String, bool)> {
    let word = output.split_once(" Ver ")?.1.split_whitespace().next()?;
    let version = word.split('-').next()?;
    let is_version = version.starts_with(|c: char| c.is_ascii_digit());
    is_version.then(|| (version.to_owned(), !word.contains("-MariaDB")))
}

fn not_found(version: Option<&str>, bindirs: &[PathBuf], all: &[Installation]) -> EngineError {
    let text = version.map(|version| format!(" {version}")).unwrap_or_default();
    let found: Vec<String> = all
        .iter()
        .map(|installation| format!("{installation} ({})", installation.server.display()))
        .collect();
    let found = if found.is_empty() {
        "no MariaDB 10.6 or later and no MySQL 9.0 or later".into()
    } else {
        found.join(", ")
    };
    let empty: Vec<String> = bindirs
        .iter()
        .filter(|place| {
            !programs_in(place)
                .iter()
                .any(|program| all.iter().any(|installation| installation.server == *program))
        })
        .map(|place| format!("; {} contains no supported server", place.display()))
        .collect();
    EngineError::failed(
        format!("looking for MariaDB or MySQL{text}"),
        format!(
            "found {found}{}; install a server (Debian: mariadb-server, Red Hat: \
             mariadb-server), or set target.bindir to the folder of its programs",
            empty.concat()
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::{Installation, version_of};

    #[test]
    fn reads_versions_as_builds_print_them() {
        let debian =
            "mariadbd  Ver 10.11.6-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)";
        let generic =
            "/usr/local/mysql/bin/mariadbd  Ver 11.4.2-MariaDB for linux-systemd on x86_64";
        let of_mysql = "mysqld  Ver 8.0.36 for Linux on x86_64 (MySQL Community Server - GPL)";
        let read = |output| version_of(output).unwrap();
        assert_eq!(read(debian), ("10.11.6".into(), false));
        assert_eq!(read(generic), ("11.4.2".into(), false));
        assert_eq!(read(of_mysql), ("8.0.36".into(), true));
        assert_eq!(version_of("mysqld: command not found"), None);
    }

    #[test]
    fn in_the_place_of_a_folders_server_no_other_one_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("mysqld"), "").unwrap();
        let error = Installation::find(&[folder.path().to_owned()], None).unwrap_err().to_string();
        assert!(
            error.contains("contains no supported server") && error.contains("target.bindir"),
            "{error}"
        );
    }

    #[test]
    fn a_version_stands_for_all_that_begin_with_its_numbers() {
        let of = |version: &str| Installation {
            server: "s".into(),
            installer: None,
            version: version.into(),
        };
        assert!(of("10.11.6").is("10.11") && of("10.11.6").is("10.11.6") && of("10.11.6").is("10"));
        assert!(!of("10.11.6").is("10.1") && !of("10.11.6").is("10.11.5"));
        assert!(of("10.11.6").numbers() > of("10.6.18").numbers());
    }
}
