//! The connections of a load: many of them on one thread, each with at most one request in flight.
//! The driver is asynchronous; a thread's runtime works while the thread waits for answers.

use super::bulk::{ColumnTypes, KeyRow, bulk_copy};
use super::database::Database;
use super::failures::failed_at;
use crate::dialect::spelled;
use crate::live::Config;
use crate::live::client::{self, ATTENTION_S, Error, PATIENCE_MAX, runtime};
use engine::{Answer, ConnectionSet, Done, EngineError, Result, Results, lock};
use mssql_tds::connection::tds_client::{
    ExecuteOptions, PreparedStatement, ResultSet as _, StatementResult, TdsClient,
};
use mssql_tds::core::{CancelHandle, TdsResult};
use mssql_tds::datatypes::sql_string::SqlString;
use mssql_tds::datatypes::sqltypes::SqlType;
use mssql_tds::error::Error as DriverError;
use mssql_tds::message::parameters::rpc_parameters::{RpcParameter, StatusFlags};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use uuid::Uuid;
use work::{Cancel, Key, Parameter, Request, Statement};

/// Application name of our sessions.
const APPLICATION: &str = "steelbench";

/// How long a thread waits at most before it looks whether it is to stop.
const WAIT_MAX: Duration = Duration::from_millis(50);

/// Connections that a thread opens at the same time: logins take a server much longer than a round
/// trip.
const OPENED_TOGETHER: usize = 16;

/// Most bytes of a batch: 65,536 packets of the default size
/// (<https://learn.microsoft.com/sql/sql-server/maximum-capacity-specifications-for-sql-server>).
const BATCH_BYTES_MAX: usize = 65_536 * 4096;
/// Characters of a key in a statement with its quotes and separators, at most.
const KEY_CHARACTERS: usize = 40;

/// Most results of one request that are kept: a server must not fill our memory with them.
const RESULTS_MAX: usize = 1000;

/// Most characters of a text parameter that is not of type `nvarchar(max)`.
const TEXT_MAX: usize = 4000;

/// Initial settings of sessions: an error ends and rolls back the whole transaction, so that
/// statements sent after a failed one are not committed by themselves; no message is sent for each
/// row.
const SESSION: &str = "SET XACT_ABORT ON; SET NOCOUNT ON; SELECT CAST(@@SPID AS int) AS session_id";

const BEGIN: &str = "BEGIN TRANSACTION";
const COMMIT: &str = "COMMIT TRANSACTION";
/// The server has rolled back by itself after most errors.
const ROLLBACK: &str = "IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION";

/// A statement, ready to be sent.
#[derive(Debug, Default)]
pub struct StatementText {
    /// The SQL, with `@P1`, ... for parameters.
    pub sql: String,
    /// Of an insert, where it puts rows.
    pub target: Option<BulkTarget>,
    /// Keys are integers, not UUIDs.
    pub integer_key: bool,
}

/// A table into which bulk loads put rows of which only the key is given.
#[derive(Debug)]
pub struct BulkTarget {
    pub table: String,
    pub key: &'static str,
    /// Read once for all connections and transactions of a trial.
    pub types: ColumnTypes,
}

/// The sessions that serve a load, and the time in which they had a request in flight.
#[derive(Debug, Default)]
pub struct Sessions {
    pub ids: Mutex<Vec<i32>>,
    pub in_flight_ns: AtomicU64,
}

/// The connections of one thread.
pub struct MssqlConnections {
    runtime: Runtime,
    /// Connections without a request.
    idle: Vec<Option<Box<Connection>>>,
    running: JoinSet<(usize, Box<Connection>, Result<Done>)>,
    cancel: CancelHandle,
    sessions: Arc<Sessions>,
    ours: Vec<i32>,
    /// The connection that makes a checkpoint at the end of the measurement, if requested.
    checkpoints: Option<Arc<Database>>,
}

/// A connection, with room for the request in flight.
struct Connection {
    client: TdsClient,
    statements: Arc<[StatementText]>,
    prepared: Vec<PreparedStatement>,
    cancel: CancelHandle,
    request: RequestKind,
    text: String,
    parameters: Vec<Parameter>,
    keys: Vec<Key>,
}

