//! Requests as exchanges with the server, and its answers.

use super::dialect::spelled;
use super::errors::said_by_server;
use crate::client::command::{self, Value};
use crate::client::{
    Column, Event, Kind, Packets, Response, ServerError, binary_row, put_packet, text_row,
};
use engine::{Done, EngineError, Result, Results};
use serde::{Deserialize, Serialize};
use servers::load::{RUNNING, lost};
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io;
use std::sync::Arc;
use transport::Wire;
use work::{Key, Parameter, Request, Statement};

/// A statement, ready to be sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatementText {
    /// The SQL.
    pub sql: String,
    /// Of an insert, the text before the values of many rows.
    pub insert_head: String,
    /// Keys are integers, not UUIDs.
    pub integer_key: bool,
    /// True if its results keep all rows.
    pub keeps_rows: bool,
}

/// Features of the server for a connection.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Features {
    /// It leaves out the description of columns that the client has.
    pub caches_metadata: bool,
    /// It runs one statement for many rows of parameters (`COM_STMT_BULK_EXECUTE`).
    pub bulk: bool,
}

/// Most results of one request that are kept: a server must not fill our memory with them.
const RESULTS_MAX: usize = 1000;

/// Rows of one message of a bulk load: some hundred kilobytes, less than `max_allowed_packet` has
/// anywhere.
const BULK_ROWS: usize = 10_000;

/// `ER_UNSUPPORTED_PS`: the statement cannot be prepared.
const CANNOT_BE_PREPARED: u16 = 1295;

const BEGIN: &str = "START TRANSACTION";
const COMMIT: &str = "COMMIT";
const ROLLBACK: &str = "ROLLBACK";
/// A transaction that is sent ahead begins so: when the server rolls it back by itself (a
/// deadlock), what follows is not committed statement by statement.
const AUTOCOMMIT_OFF: &str = "SET autocommit = 0";
const AUTOCOMMIT_ON: &str = "SET autocommit = 1";

/// A connection's knowledge of a statement.
#[derive(Debug, Clone, Default)]
enum Preparation {
    #[default]
    Nothing,
    Prepared {
        id: u32,
        columns: Vec<Column>,
    },
    /// It cannot be prepared, and has no parameters.
    AsText,
}

/// Next step after all outstanding responses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Next {
    /// The request is over.
    #[default]
    End,
    /// The statement is prepared: it begins now.
    Begin(What),
    /// The key at this position has its turn, or the commit behind the last one.
    Key(usize),
    /// The keys from this position on, or the commit.
    Bulk(usize),
    /// The transaction that was sent ahead is committed, or rolled back when one of its statements
    /// failed.
    Finish,
}

/// The purpose of a request for a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Execute,
    Batch { pipelined: bool },
    Bulk,
}

/// Owner of an outstanding response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    Prepare(usize),
    /// The execution of a statement that is prepared.
    Statement(usize),
    Text,
}

/// A connection's side of the protocol, with the request in flight.
#[derive(Default)]
pub struct MariaWire {
    statements: Arc<[StatementText]>,
    features: Features,
    preparations: Vec<Preparation>,
    packets: Packets,
    outstanding: VecDeque<(Of, Response)>,
    next: Next,
    /// The statement of the request, its parameters while it is not prepared yet, and its keys.
    statement: usize,
    parameters: Vec<Parameter>,
    keys: Vec<Key>,
    keeps_results: bool,
    results: Vec<Results>,
    /// Columns of the result that comes, and its last row so far.
    columns: Vec<Column>,
    row: Vec<u8>,
    /// The first error of the request, or what the server said before it closed the connection.
    error: Option<ServerError>,
}

impl MariaWire {
    /// A connection that is logged in and has prepared nothing.
    pub fn new(statements: Arc<[StatementText]>, features: Features) -> Self {
        let known = vec![Preparation::Nothing; statements.len()];
        Self { statements, features, preparations: known, ..Self::default() }
    }

    fn expect(&mut self, of: Of) {
        let kind = if matches!(of, Of::Prepare(_)) { Kind::Prepared } else { Kind::Results };
        self.outstanding.push_back((of, Response::new(kind, self.features.caches_metadata)));
    }

