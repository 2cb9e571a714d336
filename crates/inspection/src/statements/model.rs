//! A snapshot of a server.

use crate::plans::{self, MissingIndex};
use crate::statements::{DataFile, Statement, TableStatistics};
use observations::Unread;
use report::text::joined;
use serde::{Deserialize, Serialize};
use std::fmt::Display;

/// A server's statements, tables and indexes at one time; or in an interval, once
/// [`between`](crate::statements::between) has taken the difference of two.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Snapshot {
    /// Name of the engine.
    pub engine: String,
    /// Product and version: `PostgreSQL 15.18`.
    pub server: String,
    /// The time that the counters of its statements cover.
    pub span: Span,
    /// Bytes of a page.
    pub block_bytes: u64,
    /// The number of times that the server evicted statements; `None`: not known.
    pub evictions: Option<u64>,
    /// Runs that the server counted without their statement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overflow: Option<Overflow>,
    /// True when the server has more statements than were read: those that took most time.
    #[serde(default)]
    pub is_cut: bool,
    /// True when the statements are those of a log.
    #[serde(default)]
    pub is_log: bool,
    /// Statements; whether there are none, or they cannot be had, `unread` says.
    pub statements: Vec<Statement>,
    /// Tables, by database, schema and name.
    pub tables: Vec<Table>,
    /// Files of the server, where they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<DataFile>,
    /// Notes on the figures.
    pub notes: Vec<String>,
    /// Parts that could not be read, and why.
    pub unread: Vec<Unread>,
}

/// Runs of statements for which the server had no room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overflow {
    /// The number of runs.
    pub runs: u64,
    /// Why the server had no room.
    pub why: String,
}

/// The time that counters tell of, ms since 1970 UTC.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// When they began; `None`: the server does not say.
    pub from_ms: Option<i64>,
    /// When they were read.
    pub to_ms: i64,
    /// True of an interval that was observed.
    pub is_interval: bool,
}

/// A table. Its counters and those of its indexes are always those since the server began to count
/// them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// The path.
    pub database: String,
    /// Empty where the engine has none.
    pub schema: String,
    /// The name.
    pub name: String,
    /// As it is written in a statement, quoted where that is needed.
    pub quoted: String,
    /// Rows, as the server estimates.
    pub rows: Option<f64>,
    /// Bytes without its indexes.
    pub bytes: Option<u64>,
    /// When the counters began, ms since 1970 UTC.
    pub since_ms: Option<i64>,
    /// The number of times that it was read whole.
    pub scans: Option<u64>,
    /// Rows that were read so.
    pub scanned_rows: Option<u64>,
    /// Rows that were inserted.
    pub inserts: Option<u64>,
    /// Rows that were updated.
    pub updates: Option<u64>,
    /// Updates that changed no index (HOT).
    pub hot_updates: Option<u64>,
    /// Rows that were deleted.
    pub deletes: Option<u64>,
    /// Dead rows, as the server estimates.
    pub dead_rows: Option<u64>,
    /// Rows that have changed since its statistics were gathered.
    pub changed_since_analyze: Option<u64>,
    /// When they were gathered, ms since 1970 UTC.
    pub analyzed_ms: Option<i64>,
    /// How it is stored, where an engine has several ways: `InnoDB`, `partitioned`.
    #[serde(default)]
    pub storage: String,
    /// Statistics of its columns.
    pub columns: Vec<Column>,
    /// The optimizer's statistics as it keeps them, where they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statistics: Vec<TableStatistics>,
    /// The foreign keys.
    pub foreign_keys: Vec<ForeignKey>,
    /// Indexes that the server's optimizer has missed.
    #[serde(default)]
    pub missed: Vec<Missed>,
    /// The indexes.
    pub indexes: Vec<Index>,
    /// True where the engine tells whether it has a primary key, and it has none.
    #[serde(default)]
    pub lacks_primary_key: bool,
}

/// The optimizer's statistics of a column.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// The name, quoted where that is needed.
    pub name: String,
    /// Bytes of a value on average.
    pub width: f64,
    /// Share of values that are NULL.
    pub nulls: f64,
    /// Different values; below 0 their share of the rows; 0 where that is not known.
    pub distinct: f64,
    /// The type, in the engine's words.
    #[serde(default)]
    pub kind: String,
    /// True when the optimizer has no statistics of it: its width is not known.
    #[serde(default)]
    pub is_unanalyzed: bool,
}

