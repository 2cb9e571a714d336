//! A session: the connection of one load thread.

use super::bulk;
use super::library::{Answered, Chunk, ChunkType, Connection, Prepared, failed};
use super::target::Target;
use super::waits::Slot;
use engine::Session;
use engine::{Done, EngineError, Result, Results, TimeLimit};
use std::sync::Arc;
use std::time::Duration;
use work::{Key, Parameter, Request, Statement};

/// An operation, ready to run.
#[derive(Debug)]
pub struct Compiled {
    pub sql: String,
    /// True if its results keep all rows.
    pub keeps_rows: bool,
    /// The key that it is about, where its table has one of one column.
    pub key: Option<KeyOf>,
}

/// The key of a table.
#[derive(Debug)]
pub(crate) struct KeyOf {
    pub table: &'static str,
    pub column: &'static str,
    pub kind: ChunkType,
}

/// The connection of one thread.
pub(crate) struct DuckDbSession {
    /// `None` until measuring begins if the database is reopened for that. Above the target: the
    /// connection is closed before the files can be removed.
    open: Option<Open>,
    /// Settings of a connection that is not open yet, for when it is.
    settings: Vec<String>,
    target: Arc<Target>,
    operations: Arc<[Compiled]>,
    slot: Slot,
    limit: Option<TimeLimit>,
}

/// A connection and what was prepared on it.
struct Open {
    connection: Connection,
    /// By operation, as they are used first.
    prepared: Vec<Option<Prepared>>,
    /// Room for the keys of a bulk load, by operation.
    chunks: Vec<Option<Chunk>>,
    begin: Prepared,
    commit: Prepared,
}

impl Open {
    fn new(target: &Target, operations: usize, limit: Option<&TimeLimit>) -> Result<Self> {
        let connection = target.connect()?;
        if let Some(limit) = limit {
            target.interrupter.limit(&connection, limit.clone());
        }
        let prepared = |sql| connection.prepare(sql).map_err(failed("connecting"));
        Ok(Self {
            begin: prepared("BEGIN")?,
            commit: prepared("COMMIT")?,
            prepared: (0..operations).map(|_| None).collect(),
            chunks: (0..operations).map(|_| None).collect(),
            connection,
        })
    }
}

impl DuckDbSession {
    /// Connects, or will do so when measuring begins.
    pub fn new(
        target: Arc<Target>,
        operations: Arc<[Compiled]>,
        limit: Option<Duration>,
    ) -> Result<Self> {
        let limit = limit.map(TimeLimit::new);
        let connect = || Open::new(&target, operations.len(), limit.as_ref());
        let open = (!target.connects_late()).then(connect).transpose()?;
        let slot = target.slots.take();
        Ok(Self { open, settings: Vec::new(), target, operations, slot, limit })
    }

    fn open(&mut self) -> Result<&mut Open> {
        if self.open.is_none() {
            let operations = self.operations.len();
            let open = Open::new(&self.target, operations, self.limit.as_ref())?;
            for sql in &self.settings {
                open.connection.run(sql).map_err(failed("statement"))?;
            }
            self.open = Some(open);
        }
        self.open.as_mut().ok_or_else(|| EngineError::failed("connecting", "no connection is open"))
    }

    /// Does something in a transaction, which is rolled back when it fails.
    fn transaction(
        &mut self,
        work: impl FnOnce(&mut Open, &[Compiled]) -> Result<()>,
    ) -> Result<Done> {
        let operations = self.operations.clone();
        let open = self.open()?;
        open.begin.execute().map_err(failed("begin"))?;
        let result = work(open, &operations);
        let result =
            result.and_then(|()| open.commit.execute().map(drop).map_err(failed("commit")));
        if result.is_err() {
            // The first error is the one to report. A commit that failed has rolled back already.
            let _ = open.connection.run("ROLLBACK");
        }
        result.map(|()| Done::default())
    }

    /// Runs an operation for each key in one transaction.
    fn batch(&mut self, operation: usize, keys: &[Key]) -> Result<Done> {
        let cancel = self.target.cancel.clone();
        self.transaction(|open, operations| {
            let compiled = &operations[operation];
            let kind = compiled.key.as_ref().map_or(ChunkType::BigInt, |key| key.kind);
            let statement =
                prepared(&open.connection, &mut open.prepared[operation], &compiled.sql)?;
            for key in keys {
                let bound = match kind {
                    ChunkType::Uuid => statement.bind_uuid(1, key.0),
                    _ => statement.bind(1, &Parameter::Integer(key.integer())),
                };
                bound.and_then(|()| statement.execute()).map_err(failed("statement"))?;
                if cancel.is_cancelled() {
                    return Err(EngineError::Cancelled);
                }
            }
            Ok(())
        })
    }

