//! What a load works on and what it does there, as data: tables, rows and operations. How an engine
//! writes them is its [`crate::Dialect`]'s to know.

use crate::{EngineError, Rows, Values};
use experiment::choice;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

/// What a probe needs of an engine before connections are opened.
#[derive(Default)]
pub struct Work {
    /// Tables to create, in this order.
    pub tables: Vec<Table>,
    /// Rows that are in the tables before anything is measured.
    pub fills: Vec<Fill>,
    /// What the load does; requests name an operation by its position here.
    pub operations: Vec<Operation>,
    /// The tables that come first are a data set, so that an engine may keep them for other
    /// trials; `None`: all are made for one trial alone.
    pub data: Option<Kept>,
    /// Processors that one statement may use at most, where the engine has
    /// [`crate::Ability::Parallel`]; `None`: as it is set.
    pub degree: Option<u32>,
    /// Whether making the tables is what is measured: the session of a server that does it is one
    /// of the load's, and it ends when all is on the disk.
    pub measured: bool,
}

/// Tables whose rows do not depend on the trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// All that they and their rows follow from: the same text, the same rows.
    pub identity: String,
    /// How many of [`Work::tables`], from the first on.
    pub tables: usize,
    /// Bytes of their rows, about.
    pub bytes: u64,
    /// Whether the load changes them: then only a copy can be kept.
    pub changed: bool,
}

/// A table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// Name in lower case.
    pub name: &'static str,
    /// Columns in order.
    pub columns: Vec<Column>,
    /// Columns of the primary key, by which engines with clustered tables cluster it; empty: none.
    pub key: &'static [&'static str],
    /// How it is stored.
    pub storage: Storage,
}

impl Table {
    /// The column with this name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The bound of [`Filter::Below`] on a column as every engine reads it.
    pub fn bound(&self, column: &str, bound: i64) -> String {
        match self.column(column) {
            Some(Column { data_type: DataType::Date, .. }) => {
                let mut day = String::new();
                // Writing to memory cannot fail.
                let _ = Values::Dates(vec![bound as i32]).write(0, &mut day);
                format!("'{day}'")
            }
            _ => bound.to_string(),
        }
    }

    /// Whether its key is one column of integers.
    pub fn has_integer_key(&self) -> bool {
        self.single_key()
            .is_some_and(|key| matches!(key.data_type, DataType::Int | DataType::BigInt))
    }

    /// Bytes of a row's columns, at least about: an engine adds its own to them.
    pub fn row_bytes(&self) -> u64 {
        let bytes = |column: &Column| match column.data_type {
            DataType::Uuid => 16,
            DataType::Int | DataType::Date => 4,
            DataType::BigInt | DataType::Timestamp | DataType::Decimal => 8,
            DataType::Char(characters) => u64::from(characters),
            // Texts may be short.
            DataType::Varchar(_) => 0,
            // Pages are no smaller.
            DataType::PageFiller { rows } => 512 / u64::from(rows.max(1)),
        };
        self.columns.iter().map(bytes).sum()
    }

    /// The column that makes rows so wide that about so many of them fill a page.
    pub fn filler(&self) -> Option<(&Column, usize)> {
        let rows = |column: &Column| match column.data_type {
            DataType::PageFiller { rows } => Some(usize::from(rows.max(1))),
            _ => None,
        };
        self.columns.iter().find_map(|column| Some((column, rows(column)?)))
    }

    /// Looks for the most bytes of filler with which so many rows still fit a page.
    ///
    /// # Errors
    /// When they do not fit a page of this size even without.
    pub(crate) fn filler_bytes(
        &self,
        page_bytes: usize,
        fits: impl Fn(usize) -> bool,
    ) -> Result<usize, EngineError> {
        (0..page_bytes).rev().find(|bytes| fits(*bytes)).ok_or_else(|| {
            let rows = self.filler().map_or(0, |(_, rows)| rows);
            let message = format!(
                "{rows} rows with {} columns do not fit a page of {page_bytes} bytes; use fewer \
                 rows per page, fewer columns, or larger pages",
                self.columns.len()
            );
            EngineError::failed(format!("creating table {}", self.name), message)
        })
    }

    /// The only column of its key.
    pub fn single_key(&self) -> Option<&Column> {
        if let [name] = self.key { self.column(name) } else { None }
    }
}

/// How a table is stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Storage {
    /// Share of a page that is filled, in percent; `None`: the engine's default.
    pub fill_percent: Option<u8>,
    /// The table is spread over the target's data files; otherwise it is in the first one.
    pub spread: bool,
    /// The key is made once the rows are there, where the engine can do so: cheaper than keeping
    /// it meanwhile.
    pub key_after_fill: bool,
    /// A column with a secondary index, which is made once the rows are there.
    pub index: Option<&'static str>,
    /// What its rows are kept in.
    pub format: TableFormat,
}