/// An index that the server's optimizer has missed since the server started, whatever statements it
/// was for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Missed {
    /// The columns, and what it would save.
    pub hint: MissingIndex,
    /// Seeks and scans that it could have been used for.
    pub uses: u64,
    /// The mean cost of these statements without it, in the optimizer's unit.
    pub cost: f64,
}

/// A foreign key of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignKey {
    /// The name.
    pub name: String,
    /// The columns of this table, quoted where that is needed.
    pub columns: Vec<String>,
    /// The table that they refer to.
    #[serde(default)]
    pub target: String,
}

/// An index.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Index {
    /// The name.
    pub name: String,
    /// As it is written in a statement, quoted where that is needed.
    pub quoted: String,
    /// How it is built: `btree`, `gin`.
    pub method: String,
    /// The columns and expressions that it is ordered by.
    pub keys: Vec<Key>,
    /// Columns that it only carries.
    pub included: Vec<String>,
    /// The rows that it has, where it does not have all.
    pub predicate: Option<String>,
    /// True when it allows a value only once.
    pub is_unique: bool,
    /// True when the server needs it: for a primary key or another constraint, as a replica
    /// identity, or as a part of the index of a partitioned table.
    pub is_needed: bool,
    /// True when queries may use it.
    pub is_valid: bool,
    /// Bytes.
    pub bytes: Option<u64>,
    /// Entries, as the server estimates.
    pub entries: Option<f64>,
    /// The number of times that it was read, since the table's counters began.
    pub scans: Option<u64>,
    /// Of an interval: how often it was read in it.
    pub interval_scans: Option<u64>,
    /// When it was read last, ms since 1970 UTC.
    pub last_scan_ms: Option<i64>,
    /// Entries that were read.
    pub rows_read: Option<u64>,
    /// Rows of the table that were fetched through it.
    pub rows_fetched: Option<u64>,
    /// The pages that were found in the server's cache, and that were not.
    pub blocks: Option<(u64, u64)>,
    /// The statement that makes it.
    pub definition: String,
}

/// A column or expression of an index.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// As it is written in a statement.
    pub column: String,
    /// Operator class, collation and the like: what has to be the same for two keys to be.
    pub rules: String,
    /// True when it runs down.
    pub descending: bool,
    /// True when NULL comes first.
    pub nulls_first: bool,
    /// True when its order serves `LIKE 'prefix%'`, where an engine has others.
    #[serde(default)]
    pub serves_prefix: bool,
}

impl Snapshot {
    /// A snapshot with nothing in it yet.
    pub fn new(engine: &str, server: String, span: Span, block_bytes: u64) -> Self {
        Self { engine: engine.to_owned(), server, span, block_bytes, ..Self::default() }
    }

    /// Notes a part that cannot be read, and why.
    pub fn note_unread(&mut self, what: impl Into<String>, why: impl Display) {
        self.unread.push(Unread { what: what.into(), why: why.to_string() });
    }

    /// An answer; where there is none, notes that this part cannot be read, and why.
    pub fn read<T>(&mut self, what: &str, answer: Result<T, impl Display>) -> Option<T> {
        answer.map_err(|why| self.note_unread(what, why)).ok()
    }

    /// The parts that are missing: those that could not be read, and runs without their statement.
    pub fn missing(&self) -> impl Iterator<Item = Unread> {
        let overflow = self.overflow.iter().filter(|overflow| overflow.runs > 0);
        self.unread.iter().cloned().chain(overflow.map(|overflow| Unread {
            what: format!("{} executions of other statements", overflow.runs),
            why: overflow.why.clone(),
        }))
    }

    /// The number of a table by where it is; an empty schema is any.
    pub fn table_at(&self, database: &str, schema: &str, name: &str) -> Option<usize> {
        self.tables.iter().position(|table| {
            table.name == name
                && (database.is_empty() || table.database == database)
                && (schema.is_empty() || table.schema.is_empty() || table.schema == schema)
        })
    }
}

