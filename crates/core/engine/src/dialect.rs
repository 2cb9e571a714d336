//! How engines write tables and operations.

use crate::{EngineError, Result};
use work::{Column, DataType, Filter, Operation, Output, SqlPart, Table, Work};

/// A text as long as its column wants it, for engines that do not pad `char(n)` with blanks
/// themselves; in `room` it is made.
pub fn padded<'a>(text: &'a str, column: &Column, room: &'a mut String) -> &'a str {
    /// Pieces of blanks: one at a time takes longer than all else of loading some texts.
    const BLANKS: &str = "                                ";
    let DataType::Char(length) = column.data_type else { return text };
    let mut missing = usize::from(length).saturating_sub(text.chars().count());
    if missing == 0 {
        return text;
    }
    room.clear();
    room.push_str(text);
    while missing > 0 {
        let blanks = &BLANKS[..missing.min(BLANKS.len())];
        room.push_str(blanks);
        missing -= blanks.len();
    }
    room
}

/// Finds the most bytes of filler with which the table's rows per page still fit a page.
///
/// # Errors
/// When they do not fit a page of this size even without.
pub fn filler_bytes(
    table: &Table,
    page_bytes: usize,
    fits: impl Fn(usize) -> bool,
) -> Result<usize> {
    (0..page_bytes).rev().find(|bytes| fits(*bytes)).ok_or_else(|| {
        let rows = table.filler().map_or(0, |(_, rows)| rows);
        let message = format!(
            "{rows} rows with {} columns do not fit on a page of {page_bytes} bytes; use fewer \
             rows per page, fewer columns, or larger pages",
            table.columns.len()
        );
        EngineError::failed(format!("creating table {}", table.name), message)
    })
}

/// The name of a table's secondary index, if it has one.
pub fn index_name(table: &Table) -> Option<String> {
    let columns = table.storage.index;
    (!columns.is_empty()).then(|| format!("{}_{}", columns.join("_"), table.name))
}

