use super::message::{self, Format};
use crate::{Key, Request, Statement};

/// The statements that the requests of a load stand for.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Statements {
    /// Those of the operations, behind our own.
    operations: Vec<OperationText>,
}

/// An operation, ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationText {
    /// Its statement.
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

impl Statements {
    /// The statements of these operations.
    pub fn new(operations: Vec<OperationText>) -> Self {
        Self { operations }
    }

    /// Number of statements.
    pub fn len(&self) -> usize {
        OWN.len() + self.operations.len()
    }

    fn text(&self, statement: usize) -> &str {
        OWN.get(statement).copied().unwrap_or_else(|| &self.operations[statement - OWN.len()].sql)
    }
}

/// What a request makes a connection send: one exchange or several, each of which ends with the
/// server's ReadyForQuery.
#[derive(Debug, Default)]
pub struct Task {
    /// Keys for each of which the operation runs, one by one.
    keys: Vec<Key>,
    operation: usize,
    next: Next,
    /// Whether results are kept.
    pub results: bool,
}

/// What comes after the exchange that is in flight.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Next {
    Key(usize),
    #[default]
    Nothing,
}

/// Where a connection's messages are put, and what it has prepared.
pub struct Output<'a> {
    pub bytes: &'a mut Vec<u8>,
    pub statements: &'a Statements,
    pub prepared: &'a mut Prepared,
}

/// Which statements a connection has prepared.
#[derive(Debug, Default)]
pub struct Prepared {
    done: Vec<bool>,
    /// Statements whose Parse is in flight, in order.
    in_flight: std::collections::VecDeque<usize>,
}

impl Prepared {
    /// None of so many.
    pub fn none_of(statements: usize) -> Self {
        Self { done: vec![false; statements], in_flight: std::collections::VecDeque::new() }
    }

    /// The server has prepared the first one that is in flight.
    pub fn complete(&mut self) {
        if let Some(statement) = self.in_flight.pop_front() {
            self.done[statement] = true;
        }
    }

    /// The exchange is over: what was not prepared by now has failed.
    pub fn exchange_over(&mut self) {
        self.in_flight.clear();
    }
}

impl Output<'_> {
    /// Prepares a statement on its first use.
    fn prepare(&mut self, statement: usize) {
        let in_flight = &mut self.prepared.in_flight;
        if !self.prepared.done[statement] && !in_flight.contains(&statement) {
            in_flight.push_back(statement);
            message::parse(self.bytes, statement, self.statements.text(statement));
        }
    }

    /// Runs a prepared statement without parameters.
    fn run(&mut self, statement: usize) {
        self.prepare(statement);
        message::bind(self.bytes, statement, (Format::Text, 0), |_| ());
        message::execute(self.bytes);
    }

    /// Runs an operation for a key.
    fn run_for(&mut self, operation: usize, key: Key) {
        let statement = OWN.len() + operation;
        self.prepare(statement);
        let integer = self.statements.operations[operation].integer_key;
        message::bind(self.bytes, statement, (Format::Binary, 1), |out| put_key(out, key, integer));
        message::execute(self.bytes);
    }

    fn sync(&mut self) {
        message::sync(self.bytes);
    }
}

fn put_key(out: &mut Vec<u8>, key: Key, integer: bool) {
    if integer {
        message::binary(out, &key.integer().to_be_bytes());
    } else {
        message::binary(out, &key.bytes());
    }
}

impl Task {
    /// Begins a request.
    pub fn begin(&mut self, request: &Request<'_>, out: &mut Output<'_>) {
        (self.next, self.results) = (Next::Nothing, false);
        match *request {
            Request::Batch { operation, keys, pipelined, .. } => {
                self.begin_batch(operation, keys, pipelined, out);
            }
            Request::Bulk { operation, keys, .. } => copy(operation, keys, out),
            Request::Execute { statement: Statement::Operation(operation), parameters, results } => {
                self.results = results;
                let statement = OWN.len() + operation;
                out.prepare(statement);
                message::bind(out.bytes, statement, (Format::Text, parameters.len()), |out| {
                    for parameter in parameters {
                        message::value(out, parameter);
                    }
                });
                if results {
                    message::describe(out.bytes);
                }
                message::execute(out.bytes);
                out.sync();
            }
            Request::Execute { statement: Statement::Text(sql), results, .. } => {
                self.results = results;
                message::query(out.bytes, sql);
            }
            Request::Execute { statement: Statement::Rollback, .. } => message::query(out.bytes, "ROLLBACK"),
        }
    }

    fn begin_batch(&mut self, operation: usize, keys: &[Key], pipelined: bool, out: &mut Output<'_>) {
        // A single statement needs no transaction around it.
        if let ([key], false) = (keys, pipelined) {
            out.run_for(operation, *key);
            return out.sync();
        }
        out.run(BEGIN);
        if pipelined {
            for key in keys {
                out.run_for(operation, *key);
            }
            out.run(COMMIT);
        } else {
            self.keys.clear();
            self.keys.extend_from_slice(keys);
            (self.operation, self.next) = (operation, Next::Key(0));
        }
        out.sync();
    }

    /// Goes on after an exchange; false when the request is done.
    pub fn go_on(&mut self, out: &mut Output<'_>) -> bool {
        let Next::Key(number) = self.next else { return false };
        if let Some(key) = self.keys.get(number) {
            out.run_for(self.operation, *key);
            self.next = Next::Key(number + 1);
        } else {
            out.run(COMMIT);
            self.next = Next::Nothing;
        }
        out.sync();
        true
    }
}

/// The binary form of COPY: signature, flags, length of the header's extension; rows; -1
/// (<https://www.postgresql.org/docs/current/sql-copy.html>). All of it is sent ahead: should the
/// server refuse the COPY, it ignores the rest.
fn copy(operation: usize, keys: &[Key], out: &mut Output<'_>) {
    let OperationText { copy, integer_key, .. } = &out.statements.operations[operation];
    message::query(out.bytes, copy);
    message::copy_data(out.bytes, |out| {
        out.extend_from_slice(b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0");
        for key in keys {
            out.extend_from_slice(&1_i16.to_be_bytes());
            put_key(out, *key, *integer_key);
        }
        out.extend_from_slice(&(-1_i16).to_be_bytes());
    });
    message::copy_done(out.bytes);
}