/// A request without what it borrows.
#[derive(Debug, Clone, Copy)]
enum RequestKind {
    Operation { number: usize, results: bool },
    Text { results: bool },
    Batch { number: usize, pipelined: bool },
    Bulk { number: usize },
}

impl MssqlConnections {
    /// Opens this many connections; they are added to `sessions`.
    pub fn connect(
        config: &Config,
        connections: u32,
        statements: &Arc<[StatementText]>,
        sessions: Arc<Sessions>,
        checkpoints: Option<Arc<Database>>,
        cancel: &Cancel,
    ) -> Result<Self> {
        let connecting = || failed_at("connecting");
        let mut handle = CancelHandle::new();
        handle.set_cancel_timeout_secs(ATTENTION_S);
        let mut set = Self {
            runtime: runtime().map_err(connecting())?,
            idle: Vec::with_capacity(connections as usize),
            running: JoinSet::new(),
            cancel: handle,
            sessions,
            ours: Vec::new(),
            checkpoints,
        };
        let handle = |_| set.cancel.child_handle();
        let mut waiting: Vec<CancelHandle> = (0..connections).map(handle).collect();
        let (mut opening, stop) = (JoinSet::new(), cancel.stop());
        loop {
            while opening.len() < OPENED_TOGETHER
                && let Some(handle) = waiting.pop()
            {
                let connection = Connection::open(config.clone(), Arc::clone(statements), handle);
                opening.spawn_on(connection, set.runtime.handle());
            }
            let opened = async { Ok(opening.join_next().await) };
            let opened = client::until(&set.runtime, opened, PATIENCE_MAX, || stop.is_asked());
            let Some(opened) = opened.map_err(connecting())? else { return Ok(set) };
            let opened =
                opened.map_err(|error| EngineError::failed("connecting", error.to_string()))?;
            let (connection, number) = opened.map_err(connecting())?;
            set.ours.extend(number);
            lock(&set.sessions.ids).extend(number);
            set.idle.push(Some(connection));
        }
    }
}

impl ConnectionSet for MssqlConnections {
    fn send(&mut self, number: usize, request: &Request<'_>) -> Result<()> {
        let Some(mut connection) = self.idle.get_mut(number).and_then(Option::take) else {
            return Err(EngineError::failed("sending a request", "the connection was lost"));
        };
        connection.take_up(request);
        connection.fits_a_batch()?;
        let (sessions, sent) = (Arc::clone(&self.sessions), Instant::now());
        let work = async move {
            let result = connection.run().await;
            let took_ns = sent.elapsed().as_nanos() as u64;
            sessions.in_flight_ns.fetch_add(took_ns, Ordering::Relaxed);
            let result = result
                .map_err(|error| failed_at("running a transaction")(client::translate(&error)));
            (number, connection, result)
        };
        self.running.spawn_on(work, self.runtime.handle());
        Ok(())
    }

    fn wait(&mut self, most_ns: Option<u64>, answers: &mut Vec<Answer>) -> Result<()> {
        let timeout =
            most_ns.map_or(WAIT_MAX, |most_ns| Duration::from_nanos(most_ns).min(WAIT_MAX));
        if self.running.is_empty() {
            std::thread::sleep(timeout);
            return Ok(());
        }
        let running = &mut self.running;
        let waiting = async { tokio::time::timeout(timeout, running.join_next()).await };
        let mut next = self.runtime.block_on(waiting).ok().flatten();
        while let Some(done) = next {
            let (connection, run, result) = done
                .map_err(|error| EngineError::failed("running a transaction", error.to_string()))?;
            self.idle[connection] = Some(run);
            answers.push(Answer { connection, result });
            next = self.running.try_join_next();
        }
        Ok(())
    }

    fn flush(&mut self, index: u32, _: u32) -> Result<()> {
        // One checkpoint serves all connections.
        let database = self.checkpoints.as_ref().filter(|_| index == 0);
        database.map_or(Ok(()), |database| database.run("final checkpoint", "CHECKPOINT"))
    }
}

