//! Backups by pgBackRest (<https://pgbackrest.org/configuration.html>), with its repository and its
//! configuration in the folder of the backup.
//!
//! It does not check that the server archives its log: a replication slot keeps the log from the
//! beginning of the backup on, and the restored server takes it from there, as one from
//! `pg_basebackup` does.

use super::source::{SLOT, Source};
use super::tools::PGBACKREST;
use crate::client::Client;
use crate::errors::failed_at;
use engine::backups::BackupRequest;
use engine::{EngineError, Result};
use servers::tool::{self, Pipes};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use work::Cancel;

/// The stanza: its name for a server.
const STANZA: &str = "steelbench";
const CONFIGURATION: &str = "pgbackrest.conf";

/// Makes a repository in this new folder and a full backup of the server in it. Returns the CPU
/// seconds of the program.
pub fn take(
    source: &Source,
    client: &mut Client,
    request: &BackupRequest,
    path: &Path,
    cancel: &Cancel,
) -> Result<f64> {
    tool::make_folder(path)?;
    write_configuration(source, client, request, path)?;
    // From here on the server keeps its log.
    let slot = format!("SELECT pg_create_physical_replication_slot('{SLOT}', true)");
    client.query(&slot, &[]).map_err(failed_at("creating the replication slot"))?;
    let environment = source.config.client_environment();
    let stanza = program(path, "stanza-create")?;
    let made = tool::run(stanza, &environment, Pipes::default(), cancel);
    let made_s = made.map_err(|error| match error {
        EngineError::Engine { doing, message } => {
            let major = source.major();
            let hint = format!("this version of pgBackRest may not know PostgreSQL {major}");
            EngineError::failed(doing, format!("{message} ({hint})"))
        }
        other => other,
    })?;
    let mut backup = program(path, "backup")?;
    backup.args(["--type=full", "--no-archive-check", "--start-fast"]);
    let taken_s = tool::run(backup, &environment, Pipes::default(), cancel)?;
    Ok(made_s + taken_s)
}

/// Restores the backup into a data directory, without settings of a recovery.
pub fn restore(path: &Path, data: &Path, cancel: &Cancel) -> Result<()> {
    if !data.is_dir() {
        tool::make_folder(data)?;
    }
    let mut command = program(path, "restore")?;
    command.arg("--type=preserve").arg(format!("--pg1-path={}", data.display()));
    tool::run(command, &[], Pipes::default(), cancel).map(drop)
}

/// The program with the configuration in this folder. Other settings of this machine are not read.
fn program(path: &Path, command: &str) -> Result<Command> {
    let mut pgbackrest = Command::new(servers::programs::find(&[PGBACKREST], None, PGBACKREST)?);
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

fn write_configuration(
    source: &Source,
    client: &mut Client,
    request: &BackupRequest,
    path: &Path,
) -> Result<()> {
    let sql = "SHOW data_directory";
    let data = client.cell(sql).map_err(failed_at(sql))?.unwrap_or_default();
    let folder = |name: &str| -> Result<String> {
        let text = path.join(name);
        tool::make_folder(&text)?;
        Ok(text.to_string_lossy().into_owned())
    };
    let compression = match request.compression {
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
        format!("process-max={}", request.workers),
        "log-level-file=off".to_owned(),
        "log-level-console=off".to_owned(),
        "log-level-stderr=error".to_owned(),
        format!("[{STANZA}]"),
        format!("pg1-path={data}"),
    ];
    lines.extend(source.connection().into_iter().map(|(name, value)| format!("{name}={value}")));
    let file: PathBuf = path.join(CONFIGURATION);
    let text = lines.join("\n") + "\n";
    tool::make_file(&file)?.write_all(text.as_bytes()).map_err(EngineError::at(&file))
}
