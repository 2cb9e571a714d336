//! The statements that use each index, and the way they do.

use inspection::plans::{self, Access};
use inspection::statements::{Advice, Index, Snapshot, Table};
use serde::Serialize;
use std::collections::BTreeSet;

/// The use of an index by a plan of a statement.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct IndexUse {
    /// Number of the table.
    pub table: usize,
    /// Number of the index in it.
    pub index: usize,
    /// Number of the statement.
    pub statement: usize,
    /// Number of its plan.
    pub plan: usize,
    /// The way.
    pub access: Access,
}

/// An index in its snapshot.
#[derive(Debug, Clone, Copy)]
pub struct IndexPlace<'a> {
    /// Number of its table.
    pub table_at: usize,
    /// The table.
    pub table: &'a Table,
    /// The number in it.
    pub number: usize,
    /// The index.
    pub index: &'a Index,
}

/// The indexes of all tables.
pub fn all_indexes(snapshot: &Snapshot) -> impl Iterator<Item = IndexPlace<'_>> {
    snapshot.tables.iter().enumerate().flat_map(|(table_at, table)| {
        let indexes = table.indexes.iter().enumerate();
        indexes.map(move |(number, index)| IndexPlace { table_at, table, number, index })
    })
}

impl IndexPlace<'_> {
    /// The statements of which plans use it, each once, in order.
    pub fn statements(&self, uses: &[IndexUse]) -> Vec<usize> {
        let is_here =
            |index: &&IndexUse| (index.table, index.index) == (self.table_at, self.number);
        let statements: BTreeSet<usize> =
            uses.iter().filter(is_here).map(|index| index.statement).collect();
        statements.into_iter().collect()
    }

    /// A finding about it.
    pub fn advice(&self, found: Advice) -> Advice {
        Advice {
            database: self.table.database.clone(),
            subject: format!("{} ({})", self.table.label(), self.index.name),
            table: Some(self.table_at),
            index: Some(self.number),
            ..found
        }
    }
}

/// Every use of an index in the plans, each once.
pub fn index_uses(snapshot: &Snapshot) -> Vec<IndexUse> {
    let mut uses = BTreeSet::new();
    for (statement, entry) in snapshot.statements.iter().enumerate() {
        for (plan, found) in entry.plans.iter().enumerate() {
            for (_, operator) in found.plan.operators() {
                let Some(access) = operator.access.filter(|access| *access != Access::Change)
                else {
                    continue;
                };
                let at = operator
                    .objects
                    .first()
                    .and_then(|object| index_at(snapshot, &entry.database, object));
                uses.extend(at.map(|(table, index)| IndexUse {
                    table,
                    index,
                    statement,
                    plan,
                    access,
                }));
            }
        }
    }
    uses.into_iter().collect()
}

/// A scan of an index for its entries alone names only the index.
fn index_at(snapshot: &Snapshot, database: &str, object: &plans::Object) -> Option<(usize, usize)> {
    let name = object.index.as_deref()?;
    let in_table = |table: usize| {
        let at = snapshot.tables[table].indexes.iter().position(|index| index.name == name)?;
        Some((table, at))
    };
    if !object.table.is_empty() {
        return in_table(snapshot.table_at(database, &object.schema, &object.table)?);
    }
    (0..snapshot.tables.len())
        .filter(|table| snapshot.tables[*table].database == database)
        .find_map(in_table)
}
