//! A session: the connections of one load thread to the data files.

use super::connection::{self, BusyWait};
use super::layout::Layout;
use super::{failed, recorder};
use crate::session::Session;
use crate::{Done, EngineError, Key, Request, Shape};
use recorder::Tallies;
use rusqlite::{Connection, ErrorCode};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// After this long outside of the engine, the recorder's last reading of the thread's times is
/// renewed, so that waiting for the client is not taken for waiting in the engine.
const IDLE_RESYNCHRONIZE: Duration = Duration::from_micros(20);

/// How often a transaction is repeated when SQLite says that its snapshot is too old to write.
const RETRIES_MAX: u32 = 100;

/// The connections of one thread.
pub struct SqliteSession {
    // Dropped before `busy`, to which the connections hold a pointer.
    connections: Connections,
    layout: Arc<Layout>,
    statements: Statements,
    total: Arc<Mutex<Tallies>>,
    left_engine: Instant,
    _busy: Box<BusyWait>,
}

enum Connections {
    /// One connection a data file.
    Separate(Vec<Connection>),
    /// All data files attached to one connection.
    Attached(Connection),
}

/// The texts of the statements for each data file; SQLite's statement cache does the rest.
struct Statements {
    begin: &'static str,
    insert: Vec<String>,
}

impl SqliteSession {
    /// Opens the data files.
    pub fn open(layout: Arc<Layout>, shape: Shape, total: Arc<Mutex<Tallies>>) -> Result<Self, EngineError> {
        let busy = Box::new(BusyWait::new(layout.busy_timeout_s, layout.cancel.clone()));
        let connections = if layout.attached {
            Connections::Attached(open_attached(&layout, &busy)?)
        } else {
            let open = |path: &PathBuf| open_one(&layout, &busy, path);
            Connections::Separate(layout.files.iter().map(open).collect::<Result<_, _>>()?)
        };
        let statements = Statements::of(&layout, shape);
        Ok(Self { connections, layout, statements, total, left_engine: Instant::now(), _busy: busy })
    }

    fn insert(&mut self, file: u32, keys: &[Key]) -> Result<Done, EngineError> {
        let mut retries = 0;
        loop {
            match self.try_insert(file as usize, keys) {
                Ok(()) => return Ok(Done { units: keys.len() as u64, retries, ..Done::default() }),
                Err(Failure::Cancelled) => return Err(EngineError::Cancelled),
                Err(Failure::Sqlite(doing, error)) => {
                    let again = is_stale_snapshot(&error) && retries < RETRIES_MAX;
                    if !again {
                        return Err(self.give_up(doing, file, &error));
                    }
                    retries += 1;
                }
            }
        }
    }

    fn try_insert(&self, file: usize, keys: &[Key]) -> Result<(), Failure> {
        let connection = self.connection(file);
        run(connection, self.statements.begin).map_err(|error| Failure::Sqlite("begin", error))?;
        let inserted = self.insert_rows(connection, file, keys);
        let ended = match &inserted {
            Ok(()) => run(connection, "COMMIT").map_err(|error| Failure::Sqlite("commit", error)),
            Err(_) => inserted,
        };
        if ended.is_err() && !connection.is_autocommit() {
            // The first error is the one to report; a failed rollback leaves nothing to undo.
            let _ = run(connection, "ROLLBACK");
        }
        ended
    }

    fn insert_rows(&self, connection: &Connection, file: usize, keys: &[Key]) -> Result<(), Failure> {
        let sqlite = |error| Failure::Sqlite("insert", error);
        let mut statement = connection.prepare_cached(&self.statements.insert[file]).map_err(sqlite)?;
        if let Some(filler) = &self.layout.filler {
            statement.raw_bind_parameter(2, filler.as_slice()).map_err(sqlite)?;
        }
        let integer_key = self.layout.filler.is_some();
        for key in keys {
            if integer_key {
                statement.raw_bind_parameter(1, key.integer()).map_err(sqlite)?;
            } else {
                statement.raw_bind_parameter(1, key.bytes().as_slice()).map_err(sqlite)?;
            }
            statement.raw_execute().map_err(sqlite)?;
            if self.layout.cancel.is_cancelled() {
                return Err(Failure::Cancelled);
            }
        }
        Ok(())
    }

    fn connection(&self, file: usize) -> &Connection {
        match &self.connections {
            Connections::Separate(connections) => &connections[file],
            Connections::Attached(connection) => connection,
        }
    }

