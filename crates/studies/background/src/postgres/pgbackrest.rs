//! Backups by pgBackRest (<https://pgbackrest.org/configuration.html>), with its repository and its
//! configuration in the folder of the backup.
//!
//! It does not check that the server archives its log: a replication slot keeps the log from the
//! beginning of the backup on, and the restored server takes it from there, as one from
//! `pg_basebackup` does.

use crate::programs::{self, Pipes};
use crate::server::{Session, Task};
use engine::{EngineError, Result};
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use work::Cancel;

/// Physical backups with a repository.
pub const PGBACKREST: &str = "pgbackrest";
/// The slot that keeps the log which a base backup needs to catch up.
pub const SLOT: &str = "steelbench_backup";
/// The stanza: its name for a server.
const STANZA: &str = "steelbench";
const CONFIGURATION: &str = "pgbackrest.conf";

/// Makes a repository in this new folder and a full backup of the server in it. Returns the CPU
/// seconds of the program.
pub fn take(task: &Task<'_>, session: &mut Session, path: &Path) -> Result<f64> {
    write_configuration(task, path)?;
    // From here on the server keeps its log.
    let slot = format!("SELECT pg_create_physical_replication_slot('{SLOT}', true)");
    session.run(&slot, "creating the replication slot")?;
    let environment = task.server.environment(None);
    let stanza = program(path, "stanza-create")?;
    let made_s = match programs::run(stanza, &environment, Pipes::default(), task.cancel) {
        Err(EngineError::Engine { doing, message }) => {
            let version = session.cell("SHOW server_version", "reading the server's version")?;
            let major = version.split('.').next().unwrap_or_default();
            let hint = format!("this version of pgBackRest may not know PostgreSQL {major}");
            return Err(EngineError::failed(doing, format!("{message} ({hint})")));
        }
        made => made?,
    };
    let mut backup = program(path, "backup")?;
    backup.args(["--type=full", "--no-archive-check", "--start-fast"]);
    let taken_s = programs::run(backup, &environment, Pipes::default(), task.cancel)?;
    Ok(made_s + taken_s)
}

/// Restores the backup into a data directory, without settings of a recovery.
pub fn restore(path: &Path, data: &Path, cancel: &Cancel) -> Result<()> {
    programs::make_folder(data)?;
    let mut command = program(path, "restore")?;
    command.arg("--type=preserve").arg(format!("--pg1-path={}", data.display()));
    programs::run(command, &[], Pipes::default(), cancel).map(drop)
}

/// The program with the configuration in this folder. Other settings of this machine are not read.
fn program(path: &Path, command: &str) -> Result<Command> {
    let mut pgbackrest = Command::new(engine::programs::find(&[PGBACKREST], None, PGBACKREST)?);
    let inherited: Vec<_> = std::env::vars_os().map(|(name, _)| name).collect();
    for name in inherited {
        if name.to_string_lossy().starts_with("PGBACKREST_") {
            pgbackrest.env_remove(name);
        }
    }
    pgbackrest.current_dir("/").arg(format!("--config={}", path.join(CONFIGURATION).display()));
    pgbackrest.args([&format!("--stanza={STANZA}"), command]);
    Ok(pgbackrest)
}

/// The settings that pgBackRest has of a server, and the variables with their values.
const CONNECTION: [(&str, &str); 4] = [
    ("pg1-socket-path", "PGHOST"),
    ("pg1-port", "PGPORT"),
    ("pg1-user", "PGUSER"),
    ("pg1-database", "PGDATABASE"),
];

fn write_configuration(task: &Task<'_>, path: &Path) -> Result<()> {
    let folder = |name: &str| -> Result<String> {
        let text = path.join(name);
        programs::make_folder(&text)?;
        Ok(text.to_string_lossy().into_owned())
    };
    let compression = match task.request.compression {
        "gzip" => "gz",
        "zstd" => "zst",
        other => other,
    };
    let mut lines = vec![
        "[global]".to_owned(),
        format!("repo1-path={}", folder("repository")?),
        format!("lock-path={}", folder("locks")?),
        format!("spool-path={}", folder("spool")?),
        "repo1-retention-full=1".to_owned(),
        format!("compress-type={compression}"),
        format!("process-max={}", task.request.workers),
        "log-level-file=off".to_owned(),
        "log-level-console=off".to_owned(),
        "log-level-stderr=error".to_owned(),
        format!("[{STANZA}]"),
        format!("pg1-path={}", task.server.facts().data_directory.display()),
    ];
    for (name, value) in task.server.environment(None) {
        let setting = CONNECTION.iter().find(|(_, variable)| *variable == name);
        lines.extend(setting.and_then(|(setting, _)| Some(format!("{setting}={}", value?))));
    }
    let file = path.join(CONFIGURATION);
    let text = lines.join("\n") + "\n";
    programs::make_file(&file)?.write_all(text.as_bytes()).map_err(EngineError::at(&file))
}
