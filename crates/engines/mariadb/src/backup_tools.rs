//! Backup tools of MariaDB and statements beside a load, as settings are checked against them.

use engine::backups::{Background, BackupTool, StatementAction};
use experiment::Configuration;
use std::process::Command;

/// The dump by its names of today and before.
pub const DUMPS: [&str; 2] = ["mariadb-dump", "mysqldump"];
/// The client by its names of today and before.
pub const CLIENTS: [&str; 2] = ["mariadb", "mysql"];
/// The package with both.
pub const PACKAGE: &str = "mariadb-client";
/// The physical backup by its names of today and before, and the program of its streams.
pub const COPIES: [&str; 2] = ["mariadb-backup", "mariabackup"];
pub const STREAM: &str = "mbstream";
/// The package with both.
pub const COPY_PACKAGE: &str = "mariadb-backup";

/// Actions beside a load.
pub const BACKGROUND: Background = Background {
    tools: &[
        BackupTool {
            name: DUMPS[0],
            compressions: &["gzip", "lz4", "zstd"],
            has_workers: false,
            has_rate_limit: true,
            is_of_server: false,
            missing: |own| missing(own, &[(&DUMPS, PACKAGE), (&CLIENTS, PACKAGE)]),
        },
        BackupTool {
            name: COPIES[0],
            compressions: &["gzip", "lz4", "zstd"],
            has_workers: true,
            has_rate_limit: true,
            is_of_server: false,
            missing: |own| missing(own, &[(&COPIES, COPY_PACKAGE), (&[STREAM], COPY_PACKAGE)]),
        },
    ],
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
    loads_beside: true,
};

/// Programs by their names, and the package with them.
type Needed<'a> = (&'a [&'a str], &'a str);

/// Names what a tool lacks.
fn missing(own: &Configuration, needed: &[Needed<'_>]) -> Option<String> {
    if own.value("target.url").is_some() {
        return Some("backups are measured on private servers; remove target.url".to_owned());
    }
    if own.value("target.volume").is_some() {
        let message = "a backup names the folders of target.volume, which its restore would use \
                       too; remove target.volume";
        return Some(message.to_owned());
    }
    let method = own.value("background.compression").map(ToString::to_string).unwrap_or_default();
    let compressor = [method.as_str()];
    let compressor =
        (!["none", ""].contains(&compressor[0])).then_some((&compressor[..], &*method));
    let all = needed.iter().copied().chain(compressor);
    all.map(|(names, package)| helpers::program::find(names, None, package))
        .find_map(Result::err)
        .map(|error| error.to_string())
}

/// The program that compresses by this method.
pub fn compressor(method: &str) -> Option<Command> {
    (!["none", ""].contains(&method)).then(|| {
        let mut command = Command::new(method);
        command.current_dir("/").args(["-c", "-q"]);
        command
    })
}
