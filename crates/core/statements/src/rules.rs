//! The rules of an engine that texts of its statements and advice on its indexes depend on.

use crate::{Index, Table};
use plans::Terms;
use sql::Syntax;

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
    /// Changes that an index has to follow.
    pub upkeep: Upkeep,
    /// Writes the statement that makes an index.
    pub create_index: fn(&NewIndex<'_>) -> String,
    /// Writes the statement that drops an index of a table.
    pub drop_index: fn(&Table, &Index) -> String,
}

/// An index that is advised.
#[derive(Debug, Clone, Copy)]
pub struct NewIndex<'a> {
    /// Its table.
    pub table: &'a Table,
    /// The columns that it is ordered by.
    pub columns: &'a [String],
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

impl NewIndex<'_> {
    /// The statement for an engine whose indexes need a name, with names in its quotes.
    pub fn named(&self, quote: fn(&str) -> String) -> String {
        let list = |names: Vec<&str>| names.into_iter().map(quote).collect::<Vec<_>>().join(", ");
        let table = self.table;
        let name = format!("{}_{}", table.name, self.columns.join("_").replace('"', ""));
        let columns = list(self.columns.iter().map(String::as_str).collect());
        let sql = format!("CREATE INDEX {} ON {} ({columns})", quote(&name), table.quoted);
        if self.included.is_empty() {
            return sql;
        }
        let included = list(self.included.iter().map(|name| name.as_str()).collect());
        format!("{sql} INCLUDE ({included})")
    }
}

/// `DROP INDEX` of an engine whose indexes have names of their own.
pub fn drop_by_name(_: &Table, index: &Index) -> String {
    format!("DROP INDEX {}", index.quoted)
}

/// `DROP INDEX` of an engine whose indexes are named within their table.
pub fn drop_of_table(table: &Table, index: &Index) -> String {
    format!("DROP INDEX {} ON {}", index.quoted, table.quoted)
}
