//! How engines write tables and operations.

use crate::EngineError;
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
) -> Result<usize, EngineError> {
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

/// How an engine writes tables and operations. Used before connections are opened, never while
/// anything is measured.
pub trait Dialect {
    /// A quoted name.
    fn quote(&self, name: &str) -> String {
        format!("\"{}\"", name.replace('"', "\"\""))
    }

    /// Quoted names, with commas.
    fn names(&self, names: &[&str]) -> String {
        names.iter().map(|name| self.quote(name)).collect::<Vec<_>>().join(", ")
    }

    /// The table's name as statements write it.
    fn table(&self, table: &Table) -> String {
        self.quote(table.name)
    }

    /// The placeholder of a statement's parameter; they are numbered from 1.
    fn placeholder(&self, number: usize) -> String;

    /// The statements that create a table, without a key that is made after its rows.
    ///
    /// # Errors
    /// When the request is not possible: more rows than fit a page.
    fn create(&self, table: &Table) -> Result<Vec<String>, EngineError>;

    /// The statement that makes the secondary index of a table, if it has one.
    fn create_index(&self, table: &Table) -> Option<String> {
        let name = self.quote(&index_name(table)?);
        let columns = self.names(table.storage.index);
        Some(format!("CREATE INDEX {name} ON {} ({columns})", self.table(table)))
    }

    /// The clauses of a table's foreign keys.
    fn foreign_keys(&self, table: &Table) -> Vec<String> {
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

    /// Locks of the rows that a statement reads: behind its table, and at its end.
    fn row_locks(&self) -> [&'static str; 2] {
        ["", ""]
    }

    /// The end of an ordered query of which only the first rows are read.
    fn first_rows(&self, rows: u32) -> String {
        format!(" LIMIT {rows}")
    }

    /// The year of a column of dates.
    fn year(&self, column: &str) -> String {
        format!("extract(YEAR FROM {column})")
    }

    /// The statement that calls the stored procedure of [`Operation::InsertLoop`], where the engine
    /// has procedures.
    fn insert_loop(&self, _table: &Table) -> Option<String> {
        None
    }

    /// Returns whether nested-loop joins exist, as [`Operation::LookupEach`] requires.
    fn nests_loops(&self) -> bool {
        true
    }

    /// The join whose first table is the outer one of the loops.
    fn ordered_join(&self) -> &'static str {
        "CROSS JOIN"
    }

    /// Returns the hint after such a join that enforces it.
    fn join_hint(&self) -> &'static str {
        ""
    }

    /// The statement of an operation.
    ///
    /// # Errors
    /// When the engine has no such thing.
    fn statement(&self, operation: &Operation, work: &Work) -> Result<String, EngineError> {
        Ok(match operation {
            Operation::Insert { table, columns } => {
                let values: Vec<String> =
                    (1..=columns.len()).map(|number| self.placeholder(number)).collect();
                let (table, names) = (self.table(&work.tables[*table]), self.names(columns));
                format!("INSERT INTO {table} ({names}) VALUES ({})", values.join(", "))
            }
            Operation::Select { table, outputs, rows, group_by } => {
                let table = &work.tables[*table];
                let groups = group_by.iter().map(|name| self.quote(name));
                let outputs: Vec<String> =
                    groups.chain(outputs.iter().map(|output| self.output(*output))).collect();
                let grouped = match group_by.as_slice() {
                    [] => String::new(),
                    names => format!(" GROUP BY {}", self.names(names)),
                };
                let (from, rows) = (self.table(table), self.filter(*rows, table));
                format!("SELECT {} FROM {from}{rows}{grouped}", outputs.join(", "))
            }
            Operation::LookupEach { .. } if !self.nests_loops() => {
                return Err(EngineError::Unsupported {
                    engine: "this engine",
                    what: "forced nested-loop joins",
                });
            }
            Operation::LookupEach { sample, table, outputs } => {
                self.look_up_each(&work.tables[*sample], &work.tables[*table], outputs)
            }
            Operation::Update { table, column, add, rows } => {
                let table = &work.tables[*table];
                let (name, column, rows) =
                    (self.table(table), self.quote(column), self.filter(*rows, table));
                format!("UPDATE {name} SET {column} = {column} + {add}{rows}")
            }
            Operation::Delete { table, rows } => {
                let table = &work.tables[*table];
                format!("DELETE FROM {}{}", self.table(table), self.filter(*rows, table))
            }
            Operation::InsertLoop { table } => {
                let none =
                    EngineError::Unsupported { engine: "this engine", what: "stored procedures" };
                self.insert_loop(&work.tables[*table]).ok_or(none)?
            }
            Operation::Text(text) => text.sql(|number| self.placeholder(number)),
            Operation::Sql(parts) => self.sql(parts),
        })
    }

    /// Looks up the row of a table for each row of a sample.
    fn look_up_each(&self, sample: &Table, table: &Table, outputs: &[Output]) -> String {
        let outputs: Vec<String> = outputs.iter().map(|output| self.output(*output)).collect();
        let keys = table.key.iter().zip(&sample.columns).map(|(key, column)| {
            format!("looked_up.{} = sample.{}", self.quote(key), self.quote(column.name))
        });
        format!(
            "SELECT {} FROM {} AS sample {} {} AS looked_up WHERE {}{}",
            outputs.join(", "),
            self.table(sample),
            self.ordered_join(),
            self.table(table),
            keys.collect::<Vec<_>>().join(" AND "),
            self.join_hint()
        )
    }

    /// Completes a study's statement.
    fn sql(&self, parts: &[SqlPart]) -> String {
        let ([hint, lock], mut number) = (self.row_locks(), 0);
        let parts = parts.iter().map(|part| match part {
            SqlPart::Text(text) => text.clone(),
            SqlPart::Parameter => {
                number += 1;
                self.placeholder(number)
            }
            SqlPart::LockHint => hint.to_owned(),
            SqlPart::Lock => lock.to_owned(),
            SqlPart::First => self.first_rows(1),
            SqlPart::Limit(rows) => self.first_rows(*rows),
            SqlPart::Year(column) => self.year(column),
        });
        parts.collect()
    }

    /// Returns the select list of a query.
    fn output(&self, output: Output) -> String {
        match output {
            Output::Column(name) => self.quote(name),
            Output::Count => "count(*)".into(),
            Output::Sum(name) => format!("sum({})", self.quote(name)),
            Output::Min(name) => format!("min({})", self.quote(name)),
            Output::Max(name) => format!("max({})", self.quote(name)),
            Output::Avg(name) => format!("avg({})", self.quote(name)),
        }
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
