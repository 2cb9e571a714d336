//! Backup tools of PostgreSQL, and what they need.

use crate::settings;
use experiment::Configuration;

/// Physical backups.
pub(crate) const BASEBACKUP: &str = "pg_basebackup";
/// Logical backups.
pub const DUMP: &str = "pg_dump";
/// Physical backups with a repository.
pub(crate) const PGBACKREST: &str = "pgbackrest";

/// The first version with other compressions than gzip, of each tool.
const METHODS_SINCE: [(&str, u32); 2] = [(BASEBACKUP, 15), (DUMP, 16)];

/// Servers by URL are refused.
const PRIVATE_ONLY: &str = "backups are measured on private servers; remove target.url";

/// Names what a tool needs and this machine lacks.
pub(crate) fn missing(configuration: &Configuration, tool: &str) -> Option<String> {
    if tool != DUMP && configuration.value("target.volume").is_some() {
        return Some(format!(
            "{tool} of tablespaces on volumes is not supported; remove target.volume or use {DUMP}"
        ));
    }
    if configuration.value("target.url").is_some() {
        return Some(PRIVATE_ONLY.to_owned());
    }
    if tool == PGBACKREST {
        let found = servers::programs::find(&[PGBACKREST], None, PGBACKREST);
        return found.err().map(|error| error.to_string());
    }
    // A missing server is reported by itself.
    let installation = settings::installation(configuration).ok()?;
    if !installation.program(tool).is_file() {
        return Some(format!(
            "{tool} is not in {}; install the client programs (Debian: postgresql-client-{})",
            installation.bindir.display(),
            installation.version.major
        ));
    }
    let method =
        configuration.value("background.compression").map(ToString::to_string).unwrap_or_default();
    let (_, since) = METHODS_SINCE.into_iter().find(|(name, _)| *name == tool)?;
    if ["lz4", "zstd"].contains(&method.as_str()) {
        if installation.version.major < since {
            return Some(format!("{tool} compresses by {method} since version {since}"));
        }
        if tool == BASEBACKUP {
            let found = servers::programs::find(&[method.as_str()], None, &method);
            return found.err().map(|error| format!("the restore: {error}"));
        }
    }
    None
}
