//! Backups: `pg_basebackup`, whose restore is a standby that catches up with the server,
//! pgBackRest, which is restored likewise, and `pg_dump`, which is restored into a database.

use super::pgbackrest::{self, PGBACKREST, SLOT};
use crate::programs::{self, Pipes};
use crate::server::{PRIVATE_ONLY, Product, RESTORED, Session, Task, ToolUse};
use engine::backups::Restore;
use engine::programs::find;
use engine::{EngineError, PrivateServer, ProgramNames, Result, wait_for};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use work::Cancel;

/// Physical backups.
pub const BASEBACKUP: &str = "pg_basebackup";
/// Logical backups.
pub const DUMP: &str = "pg_dump";
/// The first version with other compressions than gzip, of each tool.
const METHODS_SINCE: [(&str, u32); 2] = [(BASEBACKUP, 15), (DUMP, 16)];
/// The time that catching up may take.
const PATIENCE: Duration = Duration::from_secs(600);
/// Lines of the standby's log in errors.
const LOG_LINES: usize = 20;
/// The largest rate of `pg_basebackup`, in kB of 1,024 bytes a second; the smallest one.
const RATES_KB: [f64; 2] = [32.0, 1_048_576.0];

/// Backups of private servers.
pub const PRODUCT: Product = Product {
    create_restored: "CREATE DATABASE steelbench_restored TEMPLATE template0",
    drop_restored: "DROP DATABASE IF EXISTS steelbench_restored WITH (FORCE)",
    tables: "SELECT nspname || '.' || relname AS label, c.oid::text AS oid, \
             format('%I.%I', nspname, relname) AS table, quote_ident(nspname) AS schema, \
             quote_ident('steelbench_background_' || relname) AS name FROM pg_class c JOIN \
             pg_namespace n ON n.oid = relnamespace WHERE relkind = 'r' AND nspname !~ '^pg_' AND \
             nspname <> 'information_schema' ORDER BY nspname, relname",
    columns: "SELECT quote_ident(attname) AS column FROM pg_attribute WHERE attrelid = {oid} AND \
              attnum > 0 AND NOT attisdropped ORDER BY attnum",
    fingerprint: "SELECT count(*)::text, coalesce(sum(hashtextextended(t::text, 0)::numeric), \
                  0)::text FROM {table} t",
    complaints: None,
    disk_full: &["53100"],
    missing,
    note: |_| None,
    data_bytes,
    take,
    restore,
};

const fn names(names: &'static [&'static str]) -> ProgramNames {
    ProgramNames { names, package: "postgresql-client" }
}

/// Names what a tool needs and this machine lacks.
fn missing(used: &ToolUse<'_>) -> Option<String> {
    let ToolUse { tool, compression, configuration, .. } = *used;
    if tool != DUMP && configuration.value("target.volume").is_some() {
        return Some(format!(
            "{tool} of tablespaces on volumes is not supported; remove target.volume or use {DUMP}"
        ));
    }
    if configuration.value("target.url").is_some() {
        return Some(PRIVATE_ONLY.to_owned());
    }
    if tool == PGBACKREST {
        return find(&[PGBACKREST], None, PGBACKREST).err().map(|error| error.to_string());
    }
    let (names, since) = match tool {
        BASEBACKUP => (names(&[BASEBACKUP]), METHODS_SINCE[0].1),
        _ => (names(&[DUMP]), METHODS_SINCE[1].1),
    };
    // A missing server is reported by itself.
    let program = used.program(names)?.ok()?;
    if !program.path.is_file() {
        let folder = program.path.parent().unwrap_or(Path::new("/")).display();
        return Some(format!(
            "{tool} is not in {folder}; install the client programs (Debian: postgresql-client-{})",
            program.major
        ));
    }
    if ["lz4", "zstd"].contains(&compression) {
        if program.major < since {
            return Some(format!("{tool} compresses by {compression} since version {since}"));
        }
        if tool == BASEBACKUP {
            let found = find(&[compression], None, compression);
            return found.err().map(|error| format!("the restore: {error}"));
        }
    }
    None
}

