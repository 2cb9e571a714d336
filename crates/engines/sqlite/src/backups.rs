//! Backups of data files: by the backup interface in steps, and by `VACUUM INTO`.
//!
//! A step of the backup interface begins again from the first page when another connection has
//! written since the last one (<https://www.sqlite.org/backup.html>). With a write-ahead log the
//! source therefore holds a read transaction, so that all steps see one snapshot; the log grows
//! until the end. Other journals would stop writers for that long: there the backup begins again,
//! and after some times copies the rest in one step.

use super::connection::{self, DataFiles, STEPS_BETWEEN_LOOKS};
use super::failures::failed;
use super::instance::SqliteInstance;
use engine::backups::{BackgroundWork, Backup, BackupRequest, Fingerprint, Restore};
use engine::{EngineError, Result};
use observations::fnv1a_64;
use observe::CpuUse;
use rusqlite::backup::{Backup as Steps, StepResult};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use work::Cancel;
use work::sql::statement::filled;

/// The tool of the backup interface; the other one is `VACUUM INTO`.
const BACKUP_API: &str = "backup-api";
/// Bytes of a step without a rate limit: a request to stop is noticed after it.
const STEP_BYTES: u64 = 1 << 20;
/// Steps a second with a rate limit, enough for the load to see an even rate.
const STEPS_A_SECOND: f64 = 100.0;
/// Beginnings again after which the rest is copied in one step.
const RESTARTS_MAX: u64 = 3;
/// The pause after a step that found the source locked.
const BUSY_PAUSE: Duration = Duration::from_millis(5);

impl BackgroundWork for SqliteInstance {
    fn take(&self, request: &BackupRequest, cancel: &Cancel) -> Result<Backup> {
        let path = request.folder.join("backup");
        std::fs::create_dir(&path).map_err(EngineError::at(&path))?;
        let used = CpuUse::of_this_thread();
        let (mut restarts, mut data_bytes) = (0, 0);
        for (source, target) in self.files.paths.iter().zip(copies(&self.files, &path)) {
            let connection = connection::open(source, false)?;
            data_bytes += bytes_of(&connection, source)?;
            restarts += match request.tool {
                BACKUP_API => copy_in_steps(&connection, source, &target, request, cancel)?,
                _ => vacuum_into(connection, source, &target, cancel)?,
            };
        }
        Ok(Backup { path, server_bytes: None, data_bytes, cpu_s: Some(used.seconds()), restarts })
    }

    fn restore(
        &self,
        _: &BackupRequest,
        backup: &Backup,
        folder: &Path,
        cancel: &Cancel,
    ) -> Result<Restore> {
        let (start, path) = (Instant::now(), folder.join("restored"));
        std::fs::create_dir(&path).map_err(EngineError::at(&path))?;
        let (from, to) = (copies(&self.files, &backup.path), copies(&self.files, &path));
        for (from, to) in from.iter().zip(&to) {
            std::fs::copy(from, to).map_err(EngineError::at(to))?;
        }
        let mut restored =
            Restore { placed_s: start.elapsed().as_secs_f64(), ..Restore::default() };
        let connections: Vec<Connection> =
            to.iter().map(|path| open_restored(path, cancel)).collect::<Result<_, _>>()?;
        for (connection, path) in connections.iter().zip(&to) {
            tables(connection, path)?;
        }
        restored.first_query_s = start.elapsed().as_secs_f64();
        for (connection, path) in connections.iter().zip(&to) {
            restored.complaints.extend(complaints(connection, path)?);
        }
        restored.consistent_s = start.elapsed().as_secs_f64();
        let all = connections.iter().zip(&to).enumerate();
        for (number, (connection, path)) in all {
            restored.tables.extend(fingerprints(connection, path, number, cancel)?);
        }
        drop(connections);
        std::fs::remove_dir_all(&path).map_err(EngineError::at(&path))?;
        Ok(restored)
    }

    fn fingerprints(&self) -> Result<Vec<Fingerprint>> {
        let mut all = Vec::new();
        for (number, path) in self.files.paths.iter().enumerate() {
            let connection = connection::open(path, false)?;
            all.extend(fingerprints(&connection, path, number, &self.files.cancel)?);
        }
        Ok(all)
    }

