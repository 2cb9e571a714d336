//! A session: the connections of one load thread to the data files.

use super::cell::text_of;
use super::connection::{self, DataFiles, STEPS_BETWEEN_LOOKS};
use super::failures::failed;
use super::recorder;
use super::settings::Open;
use engine::Session;
use engine::{Done, EngineError, PageUse, Result, Results, RetryCause, TimeLimit, lock};
use recorder::Tallies;
use rusqlite::fallible_iterator::FallibleIterator as _;
use rusqlite::types::Null;
use rusqlite::{Connection, ErrorCode, ffi};
use std::ffi::c_int;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use work::{Key, Parameter, Request, Statement};

/// After this long outside of the engine, the recorder's last reading of the thread's times is
/// renewed, so that waiting for the client is not taken for waiting in the engine.
const IDLE_RESYNCHRONIZE: Duration = Duration::from_micros(20);

/// The number of times that a transaction is repeated when SQLite says that its snapshot is too old
/// to write.
const RETRIES_MAX: u32 = 100;

/// An operation, ready to run.
#[derive(Debug)]
pub struct Compiled {
    /// The statement for each data file; SQLite's statement cache does the rest.
    pub sql: Vec<String>,
    /// True if its results keep all rows.
    pub keeps_rows: bool,
    /// Keys are integers, not 16 bytes.
    pub integer_key: bool,
    /// Filler bound after the key in a table with one row per page.
    pub filler: Option<Vec<u8>>,
}

/// Totals of a load's sessions in its measurement.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    pub tallies: Tallies,
    /// Of each part of a measurement that is divided.
    pub parts: Vec<Tallies>,
    pub pages: PageUse,
}

impl Totals {
    /// Adds what a session recorded in a part.
    fn add(&mut self, part: usize, other: &Tallies) {
        self.tallies.add(other);
        if self.parts.len() <= part {
            self.parts.resize_with(part + 1, Tallies::default);
        }
        self.parts[part].add(other);
    }
}

/// The connections of one thread.
pub(crate) struct SqliteSession {
    /// A connection for each data file, or one that all are attached to.
    connections: Vec<Connection>,
    files: Arc<DataFiles>,
    operations: Arc<[Compiled]>,
    total: Arc<Mutex<Totals>>,
    left_engine: Instant,
    limit: Option<TimeLimit>,
    /// The part of the measurement in which it records.
    part: usize,
}

impl SqliteSession {
    /// Opens the data files.
    pub fn open(
        files: Arc<DataFiles>,
        operations: Arc<[Compiled]>,
        total: Arc<Mutex<Totals>>,
    ) -> Result<Self> {
        let connections = files.connect(operations.len())?;
        let left_engine = Instant::now();
        Ok(Self { connections, files, operations, total, left_engine, limit: None, part: 0 })
    }

    /// Records from here on in the part of the measurement that runs.
    fn enter_part(&mut self) {
        let part = self.files.part.load(Ordering::Relaxed);
        if part != self.part {
            if let Some(tallies) = recorder::take() {
                lock(&self.total).add(self.part, &tallies);
            }
            self.part = part;
        }
    }

    /// Cancels statements that take longer than this.
    pub fn with_limit(mut self, limit: Duration) -> Result<Self> {
        let limit = TimeLimit::new(limit);
        for connection in &mut self.connections {
            let (limit, cancel) = (limit.clone(), self.files.cancel.clone());
            let looks = move || cancel.is_cancelled() || limit.is_over();
            connection
                .progress_handler(STEPS_BETWEEN_LOOKS, Some(looks))
                .map_err(|error| failed("limiting the time of statements".into(), &error))?;
        }
        Ok(Self { limit: Some(limit), ..self })
    }

    /// Runs an operation for each key in one transaction, again where its snapshot has become too
    /// old to write.
    fn batch(&self, operation: usize, file: u32, keys: &[Key]) -> Result<Done> {
        let mut retries = 0;
        loop {
            match self.try_batch(operation, file as usize, keys) {
                Ok(()) => return Ok(Done { retries, ..Done::default() }),
                Err((_, error)) if is_stale_snapshot(&error) && retries < RETRIES_MAX => {
                    retries += 1;
                }
                Err((doing, error)) => {
                    return Err(self.give_up(format!("{doing} in data file {file}"), &error));
                }
            }
        }
    }

