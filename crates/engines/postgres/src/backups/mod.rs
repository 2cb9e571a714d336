//! Backups of a private server beside a load, and their restore: `pg_basebackup`, whose restore is
//! a standby that catches up with the server, pgBackRest, which is restored likewise, and
//! `pg_dump`, which is restored into a database.
//!
//! - `pgbackrest`: its repository and its programs
//! - `tools`: settings of backups and statements; `source`: the server that is backed up

mod pgbackrest;
mod source;
pub mod tools;

use crate::client::{Client, quote_identifier};
use crate::errors::failed_at;
use crate::instance::PostgresSchema;
use crate::server::{PrivateServer, ServerOptions};
use engine::backups::{BackgroundWork, Backup, BackupRequest, Fingerprint, Restore};
use engine::{EngineError, Result, lock};
use observe::CpuUse;
use servers::files::clone_folder;
use servers::instance::Schema as _;
use servers::private::Server;
use servers::tool::{self, Pipes};
use servers::wait_for;
use source::{SLOT, Source, connect};
use sql::statement::filled;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use tools::{BASEBACKUP, DUMP, PGBACKREST};
use work::Cancel;

/// The database into which a dump is restored.
const RESTORED: &str = "steelbench_restored";
/// The time that catching up may take.
const PATIENCE: Duration = Duration::from_secs(600);
/// Lines of the standby's log in errors.
const LOG_LINES: usize = 20;
/// The largest rate of `pg_basebackup`, in kB of 1,024 bytes a second; the smallest one.
const RATES_KB: [f64; 2] = [32.0, 1_048_576.0];

impl PostgresSchema {
    fn source(&self) -> Result<Source> {
        let private = self.common().target.private.as_ref();
        let unsupported =
            EngineError::Unsupported { engine: "a server by URL", what: "background actions" };
        private.map(|server| Source::of_server(&lock(server))).ok_or(unsupported)
    }
}

impl BackgroundWork for PostgresSchema {
    fn take(&self, request: &BackupRequest, cancel: &Cancel) -> Result<Backup> {
        let source = self.source()?;
        let mut client = source.connect(cancel)?;
        let path = request.folder.join("backup");
        let bytes = if request.tool == DUMP {
            "SELECT pg_database_size(current_database())"
        } else {
            drop_slot(&mut client)?;
            "SELECT sum(pg_database_size(oid)) FROM pg_database"
        };
        let reading = "reading the size of the data";
        let data_bytes = client.cell(bytes).map_err(failed_at(reading))?;
        let data_bytes = data_bytes
            .and_then(|data_byte| data_byte.parse().ok())
            .ok_or_else(|| EngineError::failed(reading, "the server gives no number"))?;
        let environment = source.config.client_environment();
        let run = |command| tool::run(command, &environment, Pipes::default(), cancel);
        let cpu_s = match request.tool {
            PGBACKREST => pgbackrest::take(&source, &mut client, request, &path, cancel)?,
            BASEBACKUP => {
                tool::make_folder(&path)?;
                run(basebackup(&source, request, &path))?
            }
            _ => run(dump(&source, request, &path))?,
        };
        Ok(Backup { path, server_bytes: None, data_bytes, cpu_s: Some(cpu_s), restarts: 0 })
    }

    fn restore(
        &self,
        request: &BackupRequest,
        backup: &Backup,
        folder: &Path,
        cancel: &Cancel,
    ) -> Result<Restore> {
        let source = self.source()?;
        if request.tool == DUMP {
            return restore_dump(&source, request, backup, cancel);
        }
        let directory = folder.join("restored");
        source.options.account.make_folder(&directory)?;
        let restored = restore_base(&source, request, backup, &directory, cancel);
        let dropped = source.connect(&Cancel::new()).and_then(|mut client| drop_slot(&mut client));
        let removed = std::fs::remove_dir_all(&directory).map_err(EngineError::at(&directory));
        let restored = restored?;
        dropped.and(removed).map(|()| restored)
    }

    fn fingerprints(&self) -> Result<Vec<Fingerprint>> {
        let cancel = &self.common().cancel;
        fingerprints(&mut self.source()?.connect(cancel)?)
    }

    fn perform(&self, statements: &[&str], workers: u32, cancel: &Cancel) -> Result<f64> {
        let used = CpuUse::of_this_thread();
        perform(&mut self.source()?.connect(cancel)?, statements, workers)?;
        Ok(used.seconds())
    }
}

