//! Backup tools of PostgreSQL and statements beside a load, as settings are checked against them.

use crate::settings;
use engine::backups::{Background, BackupTool, StatementAction};
use experiment::Configuration;

/// Physical backups.
pub(crate) const BASEBACKUP: &str = "pg_basebackup";
/// Logical backups.
pub const DUMP: &str = "pg_dump";
/// Physical backups with a repository.
pub(crate) const PGBACKREST: &str = "pgbackrest";

/// Actions beside a load.
pub const BACKGROUND: Background = Background {
    tools: &[
        BackupTool {
            name: BASEBACKUP,
            compressions: &["gzip", "lz4", "zstd"],
            has_workers: false,
            has_rate_limit: true,
            is_of_server: false,
            missing: missing_for_base,
        },
        BackupTool {
            name: DUMP,
            compressions: &["gzip", "lz4", "zstd"],
            has_workers: true,
            has_rate_limit: false,
            is_of_server: false,
            missing: missing_for_dump,
        },
        BackupTool {
            name: PGBACKREST,
            compressions: &["gzip", "lz4", "zstd"],
            has_workers: true,
            has_rate_limit: false,
            is_of_server: false,
            missing: missing_for_pgbackrest,
        },
    ],
    actions: &[
        StatementAction {
            name: "analyze",
            statements: &["ANALYZE {table}"],
            undo: &[],
            has_workers: false,
        },
        StatementAction {
            name: "vacuum",
            statements: &["VACUUM (PARALLEL {workers}) {table}"],
            undo: &[],
            has_workers: true,
        },
        StatementAction {
            name: "index-build",
            statements: &[
                "SET max_parallel_maintenance_workers = {workers}",
                "CREATE INDEX CONCURRENTLY {name} ON {table} ({column})",
            ],
            undo: &["DROP INDEX IF EXISTS {schema}.{name}"],
            has_workers: true,
        },
    ],
    loads_beside: true,
};

/// The first version with other compressions than gzip, of each tool.
const METHODS_SINCE: [(&str, u32); 2] = [(BASEBACKUP, 15), (DUMP, 16)];

/// Servers by URL are refused.
const PRIVATE_ONLY: &str = "backups are measured on private servers; remove target.url";

fn missing_for_base(configuration: &Configuration) -> Option<String> {
    if configuration.value("target.volume").is_some() {
        return Some(format!(
            "{BASEBACKUP} of tablespaces on volumes is not supported; remove target.volume or use \
             {DUMP}"
        ));
    }
    missing(configuration, BASEBACKUP)
}

fn missing_for_pgbackrest(configuration: &Configuration) -> Option<String> {
    if configuration.value("target.volume").is_some() {
        return Some(format!(
            "{PGBACKREST} of tablespaces on volumes is not supported; remove target.volume or use \
             {DUMP}"
        ));
    }
    if configuration.value("target.url").is_some() {
        return Some(PRIVATE_ONLY.to_owned());
    }
    let found = servers::programs::find(&[PGBACKREST], None, PGBACKREST);
    found.err().map(|error| error.to_string())
}

fn missing_for_dump(configuration: &Configuration) -> Option<String> {
    missing(configuration, DUMP)
}

/// Names what the tool lacks.
fn missing(configuration: &Configuration, tool: &str) -> Option<String> {
    if configuration.value("target.url").is_some() {
        return Some(PRIVATE_ONLY.to_owned());
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
