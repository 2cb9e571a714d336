//! Backups: `mariadb-dump` in one transaction, restored into a database of the server, and copies
//! of the data directory by `mariadb-backup`
//! (<https://mariadb.com/kb/en/mariadb-backup-overview/>), restored as a server beside it.

use crate::programs::{self, Pipes};
use crate::server::{Complaints, PRIVATE_ONLY, Product, RESTORED, Task, ToolUse, Variables};
use engine::backups::{BackupRequest, Restore};
use engine::programs::find;
use engine::{EngineError, Program, ProgramNames, Result, Rows};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Logical backups.
pub const DUMP: &str = "mariadb-dump";
/// Physical backups.
pub const COPY: &str = "mariadb-backup";

const DUMP_PROGRAM: ProgramNames =
    ProgramNames { names: &[DUMP, "mysqldump"], package: "mariadb-client" };
const COPY_PROGRAM: ProgramNames =
    ProgramNames { names: &[COPY, "mariabackup"], package: "mariadb-backup" };
/// The client, which restores dumps.
const CLIENT: ProgramNames =
    ProgramNames { names: &["mariadb", "mysql"], package: "mariadb-client" };
/// The program of the streams of physical backups, which prints no version.
const STREAM: &str = "mbstream";

/// Backups of private servers.
pub const PRODUCT: Product = Product {
    create_restored: "CREATE DATABASE steelbench_restored",
    drop_restored: "DROP DATABASE IF EXISTS steelbench_restored",
    tables: "SELECT table_name AS label, QUOTE(table_name) AS literal, CONCAT('`', \
             REPLACE(table_name, '`', '``'), '`') AS `table` FROM information_schema.tables WHERE \
             table_schema = database() AND table_type = 'BASE TABLE' ORDER BY table_name",
    columns: "SELECT CONCAT('`', REPLACE(column_name, '`', '``'), '`') AS `column`, \
              CONCAT('QUOTE(`', REPLACE(column_name, '`', '``'), '`)') AS `value` FROM \
              information_schema.columns WHERE table_schema = database() AND table_name = \
              {literal} ORDER BY ordinal_position",
    // The sum and the exclusive or of the CRC-32 of the values as literals.
    fingerprint: "SELECT COUNT(*), CONCAT(COALESCE(SUM(CRC32(CONCAT_WS(',', {values}))), 0), '-', \
                  BIT_XOR(CRC32(CONCAT_WS(',', {values})))) FROM {table}",
    complaints: Some(Complaints { check: "CHECK TABLE {table}", read: complaints }),
    // ER_DISK_FULL, ER_RECORD_FILE_FULL
    disk_full: &["1021", "1114"],
    missing,
    note,
    data_bytes,
    take,
    restore,
};

/// Names what a tool needs and this machine lacks.
fn missing(used: &ToolUse<'_>) -> Option<String> {
    let ToolUse { tool, compression, configuration, .. } = *used;
    if configuration.value("target.url").is_some() {
        return Some(PRIVATE_ONLY.to_owned());
    }
    if configuration.value("target.volume").is_some() {
        let message = "a backup names the folders of target.volume, which its restore would use \
                       too; remove target.volume";
        return Some(message.to_owned());
    }
    let programs: &[ProgramNames] =
        if tool == COPY { &[COPY_PROGRAM] } else { &[DUMP_PROGRAM, CLIENT] };
    for program in programs {
        // A missing server is reported by itself.
        let found = used.program(*program)?;
        let found = found.and_then(|program| match tool {
            COPY => stream_program(&program.path).map(drop),
            _ => Ok(()),
        });
        if let Err(error) = found {
            return Some(error.to_string());
        }
    }
    compressor(compression)?;
    find(&[compression], None, compression).err().map(|error| error.to_string())
}

/// States that a backup tool is not of the server's series.
fn note(used: &ToolUse<'_>) -> Option<String> {
    let names = if used.tool == COPY { COPY_PROGRAM } else { DUMP_PROGRAM };
    let Program { server, other_series, .. } = used.program(names)?.ok()?;
    let package = names.package;
    let tool = other_series?;
    Some(format!(
        "the backup tool is of {tool}, the server is {server}: install {package} of the server's \
         series"
    ))
}

/// Reads the complaints of a check: table, operation, kind of the message, message.
fn complaints(rows: &Rows) -> Vec<String> {
    let wrong =
        rows.iter().filter(|row| [2, 3].map(|at| row.get(at)) != [Some("status"), Some("OK")]);
    wrong.map(|row| row.text(3)).collect()
}

/// Bytes of the files of the tables.
fn data_bytes(task: &Task<'_>) -> Result<u64> {
    let facts = task.server.facts();
    let folder = facts.data_directory.join(facts.database);
    let entries = std::fs::read_dir(&folder).map_err(EngineError::at(&folder))?.flatten();
    let tables = entries.filter(|entry| entry.path().extension().is_some_and(|end| end == "ibd"));
    Ok(tables.filter_map(|table| table.metadata().ok()).map(|file| file.len()).sum())
}

fn take(task: &Task<'_>, path: &Path) -> Result<f64> {
    if task.request.tool == COPY {
        return take_copy(task, path);
    }
    let mut dump = program(task, DUMP_PROGRAM)?;
    let database = task.server.facts().database;
    dump.args(["--single-transaction", "--quick", "--routines", "--hex-blob", database]);
    write_file(task, dump, path)
}