impl Missed {
    /// The cost that it would have saved by the optimizer's estimates, in its unit
    /// (<https://learn.microsoft.com/sql/relational-databases/system-dynamic-management-views/sys-dm-db-missing-index-group-stats-transact-sql>).
    pub fn saving(&self) -> f64 {
        self.cost * self.hint.impact.unwrap_or(0.0) * self.uses as f64
    }
}

impl Column {
    /// Estimates [`Self::distinct`] by the different values among rows that were read: where values
    /// seldom come twice, more rows are expected to have new ones.
    pub fn distinct_of(values: f64, rows: f64) -> f64 {
        if values >= 0.2 * rows { -values / rows } else { values }
    }

    /// Different values in a table with this number of rows, where that is known.
    pub fn distinct_values(&self, rows: f64) -> Option<f64> {
        match self.distinct {
            known if known > 0.0 => Some(known),
            share if share < 0.0 => Some((-share * rows).max(1.0)),
            _ => None,
        }
    }
}

impl Table {
    /// `sales.orders`: without the schema `public`.
    pub fn label(&self) -> String {
        plans::Object {
            schema: self.schema.clone(),
            table: self.name.clone(),
            ..plans::Object::default()
        }
        .label()
    }

    /// Rows that changed since its counters began.
    pub fn changes(&self) -> Option<u64> {
        Some(self.inserts?.saturating_add(self.updates?).saturating_add(self.deletes?))
    }

    /// Changes that every index of it had to follow, at most: inserts, deletes, and updates that
    /// are not HOT. A server updates its counters one after the other.
    pub fn index_changes(&self) -> Option<u64> {
        Some(self.changes()?.saturating_sub(self.hot_updates.unwrap_or(0)))
    }

    /// Returns true when it was read or changed since its counters began.
    pub fn is_in_use(&self) -> bool {
        let reads = self
            .indexes
            .iter()
            .filter_map(|index| index.scans)
            .chain(self.scans)
            .chain(self.scanned_rows);
        let read = reads.max().is_some_and(|reads| reads > 0);
        read || self.changes().is_some_and(|changes| changes > 0)
    }
}

impl Index {
    /// Returns true when the first keys are these columns, in any order.
    pub fn begins_with(&self, columns: &[String]) -> bool {
        let first = self.keys.get(..columns.len()).unwrap_or_default();
        !first.is_empty() && first.iter().all(|key| columns.contains(&key.column))
    }

    /// Returns true when neither the server nor the data need it.
    pub fn may_go(&self) -> bool {
        !self.is_needed && !self.is_unique
    }

    /// The columns as they stand in a statement: `a, b DESC`.
    pub fn columns(&self) -> String {
        let keys = self.keys.iter();
        let keys =
            keys.map(|key| format!("{}{}", key.column, if key.descending { " DESC" } else { "" }));
        joined(keys, ", ")
    }

    /// Bytes that are estimated to be free in a B-tree: its size less what its entries need at a
    /// fill factor of 90 %.
    ///
    /// An entry has a header of 8 bytes, its key aligned to 8, and a pointer of 4; a page a header
    /// of 24 and 16 of its own (PostgreSQL's documentation, "Database Page Layout" and "B-Tree
    /// Indexes"). What deduplication saves is not seen: then less is estimated than there is.
    /// `None` where the statistics do not have a column.
    pub fn bloat_bytes(&self, columns: &[Column], block_bytes: u64) -> Option<u64> {
        let names = self
            .keys
            .iter()
            .map(|key| key.column.as_str())
            .chain(self.included.iter().map(String::as_str));
        let found: Vec<&Column> = names
            .map(|name| columns.iter().find(|column| column.name == name && !column.is_unanalyzed))
            .collect::<Option<_>>()?;
        let entries = self.entries.filter(|entries| *entries > 0.0 && self.method == "btree")?;
        let key: f64 = found.iter().map(|column| column.width * (1.0 - column.nulls)).sum();
        let bitmap = if found.iter().any(|column| column.nulls > 0.0) { 8.0 } else { 0.0 };
        let entry = 8.0 + bitmap + (key / 8.0).ceil() * 8.0 + 4.0;
        let by_page = ((block_bytes as f64 - 40.0) * 0.9 / entry).floor().max(1.0);
        let needed = (entries / by_page).ceil() * block_bytes as f64;
        Some((self.bytes? as f64 - needed).max(0.0) as u64)
    }
}
