//! Tables of one's own: a data file that a dump and SQL make once, and that trials copy.

use super::connection::{self, DataFiles, STEPS_BETWEEN_LOOKS};
use super::failures::failed;
use engine::setup::{NotSet, Setup, Unset, first_bytes, substituted};
use engine::{EngineError, Result, cache};
use experiment::NamedFile;
use rusqlite::fallible_iterator::FallibleIterator as _;
use rusqlite::{Batch, Connection};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use work::Cancel;
use work::sql::Syntax;

/// The first bytes of a database file (<https://www.sqlite.org/fileformat2.html>, 1.3).
pub const MAGIC: &[u8] = b"SQLite format 3\0";

/// Bytes of a statement at most: it is in memory three times over when it runs.
const STATEMENT_BYTES_MAX: u64 = 256 << 20;

/// Characters of a statement in an error.
const STATEMENT_MAX: usize = 500;

/// Objections to a dump that need no copy of it.
pub fn validate(setup: &Setup) -> Option<String> {
    let dump = setup.dump.as_ref()?;
    let place = dump.place();
    let is_database = first_bytes(&place).starts_with(MAGIC);
    // The content of a log beside it would be missing in a copy.
    let log = ["-wal", "-journal"]
        .map(|end| format!("{}{end}", place.display()))
        .into_iter()
        .find(|log| is_database && Path::new(log).metadata().is_ok_and(|found| found.len() > 0))?;
    Some(format!(
        "{log} contains changes that are not yet in the database file; close the programs that \
         use it, or make a copy with sqlite3 {} \".backup copy.sqlite\"",
        dump.path
    ))
}

/// The data file that a setup makes with these settings, made now unless it is in our cache.
pub fn template(setup: &Setup, files: &DataFiles) -> Result<PathBuf> {
    cache::file("sqlite", "setup-", &identity(&setup.identity(), files), |path| {
        make(setup, files, path)?;
        setup.verify_unchanged()
    })
}

/// Returns the further identity of a data file: our SQLite version, and the settings stored in the
/// file.
pub fn identity(of_tables: &str, files: &DataFiles) -> String {
    format!("SQLite {}\n{}{of_tables}", rusqlite::version(), files.kept_settings())
}

fn make(setup: &Setup, files: &DataFiles, path: &Path) -> Result<()> {
    let database = setup.dump.as_ref().filter(|dump| first_bytes(&dump.place()).starts_with(MAGIC));
    if let Some(dump) = database {
        let copied = File::open(dump.place())
            .and_then(|mut from| std::io::copy(&mut from, &mut File::create(path)?));
        copied.map_err(EngineError::at(&dump.place()))?;
        let mut connection = connection::open(path, false)?;
        stop_with(&mut connection, &files.cancel);
        files.confine(&mut connection)?;
        files
            .rebuild(&connection)
            .map_err(|error| failed(format!("restoring {}", dump.path), &error))?;
    }
    let mut connection = files.open(path, database.is_none())?;
    stop_with(&mut connection, &files.cancel);
    // After a crash the file is made again.
    connection
        .pragma_update(None, "synchronous", "off")
        .map_err(|error| failed("preparing".into(), &error))?;
    let script = setup.dump.iter().filter(|_| database.is_none()).map(|dump| (dump, false));
    for (file, has_variables) in script.chain(setup.sql.iter().map(|file| (file, true))) {
        let variables = has_variables.then_some(setup.variables.as_slice());
        run(&connection, file, variables, &files.cancel)?;
    }
    let finished = connection::checkpoint(&connection);
    finished.map_err(|error| failed("finishing the tables of target.setup".into(), &error))
}

fn stop_with(connection: &mut Connection, cancel: &Cancel) {
    let cancel = cancel.clone();
    // Fails for a connection that is closed, which this is not.
    let _ = connection.progress_handler(STEPS_BETWEEN_LOOKS, Some(move || cancel.is_cancelled()));
}

