//! Backup tools of MariaDB and statements beside a load, as settings are checked against them.

use engine::backups::{Background, BackupTool, StatementAction};
use experiment::Configuration;
use std::path::PathBuf;
use std::process::Command;

/// The dump by its names of today and before.
pub const DUMPS: [&str; 2] = ["mariadb-dump", "mysqldump"];
/// The client by its names of today and before.
pub const CLIENTS: [&str; 2] = ["mariadb", "mysql"];
/// The package with both.
pub const PACKAGE: &str = "mariadb-client";

/// Actions beside a load.
pub const BACKGROUND: Background = Background {
    tools: &[BackupTool {
        name: DUMPS[0],
        compressions: &["gzip", "lz4", "zstd"],
        has_workers: false,
        has_rate_limit: false,
        missing,
    }],
    actions: &[
        StatementAction {
            name: "analyze",
            statements: &["ANALYZE TABLE {table}"],
            undo: &[],
            has_workers: false,
        },
        StatementAction {
            name: "index-build",
            statements: &["CREATE INDEX steelbench_background ON {table} ({column})"],
            undo: &["DROP INDEX IF EXISTS steelbench_background ON {table}"],
            has_workers: false,
        },
    ],
};

/// Names what the dump lacks.
fn missing(own: &Configuration) -> Option<String> {
    if own.value("target.url").is_some() {
        return Some("backups are measured on private servers; remove target.url".to_owned());
    }
    if own.value("target.volume").is_some() {
        let message = "a dump names the folders of target.volume, which its restore would use too; \
                       remove target.volume";
        return Some(message.to_owned());
    }
    let method = own.value("background.compression").map(ToString::to_string).unwrap_or_default();
    let programs = [
        helpers::program::find(&DUMPS, None, PACKAGE),
        helpers::program::find(&CLIENTS, None, PACKAGE),
        compressor(&method).map_or(Ok(PathBuf::new()), |_| {
            helpers::program::find(&[method.as_str()], None, &method)
        }),
    ];
    programs.into_iter().find_map(Result::err).map(|error| error.to_string())
}

/// The program that compresses by this method.
pub fn compressor(method: &str) -> Option<Command> {
    (!["none", ""].contains(&method)).then(|| {
        let mut command = Command::new(method);
        command.current_dir("/").args(["-c", "-q"]);
        command
    })
}
