use crate::{Fill, Table};
use std::time::Duration;

/// A probe's needs of an engine before connections are opened.
#[derive(Default)]
pub struct Work {
    /// Tables to create, in this order.
    pub tables: Vec<Table>,
    /// Rows that are in the tables before anything is measured.
    pub fills: Vec<Fill>,
    /// The load's operations; requests name an operation by its position here.
    pub operations: Vec<Operation>,
    /// The tables that come first are a data set, so that an engine may keep them for other
    /// trials; `None`: all are made for one trial alone.
    pub data: Option<SharedTables>,
    /// Processors that one statement may use at most, where the engine has
    /// `Ability::Parallel`; `None`: as it is set.
    pub degree: Option<u32>,
    /// The time after which the engine cancels a statement of the load, where it has
    /// `Ability::TimeLimits`; `None`: no limit.
    pub statement_limit: Option<Duration>,
    /// True if results that a request wants have all rows; an engine may have only the last one.
    pub keeps_rows: bool,
    /// True if making the tables is the measurement: the server session that makes them belongs to
    /// the load, which ends when all data is on disk.
    pub measured: bool,
}

impl Work {
    /// The table that a stored procedure fills in a loop, if there is one.
    pub fn loop_table(&self) -> Option<&Table> {
        self.operations.iter().find_map(|operation| match operation {
            Operation::InsertLoop { table } => self.tables.get(*table),
            _ => None,
        })
    }
}

/// Tables whose rows do not depend on the trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedTables {
    /// All that they and their rows follow from: the same text, the same rows.
    pub identity: String,
    /// The number of [`Work::tables`] that it uses, from the first on.
    pub tables: usize,
    /// Bytes of their rows, about.
    pub bytes: u64,
    /// True if the load changes them, so that only a copy can be kept.
    pub changed: bool,
}

/// Something that a load does to its tables, compiled into a statement before connections are
/// opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// Inserts one row: the named columns are parameters, the others get their defaults.
    Insert {
        /// Position in [`Work::tables`].
        table: usize,
        /// Columns whose values are parameters, in their order.
        columns: Vec<&'static str>,
    },
    /// Reads rows.
    Select {
        /// Position in [`Work::tables`].
        table: usize,
        /// Outputs of the query.
        outputs: Vec<Output>,
        /// The rows.
        rows: Filter,
        /// The columns by which aggregates are grouped; they are outputs too, in front.
        group_by: Vec<&'static str>,
    },
    /// For each row of a sample, looks up the row of a table that has its key, by nested loops and
    /// without parallelism, and answers with one row.
    LookupEach {
        /// Position in [`Work::tables`] of the sample: columns as the key has, in their order.
        sample: usize,
        /// Position in [`Work::tables`] of the table that has the key.
        table: usize,
        /// Aggregates over the rows that are found; their columns are the table's.
        outputs: Vec<Output>,
    },
    /// Adds a number to a column, in place.
    Update {
        /// Position in [`Work::tables`].
        table: usize,
        /// The column.
        column: &'static str,
        /// The increment.
        add: i64,
        /// The rows.
        rows: Filter,
    },
    /// Deletes rows.
    Delete {
        /// Position in [`Work::tables`].
        table: usize,
        /// The rows.
        rows: Filter,
    },
    /// Calls the stored procedure that inserts rows in a loop and makes their keys itself.
    /// Parameters: rows in all, rows of each transaction, whether keys count up. Needs
    /// `Ability::Procedures`.
    InsertLoop {
        /// Position in [`Work::tables`].
        table: usize,
    },
    /// A statement of the user's, in the engine's SQL.
    Text(UserStatement),
    /// A statement of a study, in SQL that all engines read but for some parts.
    Sql(Vec<SqlPart>),
}

/// A part of a study's statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SqlPart {
    /// Text that all engines read.
    Text(String),
    /// The next parameter.
    Parameter,
    /// Behind a table: rows that are read are locked until the transaction ends.
    LockHint,
    /// Such a lock at the end of a statement; engines have one of the two, or none where readers
    /// need no locks.
    Lock,
    /// Behind the order: only the first row is read.
    First,
    /// Behind the order: only this number of rows is read.
    Limit(u32),
    /// The year of this column of dates.
    Year(String),
}

impl Operation {
    /// The table that it is about; `None` of statements in SQL.
    pub fn table<'a>(&self, work: &'a Work) -> Option<&'a Table> {
        match self {
            Self::Insert { table, .. }
            | Self::Select { table, .. }
            | Self::LookupEach { table, .. }
            | Self::Update { table, .. }
            | Self::Delete { table, .. }
            | Self::InsertLoop { table } => work.tables.get(*table),
            Self::Text(_) | Self::Sql(_) => None,
        }
    }

    /// Reads one row by its key, which is the parameter.
    pub fn lookup(table: usize, columns: &[&'static str]) -> Self {
        let outputs = columns.iter().copied().map(Output::Column).collect();
        Self::Select { table, outputs, rows: Filter::Key, group_by: Vec::new() }
    }

    /// Reads all rows and answers with one.
    pub fn scan(table: usize, outputs: Vec<Output>) -> Self {
        Self::Select { table, outputs, rows: Filter::All, group_by: Vec::new() }
    }
}

/// An output of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// A column as it is.
    Column(&'static str),
    /// The number of rows.
    Count,
    /// The sum of a column.
    Sum(&'static str),
    /// The smallest value of a column.
    Min(&'static str),
    /// The largest value of a column.
    Max(&'static str),
    /// The mean of a column.
    Avg(&'static str),
}

/// The rows of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filter {
    /// All of them.
    All,
    /// The one with a key, whose columns are the parameters.
    Key,
    /// Rows whose key is from one parameter to another, both included; of tables with a key of one
    /// column.
    KeyRange,
    /// Rows with less than this in a column; of dates: days since 1970-01-01.
    Below(&'static str, i64),
}

/// SQL of the user's with parameters: the texts before, between and behind them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserStatement {
    /// The texts around the parameters, one more than these.
    pub texts: Vec<String>,
}

impl UserStatement {
    /// The SQL, with placeholders as the engine writes them; parameters are numbered from 1.
    pub fn sql(&self, placeholder: impl Fn(usize) -> String) -> String {
        let mut sql = String::new();
        for (number, text) in self.texts.iter().enumerate() {
            if number > 0 {
                sql.push_str(&placeholder(number));
            }
            sql.push_str(text);
        }
        sql
    }
}