/// Runs the statements of a file. They are separated as in the shell of SQLite: a statement ends
/// with a line that ends with a semicolon and completes it, so that triggers are whole.
fn run(
    connection: &Connection,
    file: &NamedFile,
    variables: Option<&[(String, String)]>,
    cancel: &Cancel,
) -> Result<()> {
    let place = file.place();
    let mut reader = BufReader::new(File::open(&place).map_err(EngineError::at(&place))?);
    let (mut sql, mut begins_at, mut line) = (String::new(), 1, String::new());
    for number in 1.. {
        line.clear();
        let room = STATEMENT_BYTES_MAX - sql.len() as u64;
        let read =
            (&mut reader).take(room + 1).read_line(&mut line).map_err(EngineError::at(&place))?
                as u64;
        if read > room {
            return Err(at(
                file,
                if sql.is_empty() { number } else { begins_at },
                &sql,
                &StatementError::TooLong,
                cancel,
            ));
        }
        if read == 0 {
            break;
        }
        if sql.is_empty() {
            if line.trim().is_empty() || line.trim_start().starts_with("--") {
                continue;
            }
            begins_at = number;
        }
        sql.push_str(&line);
        if line.trim_end().ends_with(';') && is_complete(&sql) {
            execute(connection, &sql, variables)
                .map_err(|error| at(file, begins_at, &sql, &error, cancel))?;
            sql.clear();
        }
    }
    // The last statement needs no semicolon.
    execute(connection, &sql, variables)
        .map_err(|error| at(file, begins_at, &sql, &error, cancel))?;
    if connection.is_autocommit() {
        return Ok(());
    }
    Err(EngineError::failed(
        format!("running {}", file.path),
        "it ends inside an open transaction; add COMMIT;",
    ))
}

fn is_complete(sql: &str) -> bool {
    // A text with a zero in it is refused by the statement itself.
    let Ok(sql) = std::ffi::CString::new(sql) else { return true };
    // SAFETY: a string that ends with a zero and lives until the call returns.
    unsafe { rusqlite::ffi::sqlite3_complete(sql.as_ptr()) != 0 }
}

/// Why statements of a file did not run.
#[derive(Debug, thiserror::Error)]
enum StatementError {
    /// SQLite refuses.
    #[error("{0}")]
    Refused(#[from] rusqlite::Error),
    /// A variable without a value.
    #[error(transparent)]
    NotSet(#[from] NotSet),
    /// A statement that is too long to be read.
    #[error("a statement is longer than {} MiB", STATEMENT_BYTES_MAX >> 20)]
    TooLong,
}

fn execute(
    connection: &Connection,
    sql: &str,
    variables: Option<&[(String, String)]>,
) -> Result<(), StatementError> {
    let sql = variables.map_or_else(
        || Ok(sql.to_owned()),
        |variable| substituted(sql, variable, Syntax::Sqlite, Unset::IsError),
    )?;
    let mut batch = Batch::new(connection, &sql);
    while let Some(mut statement) = batch.next()? {
        let mut rows = statement.raw_query();
        while rows.next()?.is_some() {}
    }
    Ok(())
}

fn at(
    file: &NamedFile,
    line: u64,
    sql: &str,
    error: &StatementError,
    cancel: &Cancel,
) -> EngineError {
    if cancel.is_cancelled() {
        return EngineError::Cancelled;
    }
    let statement: String = sql.trim().chars().take(STATEMENT_MAX).collect();
    EngineError::failed(format!("{}:{line}", file.path), format!("{error}\nstatement: {statement}"))
}

#[cfg(test)]
mod tests {
    use super::{STATEMENT_BYTES_MAX, run};
    use experiment::NamedFile;
    use rusqlite::Connection;
    use std::fs::File;
    use std::io::Write as _;
    use work::Cancel;

    /// A line without an end takes no more memory than a statement may.
    #[test]
    fn a_statement_of_any_length_is_refused_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = File::create(folder.path().join("long.sql")).unwrap();
        file.write_all(b"CREATE TABLE t (x);\nSELECT 'a'\n|| '").unwrap();
        // Zeros, which take no room on the disk.
        file.set_len(STATEMENT_BYTES_MAX + 4096).unwrap();
        let mut named = NamedFile::default();
        (named.path, named.folder) = ("long.sql".into(), folder.path().into());
        let connection = Connection::open_in_memory().unwrap();
        let error = run(&connection, &named, None, &Cancel::new()).unwrap_err().to_string();
        assert!(error.contains("long.sql:2: a statement is longer than 256 MiB"), "{error}");
        assert!(error.contains("statement: SELECT 'a'") && error.len() < 1_000, "{error}");
    }
}
