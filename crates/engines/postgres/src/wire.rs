//! Requests as exchanges with the server, and its answers: messages of the frontend/backend
//! protocol, version 3 (<https://www.postgresql.org/docs/current/protocol-message-formats.html>).

use super::errors::said_by_server;
use crate::client::ServerError;
use engine::{Done, Result, Results};
use serde::{Deserialize, Serialize};
use servers::load::{RUNNING, lost};
use std::collections::VecDeque;
use std::io::{self, Write as _};
use std::sync::Arc;
use transport::Wire;
use work::{Key, Parameter, Request, Statement};

/// A statement, ready to be sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatementText {
    /// The SQL.
    pub sql: String,
    /// The statement of the bulk load that can take its place; empty where there is none.
    pub copy: String,
    /// Keys are integers, not UUIDs.
    pub integer_key: bool,
    /// True if its results keep all rows.
    pub keeps_rows: bool,
}

/// Most results of one request that are kept: a server must not fill our memory with them.
const RESULTS_MAX: usize = 1000;

/// Numbers of our own statements; those of operations follow.
const BEGIN: usize = 0;
const COMMIT: usize = 1;
const BOUNDS: [&str; 2] = ["BEGIN", "COMMIT"];

/// The statements that the requests of a load stand for: our own, then those of its operations.
pub fn statements(operations: impl Iterator<Item = StatementText>) -> Arc<[StatementText]> {
    let statement_text =
        BOUNDS.map(|sql| StatementText { sql: sql.into(), ..StatementText::default() });
    statement_text.into_iter().chain(operations).collect()
}

/// The SQL of an operation among them.
pub(crate) fn operation_sql(statements: &[StatementText], operation: usize) -> &str {
    statements.get(BOUNDS.len() + operation).map_or("", |statement| &statement.sql)
}

/// A connection's side of the protocol, with the request in flight. A request makes it send one
/// exchange of messages or several, each of which ends with the server's ReadyForQuery.
pub struct PostgresWire {
    statements: Arc<[StatementText]>,
    /// The statements that the server has prepared for this connection.
    prepared: Vec<bool>,
    /// Statements whose Parse is in flight, in order.
    parsing: VecDeque<usize>,
    /// Keys for each of which the statement runs in an exchange of its own.
    keys: Vec<Key>,
    statement: usize,
    /// Step after the exchange in flight: the key at this position, or the commit after the last
    /// one.
    next: Option<usize>,
    keeps_results: bool,
    keeps_rows: bool,
    results: Vec<Results>,
    /// The first error of the request, or what the server said before it closed the connection.
    error: Option<ServerError>,
}

impl PostgresWire {
    /// A connection that is logged in and has prepared nothing.
    pub fn new(statements: Arc<[StatementText]>) -> Self {
        Self {
            prepared: vec![false; statements.len()],
            statements,
            parsing: VecDeque::new(),
            keys: Vec::new(),
            statement: 0,
            next: None,
            keeps_results: false,
            keeps_rows: false,
            results: Vec::new(),
            error: None,
        }
    }

    /// Prepares a statement on its first use.
    fn prepare(&mut self, statement: usize, out: &mut Vec<u8>) {
        if !self.prepared[statement] && !self.parsing.contains(&statement) {
            self.parsing.push_back(statement);
            parse(out, statement, &self.statements[statement].sql);
        }
    }

    fn run(&mut self, statement: usize, out: &mut Vec<u8>) {
        self.prepare(statement, out);
        bind(out, statement, Format::Text, 0, |_| ());
        out.extend_from_slice(EXECUTE);
    }

    fn run_for(&mut self, statement: usize, key: Key, out: &mut Vec<u8>) {
        self.prepare(statement, out);
        let integer = self.statements[statement].integer_key;
        bind(out, statement, Format::Binary, 1, |out| put_key(out, key, integer));
        out.extend_from_slice(EXECUTE);
    }

    fn begin_batch(&mut self, statement: usize, keys: &[Key], pipelined: bool, out: &mut Vec<u8>) {
        match keys {
            // A single statement needs no transaction around it.
            [key] if !pipelined => self.run_for(statement, *key, out),
            _ if pipelined => {
                self.run(BEGIN, out);
                for key in keys {
                    self.run_for(statement, *key, out);
                }
                self.run(COMMIT, out);
            }
            _ => {
                self.run(BEGIN, out);
                self.keys.clear();
                self.keys.extend_from_slice(keys);
                (self.statement, self.next) = (statement, Some(0));
            }
        }
        out.extend_from_slice(SYNC);
    }