/// The words of an engine's SQL: plain data. Texts around a value come in pairs.
#[derive(Debug, Clone, Copy)]
pub struct Words {
    /// Quotes of a name; the second one is doubled within it.
    pub quotes: [char; 2],
    /// The beginning of a parameter's placeholder.
    pub parameter: &'static str,
    /// True if the number of the parameter follows, from 1.
    pub numbers_parameters: bool,
    /// Locks of the rows that a statement reads: behind its table, and at its end.
    pub row_locks: [&'static str; 2],
    /// The end of an ordered query that limits its rows.
    pub first_rows: [&'static str; 2],
    /// The year of a column of dates.
    pub year: [&'static str; 2],
    /// The call of the stored procedure of [`Operation::InsertLoop`], where the engine has
    /// procedures.
    pub insert_loop: Option<&'static str>,
    /// The join whose first table is the outer one of nested loops, and the hint at the end of the
    /// statement that enforces them; `None`: there are no such joins
    /// ([`Operation::LookupEach`]).
    pub nested_loops: Option<[&'static str; 2]>,
}

impl Words {
    /// The words of most engines.
    pub const STANDARD: Self = Self {
        quotes: ['"', '"'],
        parameter: "$",
        numbers_parameters: true,
        row_locks: ["", ""],
        first_rows: [" LIMIT ", ""],
        year: ["extract(YEAR FROM ", ")"],
        insert_loop: None,
        nested_loops: Some(["CROSS JOIN", ""]),
    };

    /// A quoted name.
    pub fn quote(&self, name: &str) -> String {
        let [open, close] = self.quotes;
        format!("{open}{}{close}", name.replace(close, &format!("{close}{close}")))
    }

    /// Quoted names, with commas.
    pub fn names(&self, names: &[&str]) -> String {
        names.iter().map(|name| self.quote(name)).collect::<Vec<_>>().join(", ")
    }

    /// The placeholder of a statement's parameter; they are numbered from 1.
    pub fn placeholder(&self, number: usize) -> String {
        let number = if self.numbers_parameters { number.to_string() } else { String::new() };
        format!("{}{number}", self.parameter)
    }

    /// The clauses of a table's foreign keys.
    pub fn foreign_keys(&self, table: &Table) -> Vec<String> {
        let keys = table.storage.references.iter();
        keys.map(|key| {
            format!(
                "FOREIGN KEY ({}) REFERENCES {} ({})",
                self.names(key.columns),
                self.quote(key.table),
                self.names(key.key)
            )
        })
        .collect()
    }

    /// Completes a study's statement.
    fn sql(&self, parts: &[SqlPart]) -> String {
        let ([hint, lock], mut number) = (self.row_locks, 0);
        let around = |[before, behind]: [&str; 2], text: &str| format!("{before}{text}{behind}");
        let parts = parts.iter().map(|part| match part {
            SqlPart::Text(text) => text.clone(),
            SqlPart::Parameter => {
                number += 1;
                self.placeholder(number)
            }
            SqlPart::LockHint => hint.to_owned(),
            SqlPart::Lock => lock.to_owned(),
            SqlPart::First => around(self.first_rows, "1"),
            SqlPart::Limit(rows) => around(self.first_rows, &rows.to_string()),
            SqlPart::Year(column) => around(self.year, column),
        });
        parts.collect()
    }

    /// The WHERE clause with the blank before it; empty for all rows.
    fn filter(&self, filter: Filter, table: &Table) -> String {
        let conditions = match filter {
            Filter::All => return String::new(),
            Filter::Key => table
                .key
                .iter()
                .enumerate()
                .map(|(number, name)| {
                    format!("{} = {}", self.quote(name), self.placeholder(number + 1))
                })
                .collect::<Vec<_>>()
                .join(" AND "),
            Filter::KeyRange => {
                let key = self.quote(table.key.first().copied().unwrap_or_default());
                format!("{key} BETWEEN {} AND {}", self.placeholder(1), self.placeholder(2))
            }
            Filter::Below(column, bound) => {
                format!("{} < {}", self.quote(column), table.bound(column, bound))
            }
        };
        format!(" WHERE {conditions}")
    }
}

/// How an engine writes tables and operations. Used before connections are opened, never while
/// anything is measured.
pub trait Dialect {
    /// The words of its statements.
    fn words(&self) -> &'static Words;

    /// The statements that create a table, without a key that is made after its rows.
    ///
    /// # Errors
    /// When the request is not possible: more rows than fit a page.
    fn create(&self, table: &Table) -> Result<Vec<String>>;

    /// The table's name as statements write it.
    fn table(&self, table: &Table) -> String {
        self.words().quote(table.name)
    }

    /// The statement that makes the secondary index of a table, if it has one.
    fn create_index(&self, table: &Table) -> Option<String> {
        let name = self.words().quote(&index_name(table)?);
        let columns = self.words().names(table.storage.index);
        Some(format!("CREATE INDEX {name} ON {} ({columns})", self.table(table)))
    }

    /// Returns the select list of a query.
    fn output(&self, output: Output) -> String {
        let quoted = |name| self.words().quote(name);
        match output {
            Output::Column(name) => quoted(name),
            Output::Count => "count(*)".into(),
            Output::Sum(name) => format!("sum({})", quoted(name)),
            Output::Min(name) => format!("min({})", quoted(name)),
            Output::Max(name) => format!("max({})", quoted(name)),
            Output::Avg(name) => format!("avg({})", quoted(name)),
        }
    }

    /// The statement of an operation.
    ///
    /// # Errors
    /// When the engine has no such thing.
    fn statement(&self, operation: &Operation, work: &Work) -> Result<String> {
        let words = self.words();
        let unsupported =
            |what: &'static str| EngineError::Unsupported { engine: "this engine", what };
        Ok(match operation {
            Operation::Insert { table, columns } => {
                let values: Vec<String> =
                    (1..=columns.len()).map(|number| words.placeholder(number)).collect();
                let (table, names) = (self.table(&work.tables[*table]), words.names(columns));
                format!("INSERT INTO {table} ({names}) VALUES ({})", values.join(", "))
            }
            Operation::Select { table, outputs, rows, group_by } => {
                let table = &work.tables[*table];
                let groups = group_by.iter().map(|name| words.quote(name));
                let outputs: Vec<String> =
                    groups.chain(outputs.iter().map(|output| self.output(*output))).collect();
                let grouped = match group_by.as_slice() {
                    [] => String::new(),
                    names => format!(" GROUP BY {}", words.names(names)),
                };
                let (from, rows) = (self.table(table), words.filter(*rows, table));
                format!("SELECT {} FROM {from}{rows}{grouped}", outputs.join(", "))
            }
            Operation::LookupEach { sample, table, outputs } => {
                let nested = words.nested_loops;
                let [join, hint] = nested.ok_or_else(|| unsupported("forced nested-loop joins"))?;
                let (sample, table) = (&work.tables[*sample], &work.tables[*table]);
                let outputs: Vec<String> =
                    outputs.iter().map(|output| self.output(*output)).collect();
                let keys = table.key.iter().zip(&sample.columns).map(|(key, column)| {
                    let (key, column) = (words.quote(key), words.quote(column.name));
                    format!("looked_up.{key} = sample.{column}")
                });
                let (outputs, keys) = (outputs.join(", "), keys.collect::<Vec<_>>().join(" AND "));
                let (sample, table) = (self.table(sample), self.table(table));
                format!(
                    "SELECT {outputs} FROM {sample} AS sample {join} {table} AS looked_up WHERE \
                     {keys}{hint}"
                )
            }
            Operation::Update { table, column, add, rows } => {
                let table = &work.tables[*table];
                let (name, column, rows) =
                    (self.table(table), words.quote(column), words.filter(*rows, table));
                format!("UPDATE {name} SET {column} = {column} + {add}{rows}")
            }
            Operation::Delete { table, rows } => {
                let table = &work.tables[*table];
                format!("DELETE FROM {}{}", self.table(table), words.filter(*rows, table))
            }
            Operation::InsertLoop { .. } => {
                let call = words.insert_loop;
                call.ok_or_else(|| unsupported("stored procedures"))?.to_owned()
            }
            Operation::Text(text) => text.sql(|number| words.placeholder(number)),
            Operation::Sql(parts) => words.sql(parts),
        })
    }
}
