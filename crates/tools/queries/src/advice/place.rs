//! A part of a statement with the tables that it reads.

use crate::query::{Block, ColumnName, Operand, Source, blocks};
use inspection::plans::{Access, Kind, Operator};
use inspection::statements::{Column, Rules, Snapshot, Statement, Table};

/// A table with fewer rows, or fewer bytes, is read whole in less time than is noticeable.
const ROWS_MIN: f64 = 5_000.0;
const BYTES_MIN: u64 = 256 << 10;

/// A block of a statement in its snapshot.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// All that is known.
    pub snapshot: &'a Snapshot,
    /// The engine's rules.
    pub rules: &'a Rules,
    /// The number of the statement.
    pub at: usize,
    /// The block.
    pub block: &'a Block,
}

impl<'a> Place<'a> {
    /// The statement.
    pub fn statement(&self) -> &'a Statement {
        &self.snapshot.statements[self.at]
    }

    /// The number of the table that a source names.
    pub fn table(&self, source: &Source) -> Option<usize> {
        let is = |a: &str, b: &str| is_name(self.rules, a, b);
        let database = &self.statement().database;
        self.snapshot.tables.iter().position(|table| {
            let schema = source.schema.as_deref();
            let is_there = if table.schema.is_empty() {
                table.database.is_empty() || is(&table.database, schema.unwrap_or(database))
            } else {
                (database.is_empty() || table.database == *database)
                    && schema.is_none_or(|schema| is(&table.schema, schema))
            };
            is_there && is(&table.name, &source.name)
        })
    }

    /// The number of the source that has a column; `None` also where that is not clear.
    pub fn source(&self, column: &ColumnName) -> Option<usize> {
        let sources = &self.block.sources;
        if let Some(qualifier) = &column.qualifier {
            return sources.iter().position(|source| source.is(qualifier));
        }
        let mut found = (0..sources.len()).filter(|at| {
            let table = self.table(&sources[*at]).map(|table| &self.snapshot.tables[table]);
            table.is_some_and(|table| self.column(table, &column.name).is_some())
        });
        found.next().filter(|_| found.next().is_none())
    }

    /// The column of a table.
    pub fn column<'t>(&self, table: &'t Table, name: &str) -> Option<&'t Column> {
        table.columns.iter().find(|column| is_name(self.rules, unquoted(&column.name), name))
    }

    /// The first column of an operand in a table.
    pub fn column_of<'t>(&self, table: &'t Table, operand: &Operand) -> Option<&'t Column> {
        self.column(table, &operand.columns.first()?.name)
    }

    /// Returns true when all columns of an operand are of this source.
    pub fn is_of(&self, operand: &Operand, source: usize) -> bool {
        operand.columns.iter().all(|column| self.source(column) == Some(source))
    }

    /// Returns true when a column of an operand is of this source.
    pub fn touches(&self, operand: &Operand, source: usize) -> bool {
        operand.columns.iter().any(|column| self.source(column) == Some(source))
    }

    /// The operators of the plans that read a table, each with the join above it.
    pub fn readers(&self, table: &Table) -> Vec<Reader<'a>> {
        let mut found = Vec::new();
        for plan in &self.statement().plans {
            let root = plan.plan.root.as_ref();
            let mut next: Vec<(&Operator, Option<&Operator>)> =
                root.map(|root| (root, None)).into_iter().collect();
            while let Some((operator, join)) = next.pop() {
                let is_of_table = operator.objects.first().is_some_and(|object| {
                    is_name(self.rules, &object.table, &table.name)
                        && (object.schema.is_empty()
                            || table.schema.is_empty()
                            || object.schema == table.schema)
                });
                if is_of_table && operator.access.is_some_and(|access| access != Access::Change) {
                    found.push(Reader { operator, join, is_run: plan.runs > 0 });
                }
                let is_join =
                    matches!(operator.kind, Kind::NestedLoops | Kind::HashJoin | Kind::MergeJoin);
                let join = if is_join { Some(operator) } else { join };
                next.extend(operator.inputs.iter().rev().map(|input| (input, join)));
            }
        }
        found
    }
}

/// A table that a part of a statement reads.
#[derive(Clone, Copy)]
pub struct TableRead<'a> {
    /// The part.
    pub place: Place<'a>,
    /// Number of its source.
    pub source: usize,
    /// Number of the table.
    pub number: usize,
    /// The table.
    pub table: &'a Table,
}

/// Visits the tables worth an index that a statement reads.
pub fn large_tables(
    snapshot: &Snapshot,
    rules: &Rules,
    at: usize,
    mut visit: impl FnMut(TableRead<'_>),
) {
    let statement = &snapshot.statements[at];
    if !statement.can_be_explained() {
        return;
    }
    for block in blocks(statement.sample.as_deref().unwrap_or(&statement.text), rules.syntax) {
        let place = Place { snapshot, rules, at, block: &block };
        for (source, from_source) in block.sources.iter().enumerate() {
            let Some(number) = place.table(from_source) else { continue };
            let table = &snapshot.tables[number];
            if is_large(table) {
                visit(TableRead { place, source, number, table });
            }
        }
    }
}

/// Returns true for a table that is worth an index.
fn is_large(table: &Table) -> bool {
    table.rows.is_some_and(|rows| rows >= ROWS_MIN)
        && table.bytes.is_none_or(|bytes| bytes >= BYTES_MIN)
}

/// An operator that reads a table.
pub struct Reader<'a> {
    /// It.
    pub operator: &'a Operator,
    /// The join above it.
    pub join: Option<&'a Operator>,
    /// True when the plan is of recorded runs.
    pub is_run: bool,
}

impl Reader<'_> {
    /// Returns true when it reads the whole table.
    pub fn scans(&self) -> bool {
        matches!(self.operator.kind, Kind::TableScan | Kind::IndexScan)
    }
}

/// Returns true for two names of one thing.
pub fn is_name(rules: &Rules, a: &str, b: &str) -> bool {
    if rules.names_keep_case { a == b } else { a.eq_ignore_ascii_case(b) }
}

/// A name without its quotes.
pub fn unquoted(name: &str) -> &str {
    name.strip_prefix('"').and_then(|name| name.strip_suffix('"')).unwrap_or(name)
}

/// A key of an index without what may differ though it is the same: spaces, casts of texts,
/// parentheses around it, quotes, what follows the name.
pub(crate) fn squeezed(key: &str) -> String {
    let untyped = key
        .to_lowercase()
        .replace("::text", "")
        .replace("::charactervarying", "")
        .replace("::character varying", "");
    let bare = untyped.trim_end_matches(" text_pattern_ops").trim_end_matches(" collate nocase");
    let key: String =
        bare.chars().filter(|c| !c.is_whitespace() && *c != '"' && *c != '`').collect();
    let mut inner = key.as_str();
    while let Some(next) = inner.strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
        inner = next;
    }
    inner.replace("((", "(").replace("))", ")")
}