    /// What to report of a transaction that cannot go on.
    fn give_up(&self, doing: &str, file: u32, error: &rusqlite::Error) -> EngineError {
        if self.layout.cancel.is_cancelled() {
            return EngineError::Cancelled;
        }
        let doing = format!("{doing} in data file {file}");
        if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) {
            return EngineError::Engine {
                doing,
                message: format!(
                    "no lock within target.busy_timeout = {} s ({error})",
                    self.layout.busy_timeout_s
                ),
            };
        }
        failed(doing, error)
    }
}

/// Why a transaction did not commit.
enum Failure {
    Sqlite(&'static str, rusqlite::Error),
    Cancelled,
}

fn is_stale_snapshot(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|error| error.extended_code == rusqlite::ffi::SQLITE_BUSY_SNAPSHOT)
}

fn run(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.raw_execute().map(|_| ())
}

impl Statements {
    fn of(layout: &Layout, shape: Shape) -> Self {
        // BEGIN IMMEDIATE locks every attached file, so that attached files would exclude each
        // other; a plain BEGIN locks the one that the first insert writes to.
        let begin = if layout.attached { "BEGIN" } else { "BEGIN IMMEDIATE" };
        let insert = (0..layout.files.len()).map(|file| insert_sql(&layout.schema_of(file), shape));
        Self { begin, insert: insert.collect() }
    }
}

fn insert_sql(schema: &str, shape: Shape) -> String {
    match shape {
        Shape::MyBigTable => format!("INSERT INTO {schema}.MyBigTable (c1) VALUES (?1)"),
        Shape::OneRowPerPage => format!("INSERT INTO {schema}.OneRowPerPage (c1, c2) VALUES (?1, ?2)"),
    }
}

fn open_one(layout: &Layout, busy: &BusyWait, path: &Path) -> Result<Connection, EngineError> {
    let connection = connection::open(path, layout.timed)?;
    // SAFETY: the session keeps `busy` in its box until after its connections are dropped.
    unsafe { busy.install(&connection) };
    layout.pragmas.connect(&connection, "main")?;
    if layout.growth_bytes > 0 {
        connection::set_growth(&connection, layout.growth_bytes)?;
    }
    Ok(connection)
}

fn open_attached(layout: &Layout, busy: &BusyWait) -> Result<Connection, EngineError> {
    let connection = open_one(layout, busy, &layout.files[0])?;
    for (file, path) in layout.files.iter().enumerate().skip(1) {
        let schema = layout.schema_of(file);
        connection::attach(&connection, path, &schema)?;
        layout.pragmas.connect(&connection, &schema)?;
    }
    connection.set_prepared_statement_cache_capacity(layout.files.len() + 8);
    Ok(connection)
}

impl Session for SqliteSession {
    fn begin(&mut self) {
        if self.layout.timed {
            recorder::start();
        }
        self.left_engine = Instant::now();
    }

    fn run(&mut self, request: &Request<'_>) -> Result<Done, EngineError> {
        let Request::Insert { file, keys, .. } = *request else {
            return Err(EngineError::Unsupported { engine: "SQLite", what: "statements of the user" });
        };
        if self.layout.timed && self.left_engine.elapsed() > IDLE_RESYNCHRONIZE {
            recorder::resynchronize();
        }
        let done = self.insert(file, keys);
        self.left_engine = Instant::now();
        done
    }

    fn flush(&mut self, index: u32, of: u32) -> Result<(), EngineError> {
        if !self.layout.final_checkpoint {
            return Ok(());
        }
        if self.layout.timed {
            recorder::resynchronize();
        }
        for file in (index as usize..self.layout.files.len()).step_by(of.max(1) as usize) {
            let mut sql = String::from("PRAGMA ");
            // Writing to a string cannot fail.
            let _ = write!(sql, "{}.wal_checkpoint(PASSIVE)", self.layout.schema_of(file));
            let connection = self.connection(file);
            // A passive checkpoint ends incomplete when a reader stands in its way; no session
            // is in a transaction now. Without a WAL it does nothing and answers -1.
            let left = connection
                .query_row(&sql, [], |row| {
                    Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)? - row.get::<_, i64>(2)?))
                })
                .map_err(|error| failed(format!("final checkpoint of data file {file}"), &error))?;
            if left != (0, 0) {
                return Err(EngineError::Engine {
                    doing: format!("final checkpoint of data file {file}"),
                    message: format!("busy {}, {} pages left in the WAL", left.0, left.1),
                });
            }
        }
        Ok(())
    }

    fn end(&mut self) {
        if let Some(tallies) = recorder::stop() {
            self.total.lock().unwrap_or_else(PoisonError::into_inner).add(&tallies);
        }
    }
}