impl Drop for MssqlConnections {
    /// Cancels running statements by attention before the connections close.
    fn drop(&mut self) {
        self.cancel.cancel();
        let running = &mut self.running;
        let ended = async { while running.join_next().await.is_some() {} };
        let limit = Duration::from_secs(ATTENTION_S.into());
        let _ = self.runtime.block_on(async { tokio::time::timeout(limit, ended).await });
        lock(&self.sessions.ids).retain(|session| !self.ours.contains(session));
    }
}

impl Connection {
    /// Opens a session; returns also its number on the server.
    async fn open(
        config: Config,
        statements: Arc<[StatementText]>,
        cancel: CancelHandle,
    ) -> Result<(Box<Self>, Option<i32>), Error> {
        let client = client::connect(&config, APPLICATION).await?;
        let prepared =
            statements.iter().map(|text| PreparedStatement::new(text.sql.clone())).collect();
        let mut connection = Box::new(Self {
            client,
            statements,
            prepared,
            cancel,
            request: RequestKind::Text { results: true },
            text: SESSION.to_owned(),
            parameters: Vec::new(),
            keys: Vec::new(),
        });
        let limit = Duration::from_secs(config.connect_timeout_s.into());
        let answer = tokio::time::timeout(limit, connection.run())
            .await
            .map_err(|_| Error::NoAnswer(format!("no answer within {} s", limit.as_secs())))?
            .map_err(|error| client::translate(&error))?;
        let row = answer.results.first();
        let number = row.and_then(|row| row.last.first()?.as_ref()?.parse::<i32>().ok());
        Ok((connection, number))
    }

    fn take_up(&mut self, request: &Request<'_>) {
        self.text.clear();
        self.parameters.clear();
        self.keys.clear();
        self.request = match *request {
            Request::Execute { statement: Statement::Operation(number), parameters, results } => {
                self.parameters.extend_from_slice(parameters);
                RequestKind::Operation { number, results }
            }
            Request::Execute { statement, results, .. } => {
                self.text.push_str(match statement {
                    Statement::Text(text) => spelled(text),
                    Statement::Begin => BEGIN,
                    Statement::Commit => COMMIT,
                    Statement::Rollback | Statement::Operation(_) => ROLLBACK,
                });
                RequestKind::Text { results }
            }
            Request::Batch { operation, keys, pipelined, .. } => {
                self.keys.extend_from_slice(keys);
                RequestKind::Batch { number: operation, pipelined }
            }
            Request::Bulk { operation, keys, .. } => {
                self.keys.extend_from_slice(keys);
                RequestKind::Bulk { number: operation }
            }
        };
    }

    /// Refuses a transaction that is longer than a batch may be.
    fn fits_a_batch(&self) -> Result<()> {
        let RequestKind::Batch { number, pipelined: true } = self.request else { return Ok(()) };
        let row = self.statements[number].sql.len() + KEY_CHARACTERS;
        // A character has two bytes.
        let bytes = self.keys.len().saturating_mul(2 * row);
        if bytes <= BATCH_BYTES_MAX {
            return Ok(());
        }
        let message = format!(
            "{} rows are {bytes} bytes of statements, more than a batch may have \
             ({BATCH_BYTES_MAX}); set fewer workload.rows_per_transaction",
            self.keys.len()
        );
        Err(EngineError::failed("writing a transaction", message))
    }

    async fn run(&mut self) -> TdsResult<Done> {
        match self.request {
            RequestKind::Operation { number, results } if self.parameters.is_empty() => {
                self.text.push_str(&self.statements[number].sql);
                self.run_text(results).await
            }
            RequestKind::Operation { number, results } => {
                let parameters = self
                    .parameters
                    .iter()
                    .zip(1..)
                    .map(|(value, at)| parameter(at, sql_type(value)));
                let parameters = parameters.collect();
                self.run_prepared(number, parameters, results).await
            }
            RequestKind::Text { results } => self.run_text(results).await,
            RequestKind::Batch { number, pipelined: true } => {
                self.write_batch(number);
                self.run_text(false).await
            }
            RequestKind::Batch { number, pipelined: false } => self.run_batch(number).await,
            RequestKind::Bulk { number } => self.run_bulk(number).await,
        }
    }

    async fn run_text(&mut self, results: bool) -> TdsResult<Done> {
        let options = ExecuteOptions::new().cancel(&self.cancel);
        let first = self.client.execute(std::mem::take(&mut self.text), options).await?;
        collect(&mut self.client, first, results).await
    }

