use super::message::{self, Format};
use crate::postgres::said_by_server;
use crate::{Done, EngineError, Key, Request, Results, Statement};
use pgclient::ServerError;
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use transport::Wire;

/// A statement, ready to be sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StatementText {
    /// Its SQL.
    pub sql: String,
    /// The statement of the bulk load that can take its place; empty where there is none.
    pub copy: String,
    /// Keys are integers, not UUIDs.
    pub integer_key: bool,
}

/// Numbers of our own statements; those of operations follow.
const BEGIN: usize = 0;
const COMMIT: usize = 1;
const OWN: [&str; 2] = ["BEGIN", "COMMIT"];

/// The statements that the requests of a load stand for: our own, then those of its operations.
pub fn statements(operations: impl Iterator<Item = StatementText>) -> Arc<[StatementText]> {
    let own = OWN.map(|sql| StatementText { sql: sql.into(), ..StatementText::default() });
    own.into_iter().chain(operations).collect()
}

/// One connection's side of the protocol, with the request in flight. A request makes it send one exchange of
/// messages or several, each of which ends with the server's ReadyForQuery.
pub struct PostgresWire {
    statements: Arc<[StatementText]>,
    /// Which of them the server has prepared for this connection.
    prepared: Vec<bool>,
    /// Statements whose Parse is in flight, in order.
    parsing: VecDeque<usize>,
    /// Keys for each of which the statement runs in an exchange of its own.
    keys: Vec<Key>,
    statement: usize,
    /// What comes after the exchange in flight: the key at this position, or the commit behind the last one.
    next: Option<usize>,
    keeps_results: bool,
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
            results: Vec::new(),
            error: None,
        }
    }

    /// Prepares a statement on its first use.
    fn prepare(&mut self, statement: usize, out: &mut Vec<u8>) {
        if !self.prepared[statement] && !self.parsing.contains(&statement) {
            self.parsing.push_back(statement);
            message::parse(out, statement, &self.statements[statement].sql);
        }
    }

    /// Runs a statement without parameters.
    fn run(&mut self, statement: usize, out: &mut Vec<u8>) {
        self.prepare(statement, out);
        message::bind(out, statement, (Format::Text, 0), |_| ());
        message::execute(out);
    }

    /// Runs a statement for a key.
    fn run_for(&mut self, statement: usize, key: Key, out: &mut Vec<u8>) {
        self.prepare(statement, out);
        let integer = self.statements[statement].integer_key;
        message::bind(out, statement, (Format::Binary, 1), |out| put_key(out, key, integer));
        message::execute(out);
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
        message::sync(out);
    }

    /// The binary form of COPY: signature, flags, length of the header's extension; rows; -1
    /// (<https://www.postgresql.org/docs/current/sql-copy.html>). All of it is sent ahead: should the
    /// server refuse the COPY, it ignores the rest.
    fn copy(&self, statement: usize, keys: &[Key], out: &mut Vec<u8>) {
        let StatementText { copy, integer_key, .. } = &self.statements[statement];
        message::query(out, copy);
        message::copy_data(out, |out| {
            out.extend_from_slice(b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0");
            for key in keys {
                out.extend_from_slice(&1_i16.to_be_bytes());
                put_key(out, *key, *integer_key);
            }
            out.extend_from_slice(&(-1_i16).to_be_bytes());
        });
        message::copy_done(out);
    }

    /// The server is ready for the next exchange of the request; the answer when it was the last.
    fn exchange_over(&mut self, out: &mut Vec<u8>) -> Option<Result<Done, EngineError>> {
        // What was not prepared by now has failed.
        self.parsing.clear();
        if let Some(error) = self.error.take() {
            return Some(Err(said_by_server("running a transaction", &error)));
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
        message::sync(out);
        None
    }
}

fn put_key(out: &mut Vec<u8>, key: Key, integer: bool) {
    if integer {
        message::binary(out, &key.integer().to_be_bytes());
    } else {
        message::binary(out, &key.bytes());
    }
}

impl Wire for PostgresWire {
    type Request<'a> = &'a Request<'a>;
    type Answer = Result<Done, EngineError>;

    fn begin(&mut self, request: &Request<'_>, out: &mut Vec<u8>) {
        self.results.clear();
        (self.next, self.keeps_results) = (None, matches!(request, Request::Execute { results: true, .. }));
        match *request {
            Request::Batch { operation, keys, pipelined, .. } => {
                self.begin_batch(OWN.len() + operation, keys, pipelined, out);
            }
            Request::Bulk { operation, keys, .. } => self.copy(OWN.len() + operation, keys, out),
            Request::Execute { statement: Statement::Operation(operation), parameters, results } => {
                let statement = OWN.len() + operation;
                self.prepare(statement, out);
                message::bind(out, statement, (Format::Text, parameters.len()), |out| {
                    for parameter in parameters {
                        message::value(out, parameter);
                    }
                });
                if results {
                    message::describe(out);
                }
                message::execute(out);
                message::sync(out);
            }
            Request::Execute { statement: Statement::Text(sql), .. } => message::query(out, sql),
            Request::Execute { statement: Statement::Rollback, .. } => message::query(out, "ROLLBACK"),
        }
    }

    fn take(&mut self, input: &mut &[u8], out: &mut Vec<u8>) -> Option<Self::Answer> {
        while let Some((kind, body)) = message::first(input) {
            *input = &input[body.len() + 5..];
            match kind {
                // The first Parse in flight is complete.
                b'1' => {
                    if let Some(statement) = self.parsing.pop_front() {
                        self.prepared[statement] = true;
                    }
                }
                b'E' if self.error.is_none() => self.error = Some(ServerError::parse(body)),
                b'T' if self.keeps_results => {
                    let columns = message::column_names(body);
                    self.results.push(Results { columns, ..Results::default() });
                }
                b'D' if self.keeps_results => {
                    if let Some(results) = self.results.last_mut() {
                        results.rows += 1;
                        results.last = message::cells(body);
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
        let doing = "running a transaction";
        Err(match self.error.take() {
            Some(said) => said_by_server(doing, &said),
            None => EngineError::failed(doing, format!("the connection to the server is lost: {error}")),
        })
    }
}