    fn text(&mut self, sql: &str, out: &mut Vec<u8>) {
        command::query(out, sql);
        self.expect(Of::Text);
    }

    /// Sends a request on the statement, once it is prepared.
    fn ask(&mut self, what: What, out: &mut Vec<u8>) {
        let text = &self.statements[self.statement];
        let needs_none = what == What::Bulk && !self.features.bulk;
        if matches!(self.preparations[self.statement], Preparation::Nothing) && !needs_none {
            command::prepare(out, &text.sql);
            self.expect(Of::Prepare(self.statement));
            self.next = Next::Begin(what);
        } else {
            self.start(what, out);
        }
    }

    fn start(&mut self, what: What, out: &mut Vec<u8>) {
        self.next = Next::End;
        match what {
            What::Execute => {
                let parameters = std::mem::take(&mut self.parameters);
                self.execute(&parameters, out);
                self.parameters = parameters;
            }
            What::Batch { pipelined: true } => {
                self.text(AUTOCOMMIT_OFF, out);
                for position in 0..self.keys.len() {
                    self.run_for(self.keys[position], out);
                }
                self.next = Next::Finish;
            }
            // A single statement needs no transaction around it.
            What::Batch { pipelined: false } if self.keys.len() == 1 => {
                self.run_for(self.keys[0], out);
            }
            What::Batch { pipelined: false } => {
                self.text(BEGIN, out);
                self.next = Next::Key(0);
            }
            What::Bulk if self.keys.len() <= BULK_ROWS => {
                self.bulk(0, out);
            }
            What::Bulk => {
                self.text(BEGIN, out);
                self.next = Next::Bulk(0);
            }
        }
    }

    fn execute(&mut self, parameters: &[Parameter], out: &mut Vec<u8>) {
        let Preparation::Prepared { id, .. } = self.preparations[self.statement] else {
            let statements = Arc::clone(&self.statements);
            return self.text(&statements[self.statement].sql, out);
        };
        command::execute(out, id, parameters.iter().map(value));
        self.expect(Of::Statement(self.statement));
    }

    fn run_for(&mut self, key: Key, out: &mut Vec<u8>) {
        let Preparation::Prepared { id, .. } = self.preparations[self.statement] else { return };
        let bytes = key.bytes();
        command::execute(out, id, std::iter::once(self.key_value(key, &bytes)));
        self.expect(Of::Statement(self.statement));
    }