    /// Appends rows with these keys in one transaction.
    fn bulk(&mut self, operation: usize, keys: &[Key]) -> Result<Done> {
        self.transaction(|open, operations| {
            let missing =
                EngineError::Unsupported { engine: "duckdb", what: "a bulk load without a key" };
            let KeyOf { table, column, kind } =
                operations[operation].key.as_ref().ok_or(missing)?;
            let chunk = open.chunks[operation]
                .get_or_insert_with(|| Chunk::new(open.connection.library(), vec![*kind]));
            bulk::append_keys(&open.connection, chunk, table, column, keys, *kind)
                .map_err(failed("bulk load"))
        })
    }

    /// Runs a statement; its results are wanted or not.
    fn execute(
        &mut self,
        statement: Statement<'_>,
        parameters: &[Parameter],
        with_rows: bool,
    ) -> Result<Done> {
        if let Statement::Text(text) = statement
            && self.open.is_none()
            && text.starts_with("SET ")
        {
            // To open now would keep the database from being reopened.
            self.settings.push(text.to_owned());
            return Ok(Done::default());
        }
        let operations = self.operations.clone();
        let open = self.open()?;
        let mut done = Done::default();
        let results = &mut done.results;
        match statement {
            Statement::Operation(operation) => {
                let Compiled { sql, keeps_rows, .. } = &operations[operation];
                let statement = prepared(&open.connection, &mut open.prepared[operation], sql)?;
                let kept = ResultParts { results: with_rows, rows: *keeps_rows };
                run(statement, parameters, kept, results).map_err(failed("statement"))?;
            }
            Statement::Text(text) => {
                let kept = ResultParts { results: with_rows, rows: false };
                open.connection
                    .each(text, |mut statement| run(&mut statement, parameters, kept, results))
                    .map_err(failed("statement"))?;
            }
            Statement::Begin => open.begin.execute().map(drop).map_err(failed("begin"))?,
            Statement::Commit => open.commit.execute().map(drop).map_err(failed("commit"))?,
            Statement::Rollback => match open.connection.run("ROLLBACK") {
                Err(error) if !error.to_string().contains("no transaction is active") => {
                    return Err(failed("rollback")(error));
                }
                _ => {}
            },
        }
        Ok(done)
    }
}

/// The statement of an operation, prepared when it is needed first.
fn prepared<'a>(
    connection: &Connection,
    place: &'a mut Option<Prepared>,
    sql: &str,
) -> Result<&'a mut Prepared> {
    if place.is_none() {
        *place = Some(connection.prepare(sql).map_err(failed(format!("preparing {sql}")))?);
    }
    place.as_mut().ok_or_else(|| EngineError::failed("preparing", "no statement was prepared"))
}

/// The parts of results that are kept: anything at all, and all rows.
#[derive(Debug, Clone, Copy)]
struct ResultParts {
    results: bool,
    rows: bool,
}

/// Runs a statement to its end and keeps its results, if it has any and they are wanted.
fn run(
    statement: &mut Prepared,
    parameters: &[Parameter],
    kept: ResultParts,
    results: &mut Vec<Results>,
) -> Answered<()> {
    for (number, parameter) in (1..).zip(parameters) {
        statement.bind(number, parameter)?;
    }
    let mut answer = statement.execute()?;
    if kept.results {
        let (columns, rows) = (answer.columns(), answer.rows());
        let count = columns.len() as u64;
        let mut cells = |row| (0..count).map(|column| answer.cell(column, row)).collect();
        let before = if kept.rows { 0..rows.saturating_sub(1) } else { 0..0 };
        let before = before.map(&mut cells).collect();
        let last = rows.checked_sub(1).map(cells).unwrap_or_default();
        results.push(Results { columns, rows, last, before });
    }
    Ok(())
}

impl Session for DuckDbSession {
    fn begin(&mut self) {
        // The first request tries again and reports DuckDB's objection.
        let _ = self.open();
        self.slot.begin();
    }

    fn run(&mut self, request: &Request<'_>) -> Result<Done> {
        self.slot.enter();
        let done = match *request {
            Request::Batch { operation, keys, .. } => self.batch(operation, keys),
            Request::Bulk { operation, keys, .. } => self.bulk(operation, keys),
            Request::Execute { statement, parameters, results } => {
                if let Some(limit) = &self.limit {
                    limit.begin();
                }
                self.execute(statement, parameters, results)
            }
        };
        let exceeded = self.limit.as_ref().filter(|limit| limit.end());
        self.slot.leave();
        // An interrupted statement may report any error.
        match exceeded {
            _ if self.target.cancel.is_cancelled() => done.map_err(|_| EngineError::Cancelled),
            Some(limit) => done.map_err(|_| limit.exceeded()),
            None => done,
        }
    }

    /// The first session does it for all: there is one file.
    fn flush(&mut self, index: u32, _: u32) -> Result<()> {
        if index > 0 || !self.target.final_checkpoint {
            return Ok(());
        }
        self.slot.enter();
        let result = self.open()?.connection.run("CHECKPOINT").map_err(failed("final checkpoint"));
        self.slot.leave();
        result
    }

    fn end(&mut self) {
        self.slot.end();
    }
}