fn data_bytes(task: &Task<'_>) -> Result<u64> {
    let sql = if task.request.tool == DUMP {
        "SELECT pg_database_size(current_database())"
    } else {
        "SELECT sum(pg_database_size(oid)) FROM pg_database"
    };
    let reading = "reading the size of the data";
    let bytes = task.session()?.cell(sql, reading)?;
    bytes.parse().map_err(|_| EngineError::failed(reading, "the server gives no number"))
}

fn take(task: &Task<'_>, path: &Path) -> Result<f64> {
    let command = match task.request.tool {
        DUMP => dump(task, path)?,
        tool => {
            let mut session = task.session()?;
            drop_slot(&mut session)?;
            programs::make_folder(path)?;
            if tool == PGBACKREST {
                return pgbackrest::take(task, &mut session, path);
            }
            basebackup(task, path)?
        }
    };
    programs::run(command, &task.server.environment(None), Pipes::default(), task.cancel)
}

fn restore(task: &Task<'_>, backup: &Path, folder: &Path) -> Result<Restore> {
    if task.request.tool == DUMP {
        return restore_dump(task, backup);
    }
    let restored = restore_base(task, backup, &folder.join("restored"));
    // Also after a stop: the slot keeps the server's log.
    let cleaning = Task { cancel: &Cancel::new(), ..*task };
    let dropped = cleaning.session().and_then(|mut session| drop_slot(&mut session));
    let restored = restored?;
    dropped.map(|()| restored)
}