    fn perform(&self, statements: &[&str], _: u32, cancel: &Cancel) -> Result<f64> {
        let used = CpuUse::of_this_thread();
        for path in &self.files.paths {
            run(&self.files.connect_to(path)?, path, statements, cancel)?;
        }
        Ok(used.seconds())
    }
}

/// Runs statements for each table of a file, each waiting for locks as the load does.
fn run(connection: &Connection, path: &Path, statements: &[&str], cancel: &Cancel) -> Result<()> {
    for table in tables(connection, path)? {
        let sql = "SELECT name FROM pragma_table_info(?1) ORDER BY pk = 0 DESC, cid LIMIT 1";
        let column: String = connection
            .query_row(sql, [&table], |row| row.get(0))
            .map_err(|error| failed(format!("reading the columns of {table}"), &error))?;
        for text in statements {
            if cancel.is_cancelled() {
                return Err(EngineError::Cancelled);
            }
            let sql = filled(text, &[("table", &table), ("column", &column)]);
            connection.execute_batch(&sql).map_err(|error| failed(sql.clone(), &error))?;
        }
    }
    Ok(())
}

/// The files of a backup, one for each data file.
fn copies(files: &DataFiles, folder: &Path) -> Vec<PathBuf> {
    let names = files.paths.iter().filter_map(|path| path.file_name());
    names.map(|name| folder.join(name)).collect()
}

/// Bytes of a database, as far as its log has them too.
fn bytes_of(connection: &Connection, path: &Path) -> Result<u64> {
    let number = |name: &str| {
        let value = connection.pragma_query_value(None, name, |row| row.get::<_, u64>(0));
        value.map_err(|error| failed(format!("reading the size of {}", path.display()), &error))
    };
    Ok(number("page_count")? * number("page_size")?)
}

/// Copies a database in steps; returns how often it began again.
fn copy_in_steps(
    source: &Connection,
    path: &Path,
    target: &Path,
    request: &BackupRequest,
    cancel: &Cancel,
) -> Result<u64> {
    let failed = |error: rusqlite::Error| failed(format!("backing up {}", path.display()), &error);
    let mode = source.pragma_query_value(None, "journal_mode", |row| row.get::<_, String>(0));
    if mode.map_err(failed)? == "wal" {
        let snapshot = "BEGIN; SELECT count(*) FROM sqlite_schema";
        source.execute_batch(snapshot).map_err(failed)?;
    }
    let page_bytes =
        source.pragma_query_value(None, "page_size", |row| row.get::<_, u64>(0)).map_err(failed)?;
    let step_bytes = request.rate_limit.map_or(STEP_BYTES as f64, |rate| rate / STEPS_A_SECOND);
    let pages = (step_bytes / page_bytes as f64).ceil().clamp(1.0, f64::from(i32::MAX)) as i32;
    let mut copy = Connection::open(target).map_err(failed)?;
    // One that is not complete is removed: it needs no syncs until its end.
    copy.execute_batch("PRAGMA synchronous = OFF").map_err(failed)?;
    let steps = Steps::new(source, &mut copy).map_err(failed)?;
    let (start, mut copied, mut left, mut restarts) = (Instant::now(), 0.0, i32::MAX, 0);
    loop {
        if cancel.is_cancelled() {
            return Err(EngineError::Cancelled);
        }
        let at_once = if restarts > RESTARTS_MAX { -1 } else { pages };
        match steps.step(at_once).map_err(failed)? {
            StepResult::Done => break,
            StepResult::Busy | StepResult::Locked => std::thread::sleep(BUSY_PAUSE),
            _ => {
                let now_left = steps.progress().remaining;
                restarts += u64::from(now_left >= left);
                left = now_left;
                copied += f64::from(at_once) * page_bytes as f64;
                if let Some(rate) = request.rate_limit {
                    cancel.wait_until(start + Duration::from_secs_f64(copied / rate));
                }
            }
        }
    }
    drop(steps);
    drop(copy);
    let written = std::fs::File::open(target).and_then(|file| file.sync_all());
    written.map_err(EngineError::at(target))?;
    Ok(restarts)
}