/// Drops the slot of an earlier trial.
fn drop_slot(client: &mut Client) -> Result<()> {
    let sql = format!(
        "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = \
         '{SLOT}'"
    );
    client.query(&sql, &[]).map(drop).map_err(failed_at("dropping the replication slot"))
}

/// A base backup. Its checkpoint is fast: a spread one takes minutes before the first byte.
fn basebackup(source: &Source, request: &BackupRequest, path: &Path) -> Command {
    let mut command = source.program(BASEBACKUP);
    command.args(["--checkpoint=fast", "--wal-method=stream", "--create-slot", "--slot", SLOT]);
    command.arg("--pgdata").arg(path);
    if let Some(rate) = request.rate_limit {
        let [least, most] = RATES_KB;
        let rate_kb = (rate / 1024.0).floor().clamp(least, most);
        command.arg(format!("--max-rate={rate_kb}"));
    }
    match request.compression {
        "none" => command.arg("--format=plain"),
        "gzip" => command.args(["--format=tar", "--gzip"]),
        method => command.arg("--format=tar").arg(format!("--compress=client-{method}")),
    };
    command
}

fn dump(source: &Source, request: &BackupRequest, path: &Path) -> Command {
    let mut command = source.program(DUMP);
    command.arg("--format=directory").arg("--file").arg(path);
    command.arg(format!("--jobs={}", request.workers));
    let level = match (request.compression, source.major()) {
        ("none", _) => "0".to_owned(),
        // Its level by default; versions before 16 know gzip only.
        ("gzip", ..16) => "6".to_owned(),
        (method, _) => method.to_owned(),
    };
    command.arg(format!("--compress={level}"));
    command
}

/// Restores into a database of the private server, which is dropped then.
fn restore_dump(
    source: &Source,
    request: &BackupRequest,
    backup: &Backup,
    cancel: &Cancel,
) -> Result<Restore> {
    let mut admin = source.connect(cancel)?;
    let drop_it = format!("DROP DATABASE IF EXISTS {RESTORED} WITH (FORCE)");
    admin.batch(&drop_it).map_err(failed_at("dropping the restored database"))?;
    let start = Instant::now();
    let create = format!("CREATE DATABASE {RESTORED} TEMPLATE template0");
    admin.batch(&create).map_err(failed_at("creating a database for the restore"))?;
    let config = source.config.clone().with_database(RESTORED);
    let mut command = source.program("pg_restore");
    command.arg("--exit-on-error").arg(format!("--jobs={}", request.workers));
    command.args(["--dbname", RESTORED]).arg(&backup.path);
    tool::run(command, &config.client_environment(), Pipes::default(), cancel)?;
    let placed_s = start.elapsed().as_secs_f64();
    let mut client = connect(&config, cancel)?;
    tables(&mut client)?;
    let first_query_s = start.elapsed().as_secs_f64();
    let found = fingerprints(&mut client)?;
    drop(client);
    admin.batch(&drop_it).map_err(failed_at("dropping the restored database"))?;
    Ok(Restore::by_statements(placed_s, first_query_s, found))
}

/// Starts a standby from a base backup and waits until it has what the server has now.
fn restore_base(
    source: &Source,
    request: &BackupRequest,
    backup: &Backup,
    directory: &Path,
    cancel: &Cancel,
) -> Result<Restore> {
    let start = Instant::now();
    let options = ServerOptions { directory: directory.into(), ..source.options.clone() };
    let mut standby = Server::with_data(options, |options, data| {
        if request.tool == PGBACKREST {
            pgbackrest::restore(&backup.path, data, cancel)?;
            options.account.chown_below(data)?;
        } else if request.compression == "none" {
            clone_folder(&backup.path, data, &options.account)?;
        } else {
            unpack(&backup.path, data, cancel)?;
            options.account.chown_below(data)?;
        }
        options.account.write(&data.join("standby.signal"), "")
    })?;
    let placed_s = start.elapsed().as_secs_f64();
    standby.start_with(source.standby_settings(), cancel)?;
    let mut client = standby.connect_until(cancel)?;
    tables(&mut client)?;
    let first_query_s = start.elapsed().as_secs_f64();
    let sql = "SELECT pg_current_wal_lsn()::text";
    let cell = source.connect(cancel)?.cell(sql).map_err(failed_at(sql))?.unwrap_or_default();
    catch_up(&standby, &mut client, &cell, cancel)?;
    let caught_up_s = start.elapsed().as_secs_f64();
    let found = fingerprints(&mut client)?;
    drop(client);
    standby.remove()?;
    Ok(Restore {
        placed_s,
        first_query_s,
        // A standby answers as soon as it is consistent.
        consistent_s: first_query_s,
        caught_up_s: Some(caught_up_s),
        complaints: Vec::new(),
        tables: found,
    })
}