    /// Runs a batch; returns the failed operation and its error.
    fn try_batch(
        &self,
        operation: usize,
        file: usize,
        keys: &[Key],
    ) -> Result<(), (&'static str, rusqlite::Error)> {
        let connection = self.connection(file);
        run(connection, self.begin_sql()).map_err(|error| ("begin", error))?;
        let done =
            self.each_key(connection, operation, file, keys).map_err(|error| ("statement", error));
        let ended =
            done.and_then(|()| run(connection, "COMMIT").map_err(|error| ("commit", error)));
        if ended.is_err() && !connection.is_autocommit() {
            // The first error is the one to report; a failed rollback leaves nothing to undo.
            let _ = run(connection, "ROLLBACK");
        }
        ended
    }

    fn each_key(
        &self,
        connection: &Connection,
        operation: usize,
        file: usize,
        keys: &[Key],
    ) -> rusqlite::Result<()> {
        let Compiled { sql, integer_key, filler, .. } = &self.operations[operation];
        let mut statement = connection.prepare_cached(&sql[file])?;
        if let Some(filler) = filler {
            statement.raw_bind_parameter(2, filler.as_slice())?;
        }
        for key in keys {
            if *integer_key {
                statement.raw_bind_parameter(1, key.integer())?;
            } else {
                statement.raw_bind_parameter(1, key.bytes().as_slice())?;
            }
            let mut rows = statement.raw_query();
            while rows.next()?.is_some() {}
            if self.files.cancel.is_cancelled() {
                return Err(rusqlite::Error::SqliteFailure(
                    ffi::Error::new(ffi::SQLITE_INTERRUPT),
                    None,
                ));
            }
        }
        Ok(())
    }

    /// Runs a statement; its results are wanted or not.
    fn execute(
        &self,
        statement: Statement<'_>,
        parameters: &[Parameter],
        with_rows: bool,
    ) -> Result<Done> {
        let connection = self.connection(0);
        let mut done = Done::default();
        let keeps_rows = match statement {
            Statement::Operation(operation) => self.operations[operation].keeps_rows,
            // A plan has a row for each step.
            Statement::Text(text) => text.starts_with("EXPLAIN "),
            _ => false,
        };
        let mut run_to_end = |statement: &mut rusqlite::Statement<'_>| {
            done.results.extend(results_of(statement, parameters, with_rows, keeps_rows)?);
            Ok(())
        };
        if let Some(limit) = &self.limit {
            limit.begin();
        }
        let outcome = match statement {
            Statement::Operation(operation) => connection
                .prepare_cached(&self.operations[operation].sql[0])
                .and_then(|mut statement| run_to_end(&mut statement)),
            Statement::Text(text) => rusqlite::Batch::new(connection, text)
                .for_each(|mut statement| run_to_end(&mut statement)),
            Statement::Begin => run(connection, self.begin_sql()),
            Statement::Commit => run(connection, "COMMIT"),
            Statement::Rollback if connection.is_autocommit() => Ok(()),
            Statement::Rollback => run(connection, "ROLLBACK"),
        };
        let exceeded = self.limit.as_ref().filter(|limit| limit.end());
        match outcome {
            Ok(()) => Ok(done),
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => {
                Err(match exceeded.filter(|_| !self.files.cancel.is_cancelled()) {
                    Some(limit) => limit.exceeded(),
                    None => self.give_up("statement".into(), &error),
                })
            }
            // Two transactions that read and then want to write exclude each other: SQLite refuses
            // one of them at once. It waits as for any lock, for the first step, before
            // it is repeated.
            Err(error) if is_busy(&error) && !connection.is_autocommit() => {
                connection::wait_once();
                let (doing, message) = ("statement".into(), error.to_string());
                Err(EngineError::Retry { doing, message, cause: RetryCause::Conflict })
            }
            Err(error) => Err(self.give_up("statement".into(), &error)),
        }
    }

    /// BEGIN IMMEDIATE locks every attached file, so that attached files would exclude each other;
    /// a plain BEGIN locks the one that the first row is written to.
    fn begin_sql(&self) -> &'static str {
        if self.files.open == Open::Attached { "BEGIN" } else { "BEGIN IMMEDIATE" }
    }

    /// The pages that the connections have used since this was asked last.
    fn take_pages(&self) -> PageUse {
        let count = |counter| {
            self.connections.iter().map(|connection| take_count(connection, counter)).sum()
        };
        PageUse {
            hits: count(ffi::SQLITE_DBSTATUS_CACHE_HIT),
            reads: count(ffi::SQLITE_DBSTATUS_CACHE_MISS),
        }
    }

    fn connection(&self, file: usize) -> &Connection {
        &self.connections[file.min(self.connections.len() - 1)]
    }

    /// Reports a transaction that cannot continue.
    fn give_up(&self, doing: String, error: &rusqlite::Error) -> EngineError {
        if self.files.cancel.is_cancelled() {
            return EngineError::Cancelled;
        }
        if is_busy(error) {
            let timeout_s = self.files.busy_timeout_s;
            let message = format!("no lock within target.busy_timeout = {timeout_s} s ({error})");
            return EngineError::failed(doing, message);
        }
        failed(doing, error)
    }
}