    /// The binary form of COPY: signature, flags, length of the header's extension; rows; -1
    /// (<https://www.postgresql.org/docs/current/sql-copy.html>). All of it is sent ahead: should
    /// the server refuse the COPY, it ignores the rest.
    fn copy(&self, statement: usize, keys: &[Key], out: &mut Vec<u8>) {
        let StatementText { copy, integer_key, .. } = &self.statements[statement];
        query(out, copy);
        message(out, b'd', |out| {
            out.extend_from_slice(COPY_HEADER);
            for key in keys {
                out.extend_from_slice(&1_i16.to_be_bytes());
                put_key(out, *key, *integer_key);
            }
            out.extend_from_slice(&(-1_i16).to_be_bytes());
        });
        out.extend_from_slice(COPY_DONE);
    }

    /// The server is ready for the next exchange of the request; the answer when it was the last.
    fn exchange_over(&mut self, out: &mut Vec<u8>) -> Option<Result<Done>> {
        // Statements that are not prepared by now have failed.
        self.parsing.clear();
        if let Some(error) = self.error.take() {
            return Some(Err(said_by_server(RUNNING, &error)));
        }
        let Some(number) = self.next else {
            return Some(Ok(Done { retries: 0, results: std::mem::take(&mut self.results) }));
        };
        if let Some(key) = self.keys.get(number) {
            self.run_for(self.statement, *key, out);
            self.next = Some(number + 1);
        } else {
            self.run(COMMIT, out);
            self.next = None;
        }
        out.extend_from_slice(SYNC);
        None
    }
}

fn put_key(out: &mut Vec<u8>, key: Key, integer: bool) {
    if integer {
        binary(out, &key.integer().to_be_bytes());
    } else {
        binary(out, &key.bytes());
    }
}

impl Wire for PostgresWire {
    type Request<'a> = &'a Request<'a>;
    type Answer = Result<Done>;

    fn begin(&mut self, request: &Request<'_>, out: &mut Vec<u8>) {
        self.results.clear();
        (self.next, self.keeps_results) =
            (None, matches!(request, Request::Execute { results: true, .. }));
        self.keeps_rows = false;
        match *request {
            Request::Batch { operation, keys, pipelined, .. } => {
                self.begin_batch(BOUNDS.len() + operation, keys, pipelined, out);
            }
            Request::Bulk { operation, keys, .. } => self.copy(BOUNDS.len() + operation, keys, out),
            Request::Execute {
                statement: Statement::Operation(operation),
                parameters,
                results,
            } => {
                let statement = BOUNDS.len() + operation;
                self.keeps_rows = self.statements[statement].keeps_rows;
                self.prepare(statement, out);
                bind(out, statement, Format::Text, parameters.len(), |out| {
                    for parameter in parameters {
                        value(out, parameter);
                    }
                });
                if results {
                    out.extend_from_slice(DESCRIBE);
                }
                out.extend_from_slice(EXECUTE);
                out.extend_from_slice(SYNC);
            }
            Request::Execute { statement: Statement::Text(sql), .. } => query(out, sql),
            Request::Execute { statement: Statement::Begin, .. } => query(out, "BEGIN"),
            Request::Execute { statement: Statement::Commit, .. } => query(out, "COMMIT"),
            Request::Execute { statement: Statement::Rollback, .. } => query(out, "ROLLBACK"),
        }
    }

    fn take(&mut self, input: &mut &[u8], out: &mut Vec<u8>) -> Option<Self::Answer> {
        while let Some((kind, body)) = first(input) {
            *input = &input[body.len() + 5..];
            match kind {
                // The first Parse in flight is complete.
                b'1' => {
                    if let Some(statement) = self.parsing.pop_front() {
                        self.prepared[statement] = true;
                    }
                }
                b'E' if self.error.is_none() => self.error = Some(ServerError::parse(body)),
                b'T' if self.results.len() == RESULTS_MAX => {
                    let message = format!(
                        "a statement returned more than {RESULTS_MAX} result \
                                           sets"
                    );
                    self.error.get_or_insert(ServerError { message, ..ServerError::default() });
                }
                b'T' if self.keeps_results => {
                    let columns = column_names(body);
                    self.results.push(Results { columns, ..Results::default() });
                }
                b'D' if self.keeps_results => {
                    if let Some(results) = self.results.last_mut() {
                        results.add(cells(body), self.keeps_rows);
                    }
                }
                b'Z' => {
                    if let answer @ Some(_) = self.exchange_over(out) {
                        return answer;
                    }
                }
                // CommandComplete, BindComplete, notices and the like need no action.
                _ => {}
            }
        }
        None
    }

    fn lost(&mut self, error: &io::Error) -> Self::Answer {
        let last_words = self.error.take();
        Err(lost(last_words.map(|last_words| said_by_server(RUNNING, &last_words)), error))
    }
}

/// Formats of a message's parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Text = 0,
    Binary = 1,
}

