//! Indexes and the statements that use them.

use crate::plans::{Access, Object, Statement};
use serde::Serialize;
use std::collections::BTreeMap;

/// An index, or a table that is read itself, and who uses it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IndexUse {
    /// The index or table.
    pub object: Object,
    /// By which statements, in their order.
    pub uses: Vec<Uses>,
}

/// How a statement uses it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Uses {
    /// Number of the statement, from 0.
    pub statement: usize,
    /// The way.
    pub access: Access,
    /// In how many operators of its plan.
    pub operators: usize,
}

/// Every index and table of plans with the statements that use it, by name. An update names all
/// indexes that it changes.
pub fn index_uses<'a>(statements: impl IntoIterator<Item = &'a Statement>) -> Vec<IndexUse> {
    let mut all: BTreeMap<&Object, BTreeMap<(usize, Access), usize>> = BTreeMap::new();
    let plans = statements
        .into_iter()
        .enumerate()
        .filter_map(|(at, statement)| Some((at, statement.plan.as_ref()?)));
    for (statement, plan) in plans {
        for (_, operator) in plan.operators() {
            let Some(access) = operator.access else { continue };
            let read = usize::from(access != Access::Change);
            let objects = operator.objects.iter().take(if read == 1 { 1 } else { usize::MAX });
            for object in objects {
                *all.entry(object).or_default().entry((statement, access)).or_default() += 1;
            }
        }
    }
    all.into_iter()
        .map(|(object, uses)| IndexUse {
            object: object.clone(),
            uses: uses
                .into_iter()
                .map(|((statement, access), operators)| Uses { statement, access, operators })
                .collect(),
        })
        .collect()
}