fn restore(task: &Task<'_>, backup: &Path, folder: &Path) -> Result<Restore> {
    if task.request.tool == COPY {
        return restore_copy(task, backup, folder);
    }
    let mut client = program(task, CLIENT)?;
    client.args(["--batch", RESTORED]);
    task.restore_database(|variables| read_file(task, client, backup, variables))
}

/// A client program of the server's version, which logs in. It finds the server by its variables.
fn program(task: &Task<'_>, program: ProgramNames) -> Result<Command> {
    let mut command = task.command(program)?;
    command.arg("--no-defaults").arg(format!("--user={}", task.server.facts().user));
    Ok(command)
}

/// Returns whether the copy is a stream in a file. Its own limit (`--throttle`) counts pairs of
/// reads and writes, so that a rate limits its stream.
fn is_stream(request: &BackupRequest) -> bool {
    request.compression != "none" || request.rate_limit.is_some()
}

/// Copies the data directory while the server works: to a folder, or as a stream to a file.
/// Returns the CPU seconds of the programs.
fn take_copy(task: &Task<'_>, path: &Path) -> Result<f64> {
    let mut copy = program(task, COPY_PROGRAM)?;
    copy.arg("--backup").arg(format!("--parallel={}", task.request.workers));
    let environment = task.server.environment(None);
    let socket = environment.iter().find(|(name, _)| name == "MYSQL_UNIX_PORT");
    copy.args(socket.and_then(|(_, path)| Some(format!("--socket={}", path.as_ref()?))));
    if !is_stream(task.request) {
        programs::make_folder(path)?;
        copy.arg("--target-dir").arg(path);
        return programs::run(copy, &environment, Pipes::default(), task.cancel);
    }
    // For its files while it works.
    let work = path.with_extension("work");
    programs::make_folder(&work)?;
    copy.arg("--stream=xbstream").arg("--target-dir").arg(&work);
    let cpu_s = write_file(task, copy, path)?;
    std::fs::remove_dir_all(&work).map_err(EngineError::at(&work))?;
    Ok(cpu_s)
}

/// Restores a copy: its changes of the time of the backup are applied (`--prepare`), and a server
/// starts on it, which is removed then.
fn restore_copy(task: &Task<'_>, backup: &Path, folder: &Path) -> Result<Restore> {
    let start = Instant::now();
    let mut prepare = task.command(COPY_PROGRAM)?;
    let unpacked = folder.join("unpacked");
    let copied = if is_stream(task.request) {
        programs::make_folder(&unpacked)?;
        let mut files = Command::new(stream_program(Path::new(prepare.get_program()))?);
        files.current_dir("/").args(["--extract", "--directory"]).arg(&unpacked);
        read_file(task, files, backup, &Vec::new())?;
        &unpacked
    } else {
        backup
    };
    prepare.args(["--no-defaults", "--prepare", "--target-dir"]).arg(copied);
    programs::run(prepare, &[], Pipes::default(), task.cancel)?;
    let copy = task.server.copy(&folder.join("restored"), Some(copied), &|_| Ok(()))?;
    let restored = task.restore_server(start, copy, &[], |_, _| Ok(false))?;
    if unpacked.is_dir() {
        std::fs::remove_dir_all(&unpacked).map_err(EngineError::at(&unpacked))?;
    }
    Ok(restored)
}

/// Runs a program whose output goes to a new file, limited and compressed as the backup wants it.
/// Returns the CPU seconds.
fn write_file(task: &Task<'_>, program: Command, path: &Path) -> Result<f64> {
    let Task { server, request, cancel, .. } = *task;
    let environment = server.environment(None);
    let pipes = Pipes { input: None, output: Some(programs::make_file(path)?.into()) };
    let rate = request.rate_limit;
    let cpu_s = match compressor(request.compression) {
        Some(compressor) => {
            programs::run_piped([program, compressor], &environment, pipes, rate, cancel)?
        }
        None => programs::run_limited(program, &environment, pipes, rate, cancel)?,
    };
    let written = File::open(path).and_then(|file| file.sync_all());
    written.map_err(EngineError::at(path)).map(|()| cpu_s)
}

/// Runs a program that reads a file of the backup, which is decompressed for it.
fn read_file(
    task: &Task<'_>,
    program: Command,
    path: &Path,
    environment: &Variables,
) -> Result<()> {
    let input = File::open(path).map_err(EngineError::at(path))?;
    let pipes = Pipes { input: Some(input.into()), output: None };
    let ended = match compressor(task.request.compression) {
        Some(mut compressor) => {
            compressor.arg("-d");
            programs::run_piped([compressor, program], environment, pipes, None, task.cancel)
        }
        None => programs::run(program, environment, pipes, task.cancel),
    };
    ended.map(drop)
}

/// Finds the program of the streams of a physical backup: beside it, or on the `PATH`.
fn stream_program(copy: &Path) -> Result<PathBuf> {
    find(&[STREAM], copy.parent(), COPY_PROGRAM.package)
}

/// The program that compresses by this method.
fn compressor(method: &str) -> Option<Command> {
    (method != "none").then(|| {
        let mut command = Command::new(method);
        command.current_dir("/").args(["-c", "-q"]);
        command
    })
}