/// Reads and resets a counter of a connection
/// (<https://www.sqlite.org/c3ref/c_dbstatus_options.html>).
fn take_count(connection: &Connection, counter: c_int) -> u64 {
    let (mut count, mut highest) = (0, 0);
    // SAFETY: the connection is open, this thread alone uses it, and both places for the results
    // are valid.
    unsafe {
        ffi::sqlite3_db_status(connection.handle(), counter, &raw mut count, &raw mut highest, 1)
    };
    // The counters are unsigned; more than 2^32 pages in one measurement wrap around.
    u64::from(count as u32)
}

fn is_busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
}

fn is_stale_snapshot(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|error| error.extended_code == ffi::SQLITE_BUSY_SNAPSHOT)
}

fn run(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.raw_execute().map(|_| ())
}

/// Runs a statement to its end; `None` when it has no columns or they are not wanted.
fn results_of(
    statement: &mut rusqlite::Statement<'_>,
    parameters: &[Parameter],
    with_rows: bool,
    keeps_rows: bool,
) -> rusqlite::Result<Option<Results>> {
    for (number, parameter) in (1..).zip(parameters) {
        match parameter {
            Parameter::Null => statement.raw_bind_parameter(number, Null),
            Parameter::Bool(value) => statement.raw_bind_parameter(number, value),
            Parameter::Integer(value) => statement.raw_bind_parameter(number, value),
            Parameter::Double(value) => statement.raw_bind_parameter(number, value),
            Parameter::Text(value) => statement.raw_bind_parameter(number, value),
        }?;
    }
    let mut results = Results::default();
    if with_rows {
        results.columns = statement.column_names().map(str::to_owned).collect();
    }
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        if with_rows {
            let cells = (0..results.columns.len())
                .map(|at| Ok(text_of(row.get_ref(at)?)))
                .collect::<rusqlite::Result<_>>()?;
            results.add(cells, keeps_rows);
        }
    }
    Ok((!results.columns.is_empty()).then_some(results))
}

impl Session for SqliteSession {
    fn begin(&mut self) {
        if self.files.timed {
            recorder::start();
        }
        self.take_pages();
        self.left_engine = Instant::now();
    }

    fn run(&mut self, request: &Request<'_>) -> Result<Done> {
        self.enter_part();
        if self.files.timed && self.left_engine.elapsed() > IDLE_RESYNCHRONIZE {
            recorder::resynchronize();
        }
        let done = match *request {
            // An embedded engine has no faster way in than its statements.
            Request::Batch { operation, file, keys, .. }
            | Request::Bulk { operation, file, keys } => self.batch(operation, file, keys),
            Request::Execute { statement, parameters, results } => {
                self.execute(statement, parameters, results)
            }
        };
        self.left_engine = Instant::now();
        done
    }

    fn flush(&mut self, index: u32, of: u32) -> Result<()> {
        self.enter_part();
        if !self.files.final_checkpoint {
            return Ok(());
        }
        if self.files.timed {
            recorder::resynchronize();
        }
        for file in (index as usize..self.files.paths.len()).step_by(of.max(1) as usize) {
            let sql = format!("PRAGMA {}.wal_checkpoint(PASSIVE)", self.files.schema_of(file));
            let doing = format!("final checkpoint of data file {file}");
            // A passive checkpoint ends incomplete when a reader is active; no session is in a
            // transaction now. Without a WAL it does nothing and answers -1.
            let left: rusqlite::Result<(i64, i64)> =
                self.connection(file).query_row(&sql, [], |row| {
                    Ok((row.get(0)?, row.get::<_, i64>(1)? - row.get::<_, i64>(2)?))
                });
            let left = left.map_err(|error| failed(doing.clone(), &error))?;
            if left != (0, 0) {
                let message = format!("busy {}, {} pages left in the WAL", left.0, left.1);
                return Err(EngineError::failed(doing, message));
            }
        }
        Ok(())
    }

    fn end(&mut self) {
        let (tallies, pages) = (recorder::stop(), self.take_pages());
        let mut total = lock(&self.total);
        if let Some(tallies) = tallies {
            total.add(self.part, &tallies);
        }
        total.pages.hits += pages.hits;
        total.pages.reads += pages.reads;
    }
}