choice! {
    /// What the rows of a table are kept in.
    pub enum TableFormat {
        /// The engine's own storage.
        Table = "table",
        /// A Parquet file, which the engine reads.
        Parquet = "parquet",
    }
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Name in lower case.
    pub name: &'static str,
    /// Type of its values.
    pub data_type: DataType,
    /// Whether it may hold NULL.
    pub nullable: bool,
    /// What a row has that does not say.
    pub default: Option<DefaultValue>,
    /// How it is compressed, by the engine's name of the method; `None`: as the engine does it by
    /// itself.
    pub compression: Option<&'static str>,
}

impl Column {
    /// A NOT NULL column.
    pub fn new(name: &'static str, data_type: DataType) -> Self {
        Self { name, data_type, nullable: false, default: None, compression: None }
    }

    /// The same with a default.
    #[must_use]
    pub fn default(self, default: DefaultValue) -> Self {
        Self { default: Some(default), ..self }
    }

    /// The same, which may hold NULL.
    #[must_use]
    pub fn nullable(self) -> Self {
        Self { nullable: true, ..self }
    }
}

/// Types of columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataType {
    /// 16 bytes.
    Uuid,
    /// 32 bits.
    Int,
    /// 64 bits.
    BigInt,
    /// Date and time.
    Timestamp,
    /// A day.
    Date,
    /// A number of 15 digits, of which two are decimal places.
    Decimal,
    /// Text of this many characters, padded with blanks, also by us where the engine does not.
    Char(u16),
    /// Text of so many characters at most.
    Varchar(u16),
    /// Bytes, as many as make about so many rows fill a page. Of a table without pages: of a page
    /// of 8 KiB.
    PageFiller {
        /// Rows of a page; 1 or more.
        rows: u16,
    },
}

/// What a row has in a column that an insert does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefaultValue {
    /// A new random UUID.
    NewUuid,
    /// The time of the insert.
    Now,
    /// This number.
    Integer(i64),
    /// This text.
    Text(&'static str),
    /// The bytes of a [`DataType::PageFiller`]: it is left out of inserts and fills.
    Filler,
}

/// Rows of one table, made batch by batch.
pub struct Fill {
    /// Position in [`Work::tables`].
    pub table: usize,
    /// The columns that the rows have; the others get their defaults.
    pub columns: Vec<&'static str>,
    /// The rows, in batches.
    pub batches: Box<dyn Iterator<Item = Rows> + Send>,
    /// How many threads load rows that they have taken while another takes more. An engine that
    /// loads in the thread that takes them leaves it at 0.
    pub busy: Arc<AtomicUsize>,
}

impl Fill {
    /// Rows for these columns of the table at a position.
    pub fn new(
        table: usize,
        columns: Vec<&'static str>,
        batches: impl Iterator<Item = Rows> + Send + 'static,
    ) -> Self {
        Self { table, columns, batches: Box::new(batches), busy: Arc::default() }
    }
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
        /// What is read of them.
        outputs: Vec<Output>,
        /// Which rows.
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
        /// What is added.
        add: i64,
        /// Which rows.
        rows: Filter,
    },
    /// Deletes rows.
    Delete {
        /// Position in [`Work::tables`].
        table: usize,
        /// Which rows.
        rows: Filter,
    },
    /// Calls the stored procedure that inserts rows in a loop and makes their keys itself.
    /// Parameters: rows in all, rows of each transaction, whether keys count up. Needs
    /// [`crate::Ability::Procedures`].
    InsertLoop {
        /// Position in [`Work::tables`].
        table: usize,
    },
    /// A statement of the user's, in the engine's SQL.
    Text(UserStatement),
}

impl Operation {
    /// The table that it is about; `None` of the user's own statements.
    pub fn table<'a>(&self, work: &'a Work) -> Option<&'a Table> {
        match self {
            Self::Insert { table, .. }
            | Self::Select { table, .. }
            | Self::LookupEach { table, .. }
            | Self::Update { table, .. }
            | Self::Delete { table, .. }
            | Self::InsertLoop { table } => work.tables.get(*table),
            Self::Text(_) => None,
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

/// What is read of rows.
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

/// Which rows an operation is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filter {
    /// All of them.
    All,
    /// The one with a key, whose columns are the parameters.
    Key,
    /// Those whose key is from one parameter to another, both included; of tables with a key of one
    /// column.
    KeyRange,
    /// Those with less than this in a column; of dates: days since 1970-01-01.
    Below(&'static str, i64),
}

/// SQL of the user's with parameters: the texts before, between and behind them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserStatement {
    /// One text more than there are parameters.
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
