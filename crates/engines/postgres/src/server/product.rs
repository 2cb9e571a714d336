//! The programs of a private server, and options of its data directory.

use super::installation::Installation;
use servers::private::{Options, Server};

/// Programs of PostgreSQL, and what is decided when a data directory is initialised.
#[derive(Debug, Clone, PartialEq)]
pub struct PostgresProduct {
    /// The programs.
    pub installation: Installation,
    /// Options of `initdb`.
    pub data: DataOptions,
}

/// A private server.
pub type PrivateServer = Server<PostgresProduct>;
/// Options of the server.
pub type ServerOptions = Options<PostgresProduct>;

/// The superuser of private servers.
pub(crate) const SUPERUSER: &str = "postgres";

/// Options fixed by initdb. The encoding is UTF-8 and strings sort by bytes (`--locale=C`): the
/// same on every machine and version.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DataOptions {
    /// True for pages with checksums; `None`: the version's default (on since 18).
    pub checksums: Option<bool>,
    /// Size of a file of the log in MB, a power of two from 1 to 1024; `None`: the version's (16).
    pub wal_segment_mb: Option<u32>,
}

impl DataOptions {
    pub(super) fn arguments(&self, major: u32) -> Vec<String> {
        let checksums = match self.checksums {
            Some(true) => Some("--data-checksums".to_owned()),
            // Before 18 they are off unless asked for, and there is no option to say so.
            Some(false) if major >= 18 => Some("--no-data-checksums".to_owned()),
            _ => None,
        };
        let segment = self.wal_segment_mb.map(|mb| format!("--wal-segsize={mb}"));
        checksums.into_iter().chain(segment).collect()
    }
}
