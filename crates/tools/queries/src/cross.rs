//! Which statements use which index, and which read tables whole.

use plans::{Access, Kind, Role};
use serde::Serialize;
use statements::Snapshot;
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
    /// How.
    pub access: Access,
}

/// The scan of a table of which a plan of a statement keeps a part.
#[derive(Debug, Clone, PartialEq)]
pub struct TableScan {
    /// Number of the table.
    pub table: usize,
    /// Number of the statement.
    pub statement: usize,
    /// The conditions that rows are kept by.
    pub conditions: Vec<String>,
    /// Rows that are kept, as the optimizer estimates, by all processes together.
    pub estimated_rows: Option<f64>,
    /// Rows that were kept, where a run is recorded.
    pub actual_rows: Option<f64>,
}

/// Every use of an index in the plans, each once.
pub fn index_uses(snapshot: &Snapshot) -> Vec<IndexUse> {
    let mut uses = BTreeSet::new();
    for (statement, one) in snapshot.statements.iter().enumerate() {
        for (plan, found) in one.plans.iter().enumerate() {
            for (_, operator) in found.plan.operators() {
                let Some(access) = operator.access.filter(|access| *access != Access::Change)
                else {
                    continue;
                };
                let at = operator
                    .objects
                    .first()
                    .and_then(|object| index_at(snapshot, &one.database, object));
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
    let of_index = uses.iter().filter(|one| (one.table, one.index) == (table, index));
    let statements: BTreeSet<usize> = of_index.map(|one| one.statement).collect();
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

/// Every scan of a table with a condition in the plans.
pub fn table_scans(snapshot: &Snapshot) -> Vec<TableScan> {
    let mut scans = Vec::new();
    for (statement, one) in snapshot.statements.iter().enumerate() {
        for found in &one.plans {
            let operators = found.plan.operators();
            for (_, operator) in &operators {
                if operator.kind != Kind::TableScan || operator.access != Some(Access::Scan) {
                    continue;
                }
                let Some(object) = operator.objects.first() else { continue };
                let conditions: Vec<String> = operator
                    .predicates
                    .iter()
                    .filter(|predicate| predicate.role == Role::Filter)
                    .map(|predicate| predicate.text.clone())
                    .collect();
                let table = snapshot.table_at(&one.database, &object.schema, &object.table);
                if let Some(table) = table.filter(|_| !conditions.is_empty()) {
                    scans.push(TableScan {
                        table,
                        statement,
                        conditions,
                        estimated_rows: operator.rows.estimated,
                        actual_rows: operator.rows.actual,
                    });
                }
            }
        }
    }
    scans
}
