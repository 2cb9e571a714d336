use super::message::{self, Format};
use crate::{InsertMethod, Key, Request};

/// The texts that the requests of a load stand for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Texts {
    /// Of one of our own tables.
    Table {
        /// Its quoted name.
        table: String,
        /// The prepared statements, by the constants of this module.
        statements: [String; 4],
        /// Its key is an integer, not a UUID.
        integer_key: bool,
    },
    /// The user's.
    User(Vec<String>),
}

/// Positions of our own statements.
const BEGIN: usize = 0;
const INSERT: usize = 1;
const COMMIT: usize = 2;
const CALL: usize = 3;

impl Texts {
    /// The statements of a table of ours with this quoted name.
    pub fn of_table(table: &str, integer_key: bool) -> Self {
        Self::Table {
            statements: [
                "BEGIN".into(),
                format!("INSERT INTO {table} (c1) VALUES ($1)"),
                "COMMIT".into(),
                "CALL insert_rows($1, $2, $3)".into(),
            ],
            table: table.into(),
            integer_key,
        }
    }

    /// Number of statements.
    pub fn len(&self) -> usize {
        match self {
            Self::Table { statements, .. } => statements.len(),
            Self::User(statements) => statements.len(),
        }
    }

    fn text(&self, statement: usize) -> &str {
        match self {
            Self::Table { statements, .. } => &statements[statement],
            Self::User(statements) => &statements[statement],
        }
    }
}

/// What a request makes a connection send: one exchange or several, each of which ends with the
/// server's ReadyForQuery.
#[derive(Debug, Default)]
pub struct Task {
    /// Rows to insert one by one, and how many of them are done.
    keys: Vec<Key>,
    next: Next,
    /// What the request will have done.
    pub units: u64,
    pub transactions: u64,
    /// Whether results are kept.
    pub results: bool,
}

/// What comes after the exchange that is under way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Next {
    Insert(usize),
    #[default]
    Nothing,
}

/// Where a connection's messages are put, and what it has prepared.
pub struct Output<'a> {
    pub bytes: &'a mut Vec<u8>,
    pub texts: &'a Texts,
    pub prepared: &'a mut Prepared,
}

/// Which statements a connection has prepared.
#[derive(Debug, Default)]
pub struct Prepared {
    done: Vec<bool>,
    /// Statements whose Parse is under way, in order.
    under_way: std::collections::VecDeque<usize>,
}

impl Prepared {
    /// None of so many.
    pub fn none_of(statements: usize) -> Self {
        Self { done: vec![false; statements], under_way: std::collections::VecDeque::new() }
    }

    /// The server has prepared the first one that is under way.
    pub fn complete(&mut self) {
        if let Some(statement) = self.under_way.pop_front() {
            self.done[statement] = true;
        }
    }

    /// The exchange is over: what was not prepared by now has failed.
    pub fn exchange_over(&mut self) {
        self.under_way.clear();
    }
}

impl Output<'_> {
    /// Prepares a statement on its first use.
    fn prepare(&mut self, statement: usize) {
        let under_way = &mut self.prepared.under_way;
        if !self.prepared.done[statement] && !under_way.contains(&statement) {
            under_way.push_back(statement);
            message::parse(self.bytes, statement, self.texts.text(statement));
        }
    }

    /// Runs a prepared statement without parameters.
    fn run(&mut self, statement: usize) {
        self.prepare(statement);
        message::bind(self.bytes, statement, (Format::Text, 0), |_| ());
        message::execute(self.bytes);
    }

    fn insert(&mut self, key: Key) {
        self.prepare(INSERT);
        let integer = matches!(self.texts, Texts::Table { integer_key: true, .. });
        message::bind(self.bytes, INSERT, (Format::Binary, 1), |out| put_key(out, key, integer));
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
        (self.next, self.results, self.units, self.transactions) = (Next::Nothing, false, 0, 0);
        match *request {
            Request::Insert { keys, method, .. } => self.begin_insert(keys, method, out),
            Request::InsertLoop { rows, total, sequential } => {
                (self.units, self.transactions) = (total, total.div_ceil(rows.max(1)));
                out.prepare(CALL);
                message::bind(out.bytes, CALL, (Format::Binary, 3), |out| {
                    message::binary(out, &total.to_be_bytes());
                    message::binary(out, &rows.to_be_bytes());
                    message::binary(out, &[u8::from(sequential)]);
                });
                message::execute(out.bytes);
                out.sync();
            }
            Request::Execute { statement, parameters, results } => {
                self.results = results;
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
            Request::Query { sql, results } => {
                self.results = results;
                message::query(out.bytes, sql);
            }
            Request::Rollback => message::query(out.bytes, "ROLLBACK"),
        }
    }

    fn begin_insert(&mut self, keys: &[Key], method: InsertMethod, out: &mut Output<'_>) {
        self.units = keys.len() as u64;
        match method {
            InsertMethod::Copy => copy(keys, out),
            InsertMethod::Pipelined => {
                out.run(BEGIN);
                for key in keys {
                    out.insert(*key);
                }
                out.run(COMMIT);
                out.sync();
            }
            // A single row needs no transaction around it.
            _ if keys.len() == 1 => {
                out.insert(keys[0]);
                out.sync();
            }
            _ => {
                self.keys.clear();
                self.keys.extend_from_slice(keys);
                self.next = Next::Insert(0);
                out.run(BEGIN);
                out.sync();
            }
        }
    }

    /// Goes on after an exchange; false when the request is done.
    pub fn go_on(&mut self, out: &mut Output<'_>) -> bool {
        let Next::Insert(row) = self.next else { return false };
        if let Some(key) = self.keys.get(row) {
            out.insert(*key);
            self.next = Next::Insert(row + 1);
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
fn copy(keys: &[Key], out: &mut Output<'_>) {
    let Texts::Table { table, integer_key, .. } = out.texts else { return };
    message::query(out.bytes, &format!("COPY {table} (c1) FROM STDIN (FORMAT binary)"));
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