/// Appends a message whose body `body` writes.
fn message(out: &mut Vec<u8>, kind: u8, body: impl FnOnce(&mut Vec<u8>)) {
    out.push(kind);
    with_length(out, 4, body);
}

/// Appends a length, which counts `itself` bytes of its own, and what `body` writes.
fn with_length(out: &mut Vec<u8>, itself: usize, body: impl FnOnce(&mut Vec<u8>)) {
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    body(out);
    let length = (out.len() - at - 4 + itself) as i32;
    out[at..at + 4].copy_from_slice(&length.to_be_bytes());
}

fn text(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
    out.push(0);
}

/// Name under which statement number `statement` is prepared.
fn name(out: &mut Vec<u8>, statement: usize) {
    // Writing to a vector cannot fail.
    let _ = write!(out, "s{statement}");
    out.push(0);
}

/// Prepares a statement; the server finds out the types of its parameters.
fn parse(out: &mut Vec<u8>, statement: usize, sql: &str) {
    message(out, b'P', |out| {
        name(out, statement);
        text(out, sql);
        out.extend_from_slice(&0_i16.to_be_bytes());
    });
}

/// Binds parameters, which `values` writes with [`binary`] or [`value`], to a prepared statement.
/// Results come as text.
fn bind(
    out: &mut Vec<u8>,
    statement: usize,
    format: Format,
    count: usize,
    values: impl FnOnce(&mut Vec<u8>),
) {
    message(out, b'B', |out| {
        text(out, "");
        name(out, statement);
        // One format for all parameters.
        out.extend_from_slice(&1_i16.to_be_bytes());
        out.extend_from_slice(&(format as i16).to_be_bytes());
        out.extend_from_slice(&(count as i16).to_be_bytes());
        values(out);
        out.extend_from_slice(&0_i16.to_be_bytes());
    });
}

/// A parameter's value in binary format.
fn binary(out: &mut Vec<u8>, bytes: &[u8]) {
    with_length(out, 0, |out| out.extend_from_slice(bytes));
}

/// A parameter's value in text format. Floating point numbers have the 15 digits that pgbench
/// gives them (`DBL_DIG`).
fn value(out: &mut Vec<u8>, parameter: &Parameter) {
    if *parameter == Parameter::Null {
        out.extend_from_slice(&(-1_i32).to_be_bytes());
        return;
    }
    with_length(out, 0, |out| {
        // Writing to a vector cannot fail.
        let _ = match parameter {
            Parameter::Null => Ok(()),
            Parameter::Bool(value) => write!(out, "{value}"),
            Parameter::Integer(value) => write!(out, "{value}"),
            Parameter::Double(value) => write!(out, "{value:.14e}"),
            Parameter::Text(value) => write!(out, "{value}"),
        };
    });
}

/// How data in COPY's binary format begin: no flags, no extension.
pub(crate) const COPY_HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";

/// Asks for the names of the bound statement's columns.
const DESCRIBE: &[u8] = b"D\0\0\0\x06P\0";
/// Runs the bound statement.
const EXECUTE: &[u8] = b"E\0\0\0\x09\0\0\0\0\0";
/// Ends a series of messages: the server answers it with ReadyForQuery.
const SYNC: &[u8] = b"S\0\0\0\x04";
/// The end of a bulk load.
const COPY_DONE: &[u8] = b"c\0\0\0\x04";

/// A text of one or more statements.
fn query(out: &mut Vec<u8>, sql: &str) {
    message(out, b'Q', |out| text(out, sql));
}

/// The message at the beginning of `bytes`, if all of it is there: its kind and body.
fn first(bytes: &[u8]) -> Option<(u8, &[u8])> {
    let (&kind, rest) = bytes.split_first()?;
    let (length, _) = rest.split_first_chunk::<4>()?;
    // The length counts itself.
    let length = u32::from_be_bytes(*length) as usize;
    Some((kind, rest.get(4..length.max(4))?))
}

/// Names of the columns of a RowDescription.
fn column_names(body: &[u8]) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = body.get(2..).unwrap_or_default();
    while let Some(end) = rest.iter().position(|byte| *byte == 0) {
        names.push(String::from_utf8_lossy(&rest[..end]).into_owned());
        // Table, column, type, size, modifier, format: 18 bytes.
        rest = rest.get(end + 19..).unwrap_or_default();
    }
    names
}

/// The cells of a DataRow.
fn cells(body: &[u8]) -> Vec<Option<String>> {
    let mut cells = Vec::new();
    let mut rest = body.get(2..).unwrap_or_default();
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let length = i32::from_be_bytes(*length);
        let bytes = usize::try_from(length).ok().and_then(|length| after.get(..length));
        rest = &after[bytes.map_or(0, <[u8]>::len)..];
        cells.push(bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned()));
    }
    cells
}