    fn key_value<'a>(&self, key: Key, bytes: &'a [u8; 16]) -> Value<'a> {
        if self.statements[self.statement].integer_key {
            Value::Integer(key.integer())
        } else {
            Value::Bytes(bytes)
        }
    }

    /// Sends the next rows of a bulk load; returns the position behind them.
    fn bulk(&mut self, from: usize, out: &mut Vec<u8>) -> usize {
        let to = self.keys.len().min(from + BULK_ROWS);
        if let Preparation::Prepared { id, .. } = self.preparations[self.statement] {
            let bytes: Vec<[u8; 16]> = self.keys[from..to].iter().map(|key| key.bytes()).collect();
            let rows = self.keys[from..to].iter().zip(&bytes);
            command::execute_bulk(out, id, rows.map(|(key, bytes)| self.key_value(*key, bytes)));
            self.expect(Of::Statement(self.statement));
        } else {
            let text = &self.statements[self.statement];
            let mut sql = text.insert_head.clone();
            for (number, key) in self.keys[from..to].iter().enumerate() {
                let comma = if number > 0 { ", " } else { "" };
                // Writing to memory cannot fail.
                let _ = if text.integer_key {
                    write!(sql, "{comma}({})", key.integer())
                } else {
                    write!(sql, "{comma}(x'{:032x}')", key.0)
                };
            }
            self.text(&sql, out);
        }
        to
    }

    /// All responses have come: sends what is next, or has the answer when there is nothing.
    fn exchange_over(&mut self, out: &mut Vec<u8>) -> Option<Result<Done>> {
        match (self.next, self.error.is_some()) {
            (Next::Finish, failed) => {
                self.next = Next::End;
                self.text(if failed { ROLLBACK } else { COMMIT }, out);
                self.text(AUTOCOMMIT_ON, out);
            }
            (Next::End, _) | (_, true) => {
                self.next = Next::End;
                return Some(match self.error.take() {
                    Some(error) => Err(said_by_server(RUNNING, &error)),
                    None => Ok(Done { retries: 0, results: std::mem::take(&mut self.results) }),
                });
            }
            (Next::Begin(what), _) => self.start(what, out),
            (Next::Key(position), _) if position < self.keys.len() => {
                self.run_for(self.keys[position], out);
                self.next = Next::Key(position + 1);
            }
            (Next::Bulk(position), _) if position < self.keys.len() => {
                self.next = Next::Bulk(self.bulk(position, out));
            }
            (Next::Key(_) | Next::Bulk(_), _) => {
                self.text(COMMIT, out);
                self.next = Next::End;
            }
        }
        None
    }

    /// Takes a packet of the first response that is outstanding.
    fn take_packet(
        &mut self,
        packet: &[u8],
        sequence: u8,
        out: &mut Vec<u8>,
    ) -> Result<(), crate::client::Error> {
        let Some((of, response)) = self.outstanding.front_mut() else {
            // A server's message before it closes the connection.
            if let Some((0xFF, rest)) = packet.split_first() {
                self.error = Some(ServerError::parse(rest));
            }
            return Ok(());
        };
        let of = *of;
        let (event, is_over) = (response.take(packet)?, response.is_over());
        match (event, of) {
            (Event::Prepared(prepared), Of::Prepare(statement)) => {
                self.preparations[statement] =
                    Preparation::Prepared { id: prepared.id, columns: Vec::new() };
            }
            (Event::Result { described, .. }, _) => self.begin_result(of, described),
            (Event::Column(packet), _) => self.take_column(of, packet)?,
            (Event::Row(row), _) if self.keeps_results => {
                if self.keeps_rows(of) {
                    self.keep_row(of);
                }
                if let Some(results) = self.results.last_mut() {
                    results.rows += 1;
                }
                self.row.clear();
                self.row.extend_from_slice(row);
            }
            // We have no file for it.
            (Event::LocalFile, _) => drop(put_packet(out, sequence.wrapping_add(1), |_| ())),
            (Event::End(result), _) => {
                self.keep_row(of);
                self.outstanding.pop_front();
                if let Err(error) = result {
                    self.failed(of, error);
                }
                return Ok(());
            }
            _ => {}
        }
        if is_over {
            self.outstanding.pop_front();
        }
        Ok(())
    }

    /// Takes a column of a prepared statement, or of a result. A result's column replaces the
    /// prepared one: the types of parameters can have changed it. Columns of a text whose results
    /// are discarded are skipped.
    fn take_column(&mut self, of: Of, packet: &[u8]) -> Result<(), crate::client::Error> {
        if of == Of::Text && !self.keeps_results {
            return Ok(());
        }
        let column = Column::parse(packet)?;
        if self.keeps_results && !matches!(of, Of::Prepare(_)) {
            if let Some(results) = self.results.last_mut() {
                results.columns.push(column.name.clone());
            }
            self.columns.push(column.clone());
        }
        if let Of::Prepare(statement) | Of::Statement(statement) = of
            && let Preparation::Prepared { columns, .. } = &mut self.preparations[statement]
        {
            columns.push(column);
        }
        Ok(())
    }

    fn begin_result(&mut self, of: Of, described: bool) {
        if let (true, Of::Statement(statement)) = (described, of)
            && let Preparation::Prepared { columns, .. } = &mut self.preparations[statement]
        {
            columns.clear();
        }
        if !self.keeps_results {
            return;
        }
        self.keep_row(of);
        self.columns.clear();
        if self.results.len() == RESULTS_MAX {
            let message = format!("a statement returned more than {RESULTS_MAX} result sets");
            self.error.get_or_insert(ServerError { message, ..ServerError::default() });
            return;
        }
        if let (false, Of::Statement(statement)) = (described, of)
            && let Preparation::Prepared { columns, .. } = &self.preparations[statement]
        {
            self.columns.clone_from(columns);
        }
        let columns = self.columns.iter().map(|column| column.name.clone()).collect();
        self.results.push(Results { columns, ..Results::default() });
    }

    /// Returns whether all rows of these results are kept.
    fn keeps_rows(&self, of: Of) -> bool {
        of != Of::Text
            && self.statements.get(self.statement).is_some_and(|statement| statement.keeps_rows)
    }

    /// The last row of the result that comes or has ended becomes text.
    fn keep_row(&mut self, of: Of) {
        let keeps_rows = self.keeps_rows(of);
        let Some(results) = self.results.last_mut().filter(|_| !self.row.is_empty()) else {
            return;
        };
        let cells = match of {
            Of::Text => text_row(&self.row, self.columns.len()),
            _ => binary_row(&self.row, &self.columns),
        };
        let before = std::mem::replace(&mut results.last, cells.unwrap_or_default());
        if keeps_rows && !before.is_empty() {
            results.before.push(before);
        }
        self.row.clear();
    }

    fn failed(&mut self, of: Of, error: ServerError) {
        if let Of::Prepare(statement) = of
            && error.code == CANNOT_BE_PREPARED
            && self.parameters.is_empty()
            && self.keys.is_empty()
        {
            self.preparations[statement] = Preparation::AsText;
        } else {
            self.error.get_or_insert(error);
        }
    }
}