/// Waits until a standby has replayed the log up to here.
fn catch_up(
    standby: &PrivateServer,
    client: &mut Client,
    position: &str,
    cancel: &Cancel,
) -> Result<()> {
    let doing = "catching up with the server";
    let sql = format!("SELECT pg_last_wal_replay_lsn() >= '{position}'::pg_lsn");
    let done = wait_for(PATIENCE, cancel, || {
        let reached = client.cell(&sql).map_err(failed_at(doing))?;
        Ok((reached.as_deref() == Some("t")).then_some(()))
    })?;
    let (seconds, log) = (PATIENCE.as_secs(), standby.log_tail(LOG_LINES));
    done.ok_or_else(|| {
        EngineError::failed(doing, format!("not within {seconds} s; the log ends with:\n{log}"))
    })
}

/// Unpacks the archives of a base backup.
fn unpack(from: &Path, to: &Path, cancel: &Cancel) -> Result<()> {
    for (archive, folder) in [("base", to.to_owned()), ("pg_wal", to.join("pg_wal"))] {
        if !folder.is_dir() {
            tool::make_folder(&folder)?;
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
        tool::run(command, &[], Pipes::default(), cancel)?;
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

/// A table of the user or of a trial.
struct TableName {
    schema: String,
    name: String,
    column: String,
}

impl TableName {
    fn quoted(&self) -> String {
        format!("{}.{}", quote_identifier(&self.schema), quote_identifier(&self.name))
    }
}

/// The tables that hold rows, with the first column of each.
fn tables(client: &mut Client) -> Result<Vec<TableName>> {
    let sql = "SELECT nspname, relname, (SELECT attname FROM pg_attribute WHERE attrelid = c.oid \
               AND attnum > 0 AND NOT attisdropped ORDER BY attnum LIMIT 1) FROM pg_class c JOIN \
               pg_namespace n ON n.oid = relnamespace WHERE relkind = 'r' AND nspname !~ '^pg_' \
               AND nspname <> 'information_schema' ORDER BY 1, 2";
    let rows = client.query(sql, &[]).map_err(failed_at("reading the tables"))?;
    Ok(rows
        .iter()
        .map(|row| TableName { schema: row.text(0), name: row.text(1), column: row.text(2) })
        .collect())
}

/// Rows of each table, and the sum of the hashes of their texts.
fn fingerprints(client: &mut Client) -> Result<Vec<Fingerprint>> {
    let mut all = Vec::new();
    for table in tables(client)? {
        let sql = format!(
            "SELECT count(*)::text, coalesce(sum(hashtextextended(t::text, 0)::numeric), 0)::text \
             FROM {} t",
            table.quoted()
        );
        let doing = format!("reading table {}", table.name);
        let rows = client.query(&sql, &[]).map_err(failed_at(&doing))?;
        let row = rows.first();
        let cell = |at: usize| row.as_ref().map(|row| row.text(at)).unwrap_or_default();
        all.push(Fingerprint {
            table: format!("{}.{}", table.schema, table.name),
            rows: cell(0).parse().unwrap_or(0),
            checksum: cell(1),
        });
    }
    Ok(all)
}

/// Runs statements for each table.
fn perform(client: &mut Client, statements: &[&str], workers: u32) -> Result<()> {
    for table in tables(client)? {
        let names = [
            ("table", table.quoted()),
            ("schema", quote_identifier(&table.schema)),
            ("name", quote_identifier(&format!("steelbench_background_{}", table.name))),
            ("column", quote_identifier(&table.column)),
            ("workers", workers.to_string()),
        ];
        let names = names.each_ref().map(|(name, value)| (*name, value.as_str()));
        for text in statements {
            let sql = filled(text, &names);
            client.batch(&sql).map_err(failed_at(&sql))?;
        }
    }
    Ok(())
}
