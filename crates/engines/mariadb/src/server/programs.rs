//! Client programs of MariaDB and MySQL: those of a server's version, which are beside it or on the
//! `PATH`.

use super::installation::{FOLDERS, Installation, PLACES_VARIABLE, usual_places};
use super::server_version::{SERIES, ServerVersion};
use engine::programs::missing;
use engine::{Program, ProgramNames, Result};
use servers::printed_version;
use servers::programs::find_version;
use std::path::{Path, PathBuf};

/// The client.
pub const CLIENT: ProgramNames =
    ProgramNames { names: &["mariadb", "mysql"], package: "mariadb-client" };

/// A client program.
#[derive(Debug)]
pub struct ClientProgram {
    /// The path.
    pub path: PathBuf,
    /// The version and product.
    pub version: ServerVersion,
}

impl ClientProgram {
    /// Finds the program that suits a server of this version best: beside its program, or where
    /// servers are looked for.
    ///
    /// # Errors
    /// When there is none, with how to install it.
    pub fn find(
        ProgramNames { names, package }: ProgramNames,
        server: Option<&Path>,
        requested: &ServerVersion,
    ) -> Result<Self> {
        let folder = server.and_then(Path::parent);
        let nearby = folder
            .into_iter()
            .flat_map(|place_beside| FOLDERS.map(|place| place_beside.join(place)));
        let listed = [PLACES_VARIABLE, "PATH"].map(std::env::var_os).into_iter().flatten();
        let listed: Vec<PathBuf> =
            listed.flat_map(|list| std::env::split_paths(&list).collect::<Vec<_>>()).collect();
        let places: Vec<PathBuf> = nearby.chain(listed).chain(usual_places()).collect();
        let find = |is_mysql: Option<bool>| {
            let numbers = |output: &str| {
                let version = ServerVersion::of_program(output)?;
                is_mysql.is_none_or(|is| is == version.is_mysql).then_some(version.numbers)
            };
            find_version(names, &places, numbers, Some(&requested.numbers), SERIES)
        };
        let found = find(Some(requested.is_mysql)).or_else(|| find(None)).and_then(|(path, _)| {
            let version = ServerVersion::of_program(&printed_version(&path).ok()?)?;
            Some(Self { path, version })
        });
        found.ok_or_else(|| missing(names, folder, package))
    }
}

impl Installation {
    /// Finds the client program that suits this server best.
    ///
    /// # Errors
    /// As of [`ClientProgram::find`].
    pub fn client_program(&self, program: ProgramNames) -> Result<Program> {
        let server = self.server_version();
        let ClientProgram { path, version } =
            ClientProgram::find(program, Some(&self.server), &server)?;
        Ok(Program {
            path,
            major: server.numbers.first().copied().unwrap_or_default(),
            other_series: (!version.is_same_series(&server)).then(|| version.to_string()),
            server: self.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::ServerVersion;

    #[test]
    fn versions_of_programs_are_those_of_their_product() {
        for (output, expected) in [
            (
                "mariadb-dump  Ver 10.19 Distrib 10.11.19-MariaDB, for debian-linux-gnu (x86_64)",
                "MariaDB 10.11.19",
            ),
            ("mariadb from 11.4.2-MariaDB, client 15.2 for Linux (x86_64)", "MariaDB 11.4.2"),
            (
                "mariadb-backup based on MariaDB server 10.11.19-MariaDB debian-linux-gnu (x86_64)",
                "MariaDB 10.11.19",
            ),
            (
                "mysqldump  Ver 9.4.0 for Linux on x86_64 (MySQL Community Server - GPL)",
                "MySQL 9.4.0",
            ),
        ] {
            assert_eq!(ServerVersion::of_program(output).unwrap().to_string(), expected);
        }
        assert_eq!(ServerVersion::of_program("mbstream: unknown option"), None);
        let version = |text| ServerVersion::parse(text).unwrap();
        assert_eq!(version("10.11.6-MariaDB-0+deb12u1").to_string(), "MariaDB 10.11.6");
        assert!(version("10.11.6-MariaDB").is_same_series(&version("10.11.2-MariaDB-log")));
        assert!(!version("10.11.6-MariaDB").is_same_series(&version("10.11.6")));
    }
}
