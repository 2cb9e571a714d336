use crate::Key;

/// A request to a connection during the measurement. Everything has been compiled before.
#[derive(Debug, Clone, Copy)]
pub enum Request<'a> {
    /// Runs a statement once.
    Execute {
        /// The name.
        statement: Statement<'a>,
        /// Values of its parameters.
        parameters: &'a [Parameter],
        /// True if results are wanted.
        results: bool,
    },
    /// Runs an operation once for each key, which is its only parameter, in one transaction.
    Batch {
        /// Position in [`crate::Work::operations`].
        operation: usize,
        /// The data file that all of the keys belong to, from 0.
        file: u32,
        /// The keys.
        keys: &'a [Key],
        /// All of the transaction is sent before the first answer is waited for, where there is a
        /// way to send.
        pipelined: bool,
    },
    /// Inserts rows with these keys by the engine's bulk load, in one transaction. All else has the
    /// table's defaults.
    Bulk {
        /// Position in [`crate::Work::operations`] of the insert that it stands for.
        operation: usize,
        /// The data file that all of the keys belong to, from 0.
        file: u32,
        /// The keys.
        keys: &'a [Key],
    },
}

impl Request<'_> {
    /// Rolls back the transaction that a failed request has left open.
    pub const ROLLBACK: Self =
        Self::Execute { statement: Statement::Rollback, parameters: &[], results: false };
}

/// A statement to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statement<'a> {
    /// The one that this operation of [`crate::Work::operations`] was compiled into.
    Operation(usize),
    /// A text of one or more statements, as it is.
    Text(&'a str),
    /// The beginning of a transaction that will write.
    Begin,
    /// The end.
    Commit,
    /// The end of a transaction that has failed.
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
