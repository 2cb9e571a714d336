//! The rules of an engine that texts of its statements and advice on its indexes depend on.

use crate::plans::Terms;
use crate::statements::{Index, Table};
use report::text::{joined, listed};
use work::sql::Syntax;

/// An engine's rules.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// Quotes, comments and names of its SQL.
    pub syntax: Syntax,
    /// Names that differ by their case alone may name different columns.
    pub names_keep_case: bool,
    /// It counts statements and the reads of indexes. Without that, statements are given.
    pub keeps_statistics: bool,
    /// The rows that a plan estimates for a scan are worth more than the rows that runs returned.
    pub estimates_scans: bool,
    /// Words in its plans.
    pub terms: Terms,
    /// The setting that gives sorts and hashes more memory.
    pub sort_memory: &'static str,
    /// Writes the statement that gives the sessions of a user memory for sorts, in bytes; `None`
    /// for more than one session should have.
    pub give_memory: Option<fn(user: &str, bytes: u64) -> Option<String>>,
    /// Changes that an index has to follow.
    pub upkeep: Upkeep,
    /// The indexes that it has beside those of columns.
    pub abilities: IndexAbilities,
    /// The statement that a session runs before one that changes tables.
    pub before_change: Option<&'static str>,
    /// The grant that lets a role explain all statements, with `ROLE` for its name.
    pub explain_grant: &'static str,
    /// Writes the statement that makes an index.
    pub create_index: fn(&NewIndex<'_>) -> String,
    /// Writes the statement that drops an index of a table.
    pub drop_index: fn(&Table, &Index) -> String,
}

/// Indexes of an engine beside those of plain columns.
#[derive(Debug, Clone, Copy)]
pub struct IndexAbilities {
    /// An index may be ordered by an expression.
    pub expressions: bool,
    /// The words that an index column needs behind its name to serve `LIKE 'prefix%'`; `None`: no
    /// index does.
    pub prefix: Option<&'static str>,
    /// The index method and the operator class (with a space before it) for an operator on a
    /// column of a type.
    pub inverted: fn(operator: &str, kind: &str) -> Option<(&'static str, &'static str)>,
    /// The method and the class of an index that finds a text inside of texts, and the statement
    /// that installs it.
    pub infix: Option<InfixIndex>,
    /// Writes the statement that makes statistics of columns that depend on each other.
    pub statistics: Option<fn(&Table, &[String]) -> String>,
    /// A comparison of a text with a number reads no index.
    pub numbers_miss_texts: bool,
    /// Writes the statement that gives a table a column as its primary key.
    pub add_key: Option<fn(&Table) -> String>,
    /// The engine's optimizer itself names indexes that it misses.
    pub engine_names_missing: bool,
}

/// An index that finds a text inside of texts.
#[derive(Debug, Clone, Copy)]
pub struct InfixIndex {
    /// The method.
    pub method: &'static str,
    /// The operator class.
    pub class: &'static str,
    /// The statement that installs it.
    pub needs: &'static str,
}

impl IndexAbilities {
    /// Indexes of columns only.
    pub const PLAIN: Self = Self {
        expressions: false,
        prefix: Some(""),
        inverted: |_, _| None,
        infix: None,
        statistics: None,
        numbers_miss_texts: false,
        add_key: None,
        engine_names_missing: false,
    };
}

/// An index that is advised.
#[derive(Debug, Clone, Copy)]
pub struct NewIndex<'a> {
    /// The table.
    pub table: &'a Table,
    /// The columns that it is ordered by: an expression in parentheses, and what an index needs
    /// behind a name after a space.
    pub columns: &'a [String],
    /// How it is built, where that is not the engine's usual way.
    pub method: Option<&'static str>,
    /// Columns that it only carries.
    pub included: &'a [&'a String],
}

/// Changes of rows that an index has to follow, beside inserts and deletes.
#[derive(Debug, Clone, Copy)]
pub struct Upkeep {
    /// The updates, in the singular.
    pub update: &'static str,
    /// The name of the changes that are counted.
    pub counted: &'static str,
}

impl Upkeep {
    /// An index follows updates of its own columns, and the engine counts all changes.
    pub const BY_COLUMN: Self =
        Self { update: "update of its columns", counted: "row changes in total" };
}

impl<'a> NewIndex<'a> {
    /// An index of the usual kind.
    pub const fn new(table: &'a Table, columns: &'a [String]) -> Self {
        Self { table, columns, method: None, included: &[] }
    }

    /// The statement for an engine whose indexes need a name, with names in its quotes.
    pub fn named(&self, quote: fn(&str) -> String) -> String {
        let table = self.table;
        let parts: Vec<(&str, &str)> = self.columns.iter().map(|column| parts(column)).collect();
        let words = parts.iter().flat_map(|(name, _)| {
            name.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ' ')
        });
        let name = joined(words.filter(|word| !word.is_empty()), "_");
        let columns = parts.iter().map(|(name, rest)| {
            let name = if name.starts_with('(') { (*name).to_owned() } else { quote(name) };
            format!("{name}{rest}")
        });
        let (name, columns) = (quote(&format!("{}_{name}", table.name)), joined(columns, ", "));
        let included = listed(self.included.iter().map(|name| quote(name)));
        let included = included.map(|names| format!(" INCLUDE ({names})")).unwrap_or_default();
        format!("CREATE INDEX {name} ON {} ({columns}){included}", table.quoted)
    }
}

/// The name or expression of a column of an index, and what follows it.
fn parts(column: &str) -> (&str, &str) {
    let ends = [" DESC", " COLLATE NOCASE"];
    let rest = ends.iter().find(|end| column.ends_with(**end)).map_or(0, |end| end.len());
    column.split_at(column.len() - rest)
}

/// The name of a new key column.
pub fn key_name(table: &Table) -> &'static str {
    let is_taken = table.columns.iter().any(|column| column.name.eq_ignore_ascii_case("id"));
    if is_taken { "row_id" } else { "id" }
}

/// `DROP INDEX` of an engine whose indexes have names of their own.
pub fn drop_by_name(_: &Table, index: &Index) -> String {
    format!("DROP INDEX {}", index.quoted)
}

/// `DROP INDEX` of an engine whose indexes are named within their table.
pub fn drop_of_table(table: &Table, index: &Index) -> String {
    format!("DROP INDEX {} ON {}", index.quoted, table.quoted)
}
