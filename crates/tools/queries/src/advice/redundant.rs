//! Indexes that another does the work of.

use super::indexes::foreign_key;
use crate::IndexUse;
use crate::cross::IndexPlace;
use crate::words::numbers;
use inspection::statements::{Advice, AdviceKind, Certainty, Index, Key, Rules, Snapshot, Table};
use observations::number::{bytes, count};
use std::cmp::Reverse;

/// How an index is covered by another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cover {
    /// Columns and order are the same, with all that it carries.
    Same,
    /// The columns are the first ones of the other.
    Prefix,
    /// Columns are the same, but it carries some that the other one lacks.
    Included,
    /// Columns are the same, some of them in the other direction.
    Directions,
}

/// An index that another covers.
pub(crate) struct Redundant {
    /// The finding.
    pub advice: Advice,
    /// The index that does its work, by its number in the table.
    replacement: usize,
}

impl Redundant {
    /// Returns true for the index that goes and for the one that has to stay therefore.
    pub fn is_about(&self, table: usize, index: usize) -> bool {
        self.advice.table == Some(table)
            && (self.advice.index == Some(index) || self.replacement == index)
    }
}

/// Each index that another covers, with that one. Of two that are the same, one is named.
pub fn redundant(snapshot: &Snapshot, uses: &[IndexUse], rules: &Rules) -> Vec<Redundant> {
    let mut all = Vec::new();
    for (at, table) in snapshot.tables.iter().enumerate() {
        let mut gone: Vec<usize> = Vec::new();
        for (number, index) in table.indexes.iter().enumerate() {
            let others = table.indexes.iter().enumerate();
            let others = others.filter(|(other, _)| *other != number && !gone.contains(other));
            let found = others
                .filter_map(|(place, other)| Some((cover(index, other)?, place, other)))
                .filter(|(how, _, other)| {
                    *how == Cover::Prefix && !is_idle_beside(other, index)
                        || *how != Cover::Prefix && is_the_one_to_drop(table, index, other)
                })
                .min_by_key(|(how, _, other)| (*how as u8, other.keys.len()));
            let Some((how, replacement, other)) = found else { continue };
            gone.push(number);
            let place = IndexPlace { table_at: at, table, number, index };
            let used = place.statements(uses);
            let found = advise(table, [index, other], how, &used);
            let ddl = Some((rules.drop_index)(table, index));
            let advice = place.advice(Advice { statements: used, ddl, ..found });
            all.push(Redundant { advice, replacement });
        }
    }
    all
}

/// Returns true for an index that may go itself, because nothing reads it while the shorter one is
/// read.
fn is_idle_beside(other: &Index, index: &Index) -> bool {
    other.may_go() && other.scans == Some(0) && index.scans.is_some_and(|scans| scans > 0)
}

/// Returns true if, of two indexes that cover each other, `index` is the one to drop: not needed by
/// a constraint, not unique, read less, or created later.
fn is_the_one_to_drop(table: &Table, index: &Index, other: &Index) -> bool {
    if cover(other, index).is_none() {
        return true;
    }
    let worth = |index: &Index| {
        let place = table.indexes.iter().position(|candidate| candidate.name == index.name);
        let scans = index.scans.unwrap_or(0);
        (index.is_needed, index.is_unique, index.included.len(), scans, Reverse(place))
    };
    worth(index) < worth(other)
}

/// How another index does what this one does; `None` where it does not, or this one is needed for
/// itself.
fn cover(index: &Index, other: &Index) -> Option<Cover> {
    let is_free = !index.is_needed && index.is_valid && other.is_valid;
    let alike = index.method == other.method && index.predicate == other.predicate;
    if !is_free || !alike || index.keys.is_empty() || index.keys.len() > other.keys.len() {
        return None;
    }
    let is_ordered = index.method.eq_ignore_ascii_case("btree");
    let same_length = index.keys.len() == other.keys.len();
    // One that forbids doubles is covered only by one that forbids the same.
    if (!is_ordered && !same_length) || (index.is_unique && !(other.is_unique && same_length)) {
        return None;
    }
    let pairs: Vec<(&Key, &Key)> = index.keys.iter().zip(&other.keys).collect();
    if pairs.iter().any(|(a, b)| a.column != b.column || a.rules != b.rules) {
        return None;
    }
    // Read from its end, an index has all directions turned.
    let is_turned = |turned: bool| {
        pairs.iter().all(|(a, b)| {
            (a.descending != b.descending) == turned && (a.nulls_first != b.nulls_first) == turned
        })
    };
    let directions = is_turned(false) || is_turned(true);
    let is_carried = index.included.iter().all(|column| {
        other.included.contains(column) || other.keys.iter().any(|key| key.column == *column)
    });
    match (directions, is_carried, same_length) {
        (true, true, true) => Some(Cover::Same),
        (true, true, false) => Some(Cover::Prefix),
        (true, false, true) => Some(Cover::Included),
        (false, true, true) => Some(Cover::Directions),
        _ => None,
    }
}

fn advise(table: &Table, [index, other]: [&Index; 2], how: Cover, used: &[usize]) -> Advice {
    let covers = match how {
        Cover::Same => "has the same columns in the same order",
        Cover::Prefix => "begins with the same columns",
        Cover::Included => "has the same columns and includes others",
        Cover::Directions => "has the same columns, some in the opposite sort direction",
    };
    let scans =
        index.scans.map(|scans| format!(" It has {} reads.", count(scans))).unwrap_or_default();
    let in_plans = match used {
        [] => String::new(),
        used => format!(" Plans of {} use it and could use the other.", numbers(used)),
    };
    let size = |index: &Index| bytes(index.bytes.unwrap_or(0));
    let change = match how {
        Cover::Included => format!(
            "One index on ({}) with the included columns of both replaces the two. Dropping this \
             one frees {}.",
            other.columns(),
            size(index)
        ),
        _ => format!(
            "Dropping it frees {} and leaves one index less to maintain on each write ({} writes \
             so far).",
            size(index),
            count(table.index_changes().unwrap_or(0))
        ),
    };
    let price = match how {
        Cover::Same => "none known".to_owned(),
        Cover::Prefix => format!(
            "Statements that read it read the other instead: {} in place of {}.",
            size(other),
            size(index)
        ),
        Cover::Included => "Index-only reads of this index must fetch rows from the table until \
                            the other index includes its columns."
            .into(),
        Cover::Directions => "Statements that order by all of its columns may have to sort.".into(),
    };
    let kept = foreign_key(table, index);
    let is_sure = matches!(how, Cover::Same | Cover::Prefix) && kept.is_none();
    let certainty = if is_sure { Certainty::Counted } else { Certainty::Possible };
    Advice {
        evidence: format!(
            "({}): index {} on ({}) {covers}.{scans}{in_plans}",
            index.columns(),
            other.name,
            other.columns()
        ),
        change,
        price,
        weight: index.bytes.unwrap_or(0) as f64,
        ..Advice::new(AdviceKind::RedundantIndex, certainty)
    }
}
