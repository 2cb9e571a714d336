use crate::{Key, Role, Shape};

/// What a load works on, created by [`crate::Instance::create`] before anything connects.
pub enum Schema<'a> {
    /// An empty table of this shape, spread over the data files of the instance.
    Table {
        /// Columns and row size.
        shape: Shape,
    },
    /// Files and devices that stand for these, created and filled unless they are there already.
    Files {
        /// What the load works on.
        roles: &'a [Role],
    },
    /// The user's own.
    Statements {
        /// Done one after the other on one connection, to create and fill tables.
        setup: &'a mut [Setup],
        /// Prepared on every connection; [`Request::Execute`] gives their position.
        prepared: &'a [String],
    },
}

/// The kinds of [`Schema`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaKind {
    /// [`Schema::Table`]
    Table,
    /// [`Schema::Files`]
    Files,
    /// [`Schema::Statements`]
    Statements,
}

/// Makes rows: appends some to a buffer; false when there are no more.
pub type Rows = Box<dyn FnMut(&mut Vec<u8>) -> bool + Send>;

/// A step of creating and filling tables.
pub enum Setup {
    /// Runs a statement.
    Run(String),
    /// The engine's bulk load.
    Copy {
        /// The statement that begins it.
        statement: String,
        /// The rows, in the statement's format.
        rows: Rows,
    },
}

/// How a client inserts rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InsertMethod {
    /// A prepared statement for each row; the next one is sent when the answer has come.
    Statements,
    /// A prepared statement for each row, all of a transaction sent before the first answer.
    Pipelined,
    /// The engine's bulk load.
    Copy,
    /// A loop in a stored procedure makes keys, inserts and commits: the client does nothing.
    Procedure,
}

impl InsertMethod {
    /// Names in the experiment file.
    pub const NAMES: &'static [&'static str] = &["statements", "pipelined", "copy", "procedure"];

    /// The method with this name; `statements` for any other.
    pub fn from_name(name: &str) -> Self {
        match name {
            "pipelined" => Self::Pipelined,
            "copy" => Self::Copy,
            "procedure" => Self::Procedure,
            _ => Self::Statements,
        }
    }
}

/// Something that a connection is asked to do.
#[derive(Debug, Clone, Copy)]
pub enum Request<'a> {
    /// Inserts these rows into one data file and commits.
    Insert {
        /// Data file, from 0.
        file: u32,
        /// Keys of the rows; the other columns have the table's defaults.
        keys: &'a [Key],
        /// How, where the engine has several ways; not [`InsertMethod::Procedure`].
        method: InsertMethod,
    },
    /// Has the stored procedure insert rows with keys of its own.
    InsertLoop {
        /// Rows of each transaction; one after the other.
        rows: u64,
        /// Rows in all.
        total: u64,
        /// Keys that count up instead of random ones.
        sequential: bool,
    },
    /// Runs a prepared statement.
    Execute {
        /// Its position in [`Schema::Statements`].
        statement: usize,
        /// Values of its parameters.
        parameters: &'a [Parameter],
        /// Whether the results are wanted.
        results: bool,
    },
    /// Runs a text of one or more statements.
    Query {
        /// The text.
        sql: &'a str,
        /// Whether the results are wanted.
        results: bool,
    },
    /// Rolls back the transaction that a failed request has left open.
    Rollback,
}

/// The value of a parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum Parameter {
    /// NULL.
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A floating point number.
    Double(f64),
    /// Text.
    Text(String),
}
