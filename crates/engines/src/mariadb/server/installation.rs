//! Which MariaDB servers are installed.

use crate::EngineError;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The server's program.
pub const PROGRAM: &str = "mariadbd";
/// MySQL's server; packages of MariaDB have it as another name of their own.
const OF_MYSQL: &str = "mysqld";
/// What makes a data directory.
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

/// Where the installer is from there.
const BESIDE: [&str; 3] = [".", "../bin", "../scripts"];

/// A list of further folders, separated by colons.
const PLACES_VARIABLE: &str = "STEELBENCH_MARIADB_BINDIRS";

/// The oldest version that has all that is used here.
const OLDEST: [u32; 2] = [10, 6];

/// Programs of one version of MariaDB.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    /// The server's program.
    pub server: PathBuf,
    /// The program that makes a data directory.
    pub installer: PathBuf,
    /// Their version: 10.11.6.
    pub version: String,
}

impl Installation {
    /// All installed versions from 10.6 up, each distinct server program once: first those in `bindirs`, then those in
    /// `STEELBENCH_MARIADB_BINDIRS`, on the `PATH`, and where packages put them.
    pub fn find_all(bindirs: &[PathBuf]) -> Vec<Self> {
        let listed = |variable| std::env::var_os(variable).unwrap_or_default();
        let (ours, path) = (listed(PLACES_VARIABLE), listed("PATH"));
        let places = bindirs.iter().cloned().chain(std::env::split_paths(&ours));
        let places = places.chain(std::env::split_paths(&path)).chain(PLACES.iter().map(PathBuf::from));
        let mut seen = BTreeSet::new();
        let real = places.filter_map(|place| place.join(PROGRAM).canonicalize().ok());
        let distinct = real.filter(|server| seen.insert(server.clone()));
        distinct.filter_map(Self::of_program).filter(|found| found.numbers() >= OLDEST.to_vec()).collect()
    }

    /// One installation: of the version asked for (`10.11`, `10.11.6`), else the newest; those in `bindirs` go before
    /// others.
    ///
    /// # Errors
    /// When there is none: lists what was found, and says what to do. When a folder of `bindirs` has MySQL's server.
    pub fn find(bindirs: &[PathBuf], version: Option<&str>) -> Result<Self, EngineError> {
        let is_of_mysql = |place: &&PathBuf| place.join(OF_MYSQL).exists() && !place.join(PROGRAM).exists();
        if let Some(place) = bindirs.iter().find(is_of_mysql) {
            let message = "it holds MySQL's server, and private servers are MariaDB's; start it yourself and name it in \
                           target.url (mysql://user@host:port/)";
            return Err(EngineError::failed(format!("looking for MariaDB in {}", place.display()), message));
        }
        let given: Vec<PathBuf> = bindirs.iter().filter_map(|place| place.canonicalize().ok()).collect();
        let all = Self::find_all(bindirs);
        let fitting = all.iter().filter(|found| version.is_none_or(|wanted| found.is(wanted)));
        let is_given =
            |found: &&Self| found.server.parent().is_some_and(|folder| given.iter().any(|own| own == folder));
        let best = fitting.max_by_key(|found| (is_given(found), found.numbers()));
        best.cloned().ok_or_else(|| not_found(version, bindirs, &all))
    }

    fn of_program(server: PathBuf) -> Option<Self> {
        let folder = server.parent()?;
        let installer =
            BESIDE.iter().find_map(|beside| folder.join(beside).join(INSTALLER).canonicalize().ok())?;
        let output = Command::new(&server).arg("--version").output().ok()?;
        let version = version_of(&String::from_utf8_lossy(&output.stdout))?;
        Some(Self { server, installer, version })
    }

    fn numbers(&self) -> Vec<u32> {
        self.version.split('.').map_while(|part| part.parse().ok()).collect()
    }

    /// Whether algorithms of compression are plugins of their own: from 10.7 on.
    pub fn has_provider_plugins(&self) -> bool {
        self.numbers() >= vec![10, 7]
    }

    /// Whether this is what `10.11` or `10.11.6` asks for.
    fn is(&self, wanted: &str) -> bool {
        self.version.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }
}

/// The version in `mariadbd  Ver 10.11.6-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64`.
fn version_of(output: &str) -> Option<String> {
    let word = output.split_whitespace().find(|word| word.contains("-MariaDB"))?;
    let version = word.split('-').next()?;
    version.starts_with(|c: char| c.is_ascii_digit()).then(|| version.to_owned())
}

fn not_found(version: Option<&str>, bindirs: &[PathBuf], all: &[Installation]) -> EngineError {
    let wanted = version.map_or("MariaDB".to_owned(), |version| format!("MariaDB {version}"));
    let shown = |one: &Installation| format!("{} ({})", one.version, one.server.display());
    let found: Vec<String> = all.iter().map(shown).collect();
    let found = if found.is_empty() { "no version from 10.6 up".into() } else { found.join(", ") };
    let lacks = |place: &&PathBuf| !Path::new(place).join(PROGRAM).exists();
    let empty: Vec<String> = bindirs
        .iter()
        .filter(lacks)
        .map(|place| format!("; {} does not hold {PROGRAM}", place.display()))
        .collect();
    EngineError::failed(
        format!("looking for {wanted}"),
        format!(
            "found {found}{}; install a server (Debian: mariadb-server, Red Hat: mariadb-server) or name the folder of its \
             programs in target.bindir",
            empty.concat()
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::{Installation, version_of};

    #[test]
    fn reads_versions_as_builds_print_them() {
        let debian = "mariadbd  Ver 10.11.6-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)";
        let generic = "/usr/local/mysql/bin/mariadbd  Ver 11.4.2-MariaDB for linux-systemd on x86_64";
        assert_eq!(version_of(debian).as_deref(), Some("10.11.6"));
        assert_eq!(version_of(generic).as_deref(), Some("11.4.2"));
        assert_eq!(version_of("mysqld  Ver 8.0.36 for Linux on x86_64 (MySQL Community Server - GPL)"), None);
    }

    #[test]
    fn in_the_place_of_mysqls_server_no_other_one_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("mysqld"), "").unwrap();
        let error = Installation::find(&[folder.path().to_owned()], None).unwrap_err().to_string();
        assert!(error.contains("MySQL's server") && error.contains("target.url"), "{error}");
    }

    #[test]
    fn a_version_stands_for_all_that_begin_with_its_numbers() {
        let of = |version: &str| Installation {
            server: "s".into(),
            installer: "i".into(),
            version: version.into(),
        };
        assert!(of("10.11.6").is("10.11") && of("10.11.6").is("10.11.6") && of("10.11.6").is("10"));
        assert!(!of("10.11.6").is("10.1") && !of("10.11.6").is("10.11.5"));
        assert!(of("10.11.6").numbers() > of("10.6.18").numbers());
    }
}