/// A program of the server, which asks for no password.
fn program(task: &Task<'_>, name: &'static [&'static str]) -> Result<Command> {
    let mut command = task.command(names(name))?;
    command.arg("--no-password");
    Ok(command)
}

/// Drops the slot of an earlier trial.
fn drop_slot(session: &mut Session) -> Result<()> {
    let sql = format!(
        "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = \
         '{SLOT}'"
    );
    session.run(&sql, "dropping the replication slot")
}

/// A base backup. Its checkpoint is fast: a spread one takes minutes before the first byte.
fn basebackup(task: &Task<'_>, path: &Path) -> Result<Command> {
    let mut command = program(task, &[BASEBACKUP])?;
    command.args(["--checkpoint=fast", "--wal-method=stream", "--create-slot", "--slot", SLOT]);
    command.arg("--pgdata").arg(path);
    if let Some(rate) = task.request.rate_limit {
        let [least, most] = RATES_KB;
        let rate_kb = (rate / 1024.0).floor().clamp(least, most);
        command.arg(format!("--max-rate={rate_kb}"));
    }
    match task.request.compression {
        "none" => command.arg("--format=plain"),
        "gzip" => command.args(["--format=tar", "--gzip"]),
        method => command.arg("--format=tar").arg(format!("--compress=client-{method}")),
    };
    Ok(command)
}

fn dump(task: &Task<'_>, path: &Path) -> Result<Command> {
    let major = task.server.program(names(&[DUMP]))?.major;
    let mut command = program(task, &[DUMP])?;
    command.arg("--format=directory").arg("--file").arg(path);
    command.arg(format!("--jobs={}", task.request.workers));
    let level = match (task.request.compression, major) {
        ("none", _) => "0",
        // Its level by default; versions before 16 know gzip only.
        ("gzip", ..16) => "6",
        (method, _) => method,
    };
    command.arg(format!("--compress={level}"));
    Ok(command)
}

fn restore_dump(task: &Task<'_>, backup: &Path) -> Result<Restore> {
    let mut command = program(task, &["pg_restore"])?;
    command.arg("--exit-on-error").arg(format!("--jobs={}", task.request.workers));
    command.args(["--dbname", RESTORED]).arg(backup);
    task.restore_database(|variables| {
        programs::run(command, variables, Pipes::default(), task.cancel).map(drop)
    })
}

/// Starts a standby from a base backup and waits until it has what the server has now.
fn restore_base(task: &Task<'_>, backup: &Path, directory: &Path) -> Result<Restore> {
    let Task { server, request, cancel, .. } = *task;
    let is_plain = request.tool == BASEBACKUP && request.compression == "none";
    let start = Instant::now();
    let standby = server.copy(directory, is_plain.then_some(backup), &|data| {
        match request.tool {
            PGBACKREST => pgbackrest::restore(backup, data, cancel)?,
            _ if is_plain => {}
            _ => unpack(backup, data, cancel)?,
        }
        let signal = data.join("standby.signal");
        std::fs::write(&signal, "").map_err(EngineError::at(&signal))
    })?;
    let settings = [
        ("primary_conninfo", conninfo(server)),
        ("primary_slot_name", SLOT.to_owned()),
        ("hot_standby", "on".to_owned()),
        ("archive_mode", "off".to_owned()),
    ];
    task.restore_server(start, standby, &settings, |standby, session| {
        let sql = "SELECT pg_current_wal_lsn()::text";
        let position = task.session()?.cell(sql, sql)?;
        catch_up(standby, session, &position, cancel).map(|()| true)
    })
}

/// How a standby connects to the server.
fn conninfo(server: &dyn PrivateServer) -> String {
    let environment = server.environment(None);
    let variable = |name: &str| {
        let found = environment.iter().find(|(variable, _)| variable == name);
        found.and_then(|(_, value)| value.clone()).unwrap_or_default()
    };
    let host = variable("PGHOST").replace('\\', "\\\\").replace('\'', "\\'");
    format!("host='{host}' port={} user={}", variable("PGPORT"), server.facts().user)
}

/// Waits until a standby has replayed the log up to here.
fn catch_up(
    standby: &dyn PrivateServer,
    session: &mut Session,
    position: &str,
    cancel: &Cancel,
) -> Result<()> {
    let doing = "catching up with the server";
    let sql = format!("SELECT pg_last_wal_replay_lsn() >= '{position}'::pg_lsn");
    let done =
        wait_for(PATIENCE, cancel, || Ok((session.cell(&sql, doing)? == "t").then_some(())))?;
    done.ok_or_else(|| {
        let (seconds, log) = (PATIENCE.as_secs(), standby.log_tail(LOG_LINES));
        EngineError::failed(doing, format!("not within {seconds} s; the log ends with:\n{log}"))
    })
}

/// Unpacks the archives of a base backup.
fn unpack(from: &Path, to: &Path, cancel: &Cancel) -> Result<()> {
    for (archive, folder) in [("base", to.to_owned()), ("pg_wal", to.join("pg_wal"))] {
        if !folder.is_dir() {
            programs::make_folder(&folder)?;
        }
        let file = archive_of(from, archive)?;
        let mut command = Command::new("tar");
        command.current_dir("/");
        match file.extension().and_then(|extension| extension.to_str()) {
            Some("zst") => command.arg("--use-compress-program=zstd"),
            Some("lz4") => command.arg("--use-compress-program=lz4"),
            Some("gz") => command.arg("--gzip"),
            _ => &mut command,
        };
        command.arg("--extract").arg("--file").arg(&file).arg("--directory").arg(&folder);
        programs::run(command, &[], Pipes::default(), cancel)?;
    }
    Ok(())
}

/// The archive with this name, compressed or not.
fn archive_of(folder: &Path, name: &str) -> Result<PathBuf> {
    let entries = std::fs::read_dir(folder).map_err(EngineError::at(folder))?;
    let begin = format!("{name}.tar");
    let found = entries.flatten().map(|entry| entry.path()).find(|path| {
        path.file_name().is_some_and(|file_name| file_name.to_string_lossy().starts_with(&begin))
    });
    found.ok_or_else(|| EngineError::failed("unpacking the backup", format!("no {begin} in it")))
}