    async fn run_prepared(
        &mut self,
        number: usize,
        parameters: Vec<RpcParameter>,
        results: bool,
    ) -> TdsResult<Done> {
        let options = ExecuteOptions::new().cancel(&self.cancel);
        let statement = &mut self.prepared[number];
        let first = self.client.execute_prepared(statement, parameters, &mut None, options).await?;
        collect(&mut self.client, first, results).await
    }

    async fn run_batch(&mut self, number: usize) -> TdsResult<Done> {
        // A single statement needs no transaction around it.
        let is_transaction = self.keys.len() > 1;
        if is_transaction {
            self.text.push_str(BEGIN);
            self.run_text(false).await?;
        }
        for at in 0..self.keys.len() {
            let value = if self.statements[number].integer_key {
                SqlType::BigInt(Some(self.keys[at].integer()))
            } else {
                SqlType::Uuid(Some(Uuid::from_u128(self.keys[at].0)))
            };
            self.run_prepared(number, vec![parameter(1, value)], false).await?;
        }
        if is_transaction {
            self.text.push_str(COMMIT);
            self.run_text(false).await?;
        }
        Ok(Done::default())
    }

    /// The transaction as one batch of statements.
    fn write_batch(&mut self, number: usize) {
        let statement = &self.statements[number];
        let (head, tail) = statement.sql.split_once("@P1").unwrap_or((&statement.sql, ""));
        self.text.push_str(BEGIN);
        for key in &self.keys {
            // Writing to memory cannot fail.
            let _ = if statement.integer_key {
                write!(self.text, "; {head}{}{tail}", key.integer())
            } else {
                write!(self.text, "; {head}'{}'{tail}", Uuid::from_u128(key.0))
            };
        }
        self.text.push_str("; ");
        self.text.push_str(COMMIT);
    }

    async fn run_bulk(&mut self, number: usize) -> TdsResult<Done> {
        let statement = &self.statements[number];
        let Some(BulkTarget { table, key, types }) = &statement.target else {
            return Err(DriverError::UsageError("this operation does not insert rows".into()));
        };
        let is_integer = statement.integer_key;
        let rows =
            std::mem::take(&mut self.keys).into_iter().map(move |key| KeyRow::new(key, is_integer));
        let mut copy = bulk_copy(&mut self.client, table, &[*key], types);
        copy.write_to_server_zerocopy(rows).await?;
        Ok(Done::default())
    }
}

/// Takes in all results of a request; the last row of each is kept where results are wanted.
async fn collect(client: &mut TdsClient, first: StatementResult, results: bool) -> TdsResult<Done> {
    let (mut done, mut result) = (Done::default(), first);
    while result != StatementResult::End {
        if result == StatementResult::Rows {
            let mut kept = Results::default();
            if results && done.results.len() < RESULTS_MAX {
                kept.columns =
                    client.get_metadata().iter().map(|column| column.column_name.clone()).collect();
            }
            while let Some(row) = client.next_row().await? {
                kept.rows += 1;
                if results {
                    kept.last = row.into_iter().map(client::text).collect();
                }
            }
            if results && done.results.len() < RESULTS_MAX {
                done.results.push(kept);
            }
        }
        result = client.advance().await?;
    }
    client.close_query().await?;
    Ok(done)
}

fn parameter(number: usize, value: SqlType) -> RpcParameter {
    RpcParameter::new(Some(format!("@P{number}")), StatusFlags::NONE, value)
}

fn sql_type(parameter: &Parameter) -> SqlType {
    match parameter {
        Parameter::Null => SqlType::NVarchar(None, TEXT_MAX as u16),
        Parameter::Bool(value) => SqlType::Bit(Some(*value)),
        Parameter::Integer(value) => SqlType::BigInt(Some(*value)),
        Parameter::Double(value) => SqlType::Float(Some(*value)),
        Parameter::Text(value) => {
            let is_long = value.encode_utf16().count() > TEXT_MAX;
            let text = Some(SqlString::from_utf8_string(value.clone()));
            if is_long {
                SqlType::NVarcharMax(text)
            } else {
                SqlType::NVarchar(text, TEXT_MAX as u16)
            }
        }
    }
}