fn value(parameter: &Parameter) -> Value<'_> {
    match parameter {
        Parameter::Null => Value::Null,
        Parameter::Bool(value) => Value::Bool(*value),
        Parameter::Integer(value) => Value::Integer(*value),
        Parameter::Double(value) => Value::Double(*value),
        Parameter::Text(value) => Value::Text(value),
    }
}

impl Wire for MariaWire {
    type Request<'a> = &'a Request<'a>;
    type Answer = Result<Done>;

    fn begin(&mut self, request: &Request<'_>, out: &mut Vec<u8>) {
        self.results.clear();
        self.row.clear();
        self.keys.clear();
        self.parameters.clear();
        (self.next, self.keeps_results) =
            (Next::End, matches!(request, Request::Execute { results: true, .. }));
        match *request {
            Request::Batch { operation, keys, pipelined, .. } => {
                self.keys.extend_from_slice(keys);
                self.statement = operation;
                self.ask(What::Batch { pipelined }, out);
            }
            Request::Bulk { operation, keys, .. } => {
                self.keys.extend_from_slice(keys);
                self.statement = operation;
                self.ask(What::Bulk, out);
            }
            Request::Execute { statement: Statement::Operation(operation), parameters, .. } => {
                self.statement = operation;
                if matches!(self.preparations[operation], Preparation::Nothing) {
                    self.parameters.extend_from_slice(parameters);
                    self.ask(What::Execute, out);
                } else {
                    self.execute(parameters, out);
                }
            }
            Request::Execute { statement: Statement::Text(sql), .. } => {
                self.text(spelled(sql), out);
            }
            Request::Execute { statement: Statement::Begin, .. } => self.text(BEGIN, out),
            Request::Execute { statement: Statement::Commit, .. } => self.text(COMMIT, out),
            Request::Execute { statement: Statement::Rollback, .. } => self.text(ROLLBACK, out),
        }
    }

    fn take(&mut self, input: &mut &[u8], out: &mut Vec<u8>) -> Option<Self::Answer> {
        while let Some((packet, sequence)) = self.packets.next(input) {
            let in_flight = !self.outstanding.is_empty();
            if let Err(error) = self.take_packet(packet, sequence, out) {
                self.outstanding.clear();
                return Some(Err(EngineError::failed(RUNNING, error.to_string())));
            }
            if in_flight && self.outstanding.is_empty() {
                let answer = self.exchange_over(out);
                if answer.is_some() {
                    return answer;
                }
            }
        }
        None
    }

    fn lost(&mut self, error: &io::Error) -> Self::Answer {
        let last_words = self.error.take();
        Err(lost(last_words.map(|last_words| said_by_server(RUNNING, &last_words)), error))
    }
}