/// Writes a compacted copy; it never begins again.
fn vacuum_into(mut source: Connection, path: &Path, target: &Path, cancel: &Cancel) -> Result<u64> {
    let stop = cancel.clone();
    let watched = source.progress_handler(STEPS_BETWEEN_LOOKS, Some(move || stop.is_cancelled()));
    let target = target.to_string_lossy();
    watched.and_then(|()| source.execute("VACUUM INTO ?1", [target])).map_err(
        |error| match error.sqlite_error_code() {
            Some(ErrorCode::OperationInterrupted) => EngineError::Cancelled,
            _ => failed(format!("VACUUM INTO of {}", path.display()), &error),
        },
    )?;
    Ok(0)
}

fn open_restored(path: &Path, cancel: &Cancel) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let stop = cancel.clone();
    let opened = Connection::open_with_flags(path, flags);
    let watched = opened.and_then(|mut opened| {
        opened.progress_handler(STEPS_BETWEEN_LOOKS, Some(move || stop.is_cancelled()))?;
        Ok(opened)
    });
    watched.map_err(|error| failed(format!("opening {}", path.display()), &error))
}

/// Names of the tables of a database.
fn tables(connection: &Connection, path: &Path) -> Result<Vec<String>> {
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' \
               ESCAPE '\\' ORDER BY name";
    let names = connection.prepare(sql).and_then(|mut statement| {
        statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()
    });
    names.map_err(|error| failed(format!("reading the tables of {}", path.display()), &error))
}

/// The complaints of SQLite's own check.
fn complaints(connection: &Connection, path: &Path) -> Result<Vec<String>> {
    let lines = connection.prepare("PRAGMA integrity_check").and_then(|mut statement| {
        statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()
    });
    let lines = lines.map_err(|error| failed(format!("checking {}", path.display()), &error))?;
    Ok(lines.into_iter().filter(|line| line != "ok").collect())
}

/// The tables of a database; its number is before their names, but for the first one.
fn fingerprints(
    connection: &Connection,
    path: &Path,
    number: usize,
    cancel: &Cancel,
) -> Result<Vec<Fingerprint>> {
    let mut all = Vec::new();
    for name in tables(connection, path)? {
        let table = if number == 0 { name.clone() } else { format!("{name} (file {number})") };
        let (rows, sum) = content(connection, &name, cancel).map_err(|error| {
            match error.sqlite_error_code() {
                Some(ErrorCode::OperationInterrupted) => EngineError::Cancelled,
                _ => failed(format!("reading table {table}"), &error),
            }
        })?;
        if cancel.is_cancelled() {
            return Err(EngineError::Cancelled);
        }
        all.push(Fingerprint { table, rows, checksum: format!("{sum:016x}") });
    }
    Ok(all)
}

/// The number of rows of a table and the sum of their hashes.
fn content(connection: &Connection, name: &str, cancel: &Cancel) -> rusqlite::Result<(u64, u64)> {
    let sql = format!("SELECT * FROM \"{}\"", name.replace('"', "\"\""));
    let mut statement = connection.prepare(&sql)?;
    let columns = statement.column_count();
    let mut rows = statement.query([])?;
    let (mut count, mut sum) = (0, 0_u64);
    while let Some(row) = rows.next()? {
        let mut hash = 0;
        for column in 0..columns {
            hash = match row.get_ref(column)? {
                ValueRef::Null => fnv1a_64([0], hash),
                ValueRef::Integer(integer) => fnv1a_64(integer.to_le_bytes(), hash ^ 1),
                ValueRef::Real(real) => fnv1a_64(real.to_le_bytes(), hash ^ 2),
                ValueRef::Text(text) => fnv1a_64(text.iter().copied(), hash ^ 3),
                ValueRef::Blob(blob) => fnv1a_64(blob.iter().copied(), hash ^ 4),
            };
        }
        (count, sum) = (count + 1, sum.wrapping_add(hash));
        if count % 4096 == 0 && cancel.is_cancelled() {
            break;
        }
    }
    Ok((count, sum))
}
