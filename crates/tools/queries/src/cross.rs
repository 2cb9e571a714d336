//! The statements that use each index, and the way they do.

use inspection::plans::{self, Access};
use inspection::statements::Snapshot;
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

/// The statements of which plans use this index of this table, each once, in order.
pub fn statements_of(uses: &[IndexUse], table: usize, index: usize) -> Vec<usize> {
    let of_index =
        uses.iter().filter(|index_use| (index_use.table, index_use.index) == (table, index));
    let statements: BTreeSet<usize> = of_index.map(|index| index.statement).collect();
    statements.into_iter().collect()
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
