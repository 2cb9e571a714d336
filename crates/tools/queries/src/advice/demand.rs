//! The index that a part of a statement would read a table by: what is compared with values, then
//! a range or the order.

use super::place::{Place, squeezed};
use crate::query::{Comparison, Condition, Operand, Other};
use inspection::statements::{Column, Index, Table};

/// Columns that are compared with values: more of them seldom select better.
const EQUAL_MAX: usize = 3;
/// Columns of an order that an index is advised for.
const ORDER_MAX: usize = 3;

/// Functions whose results never change.
const IMMUTABLE: &str = "lower upper md5 abs left right length trim btrim ltrim rtrim substr \
                         substring reverse coalesce";

/// A column or expression of an index.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Key {
    /// As it is written in the statement that makes the index.
    pub text: String,
    /// The column or expression, to compare.
    pub base: String,
    /// Different values, where they are known.
    pub distinct: Option<f64>,
    /// True when it runs down.
    pub descending: bool,
    /// True when it serves the beginning of texts, for which an engine wants an order of its own.
    pub is_prefix: bool,
}

/// An index that would serve a block's reads of a table.
#[derive(Debug, Clone, Default)]
pub struct Demand {
    /// Keys that are compared by equality, in any order.
    pub equal: Vec<Key>,
    /// A range, or an order.
    pub tail: Vec<Key>,
    /// How it is built, where not in the usual way.
    pub method: Option<&'static str>,
    /// True when all conditions on the table are served.
    pub is_whole: bool,
    /// True when rows come in the order that is wanted.
    pub serves_order: bool,
    /// True when rows are found by those of another table.
    pub is_join: bool,
}

impl Demand {
    /// The keys in order.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.equal.iter().chain(&self.tail)
    }

    /// Returns true when an index does what this one would.
    pub fn is_served_by(&self, index: &Index) -> bool {
        if !index.is_valid || index.predicate.is_some() || index.keys.len() < self.keys().count() {
            return false;
        }
        if index.method != self.method.unwrap_or("btree") {
            return false;
        }
        let (first, rest) = index.keys.split_at(self.equal.len());
        let equal = self
            .equal
            .iter()
            .all(|key| first.iter().any(|known| squeezed(&known.column) == key.base));
        let mut pairs = rest.iter().zip(&self.tail);
        // An index is read from either end.
        let turned = pairs.clone().filter(|(a, b)| a.descending != b.descending).count();
        equal
            && (turned == 0 || turned == pairs.len())
            && pairs
                .all(|(a, b)| squeezed(&a.column) == b.base && (a.serves_prefix || !b.is_prefix))
    }

    /// The share of rows that its equalities keep, where that is known.
    pub fn share(&self) -> Option<f64> {
        let each = self.equal.iter().map(|key| key.distinct.map(|distinct| 1.0 / distinct));
        let known: Option<Vec<f64>> = each.collect();
        known.filter(|all| !all.is_empty()).map(|all| all.into_iter().product())
    }
}

/// The demands of a block on a source: by values, and by the rows of other tables.
pub fn demands(place: Place<'_>, source: usize, table: &Table) -> Vec<Demand> {
    let parts = Parts::read(place, source, table);
    let mut found = Vec::new();
    for (key, method) in &parts.inverted {
        let is_whole = parts.is_whole && parts.number == 1;
        let (equal, method) = (vec![key.clone()], Some(*method));
        found.push(Demand { equal, method, is_whole, ..Demand::default() });
    }
    let tail = parts.tail(place, source, table);
    let by_value = Demand {
        equal: parts.equal.iter().take(EQUAL_MAX).cloned().collect(),
        is_whole: parts.is_whole
            && parts.inverted.is_empty()
            && parts.equal.len() <= EQUAL_MAX
            && parts.ranges.len() <= usize::from(!tail.is_order || tail.has_range),
        serves_order: tail.is_order,
        tail: tail.keys,
        ..Demand::default()
    };
    if by_value.keys().next().is_some() {
        found.push(by_value);
    }
    if let [first, ..] = parts.joins.as_slice() {
        let equal: Vec<Key> = std::iter::once(first)
            .chain(parts.joins[1..].iter().filter(|key| key.base != first.base))
            .chain(&parts.equal)
            .take(EQUAL_MAX)
            .cloned()
            .collect();
        let is_whole = parts.is_whole && parts.ranges.is_empty();
        found.push(Demand { equal, is_whole, is_join: true, ..Demand::default() });
    }
    found
}

/// The conditions on a table by what an index can do for them.
#[derive(Default)]
struct Parts {
    equal: Vec<Key>,
    has_lists: bool,
    ranges: Vec<Key>,
    joins: Vec<Key>,
    inverted: Vec<(Key, &'static str)>,
    number: usize,
    is_whole: bool,
}

/// The last keys of an index.
#[derive(Default)]
struct Tail {
    keys: Vec<Key>,
    is_order: bool,
    has_range: bool,
}

impl Parts {
    fn read(place: Place<'_>, source: usize, table: &Table) -> Self {
        let mut parts = Self { is_whole: !place.block.has_others, ..Self::default() };
        for condition in &place.block.conditions {
            let is_of = place.is_of(&condition.operand, source);
            match &condition.other {
                Other::Operand(other) if is_of && !place.touches(other, source) => {
                    parts.join(place, table, condition, &condition.operand);
                }
                Other::Operand(other) if place.is_of(other, source) && !is_of => {
                    parts.join(place, table, condition, other);
                }
                Other::Operand(other) => {
                    parts.is_whole &= !is_of && !place.touches(other, source);
                }
                _ if is_of => parts.value(place, table, condition),
                // A column that is not known may be of this table.
                _ => {
                    let columns = &condition.operand.columns;
                    parts.is_whole &= columns.iter().all(|column| place.source(column).is_some())
                        && !place.touches(&condition.operand, source);
                }
            }
        }
        let mut alternatives = place.block.alternatives.iter().flatten();
        parts.is_whole &=
            !alternatives.any(|alternative| place.touches(&alternative.operand, source));
        parts
    }

    fn join(&mut self, place: Place<'_>, table: &Table, condition: &Condition, side: &Operand) {
        let is_equal = matches!(condition.comparison, Comparison::Equal | Comparison::In);
        match key(place, table, side).filter(|_| is_equal && side.is_plain) {
            Some(key) => self.joins.push(key),
            None => self.is_whole = false,
        }
    }

    fn value(&mut self, place: Place<'_>, table: &Table, condition: &Condition) {
        self.number += 1;
        let operand = &condition.operand;
        let abilities = &place.rules.abilities;
        let found = key(place, table, operand);
        let kind = place.column_of(table, operand);
        match &condition.comparison {
            Comparison::Contains(operator) => {
                let kind = kind.map_or("", |column| column.kind.as_str());
                let index = (abilities.inverted)(operator, kind).filter(|_| operand.is_plain);
                match (found, index) {
                    (Some(mut key), Some((method, class))) => {
                        key.text.push_str(class);
                        self.inverted.push((key, method));
                    }
                    _ => self.is_whole = false,
                }
                return;
            }
            Comparison::Equal | Comparison::In | Comparison::Null => {
                self.has_lists |= condition.comparison == Comparison::In;
                if let Some(key) = found {
                    return add(&mut self.equal, key);
                }
            }
            Comparison::Range => {
                if let Some(key) = found {
                    return add(&mut self.ranges, key);
                }
            }
            Comparison::Like => {
                let is_infix = matches!(&condition.other, Other::Value(Some(text))
                    if text.trim_start_matches(['\'', '"']).starts_with(['%', '_']));
                if let (Some(mut key), Some(class), false) = (found, abilities.prefix, is_infix) {
                    key.text.push_str(class);
                    key.is_prefix = !class.is_empty();
                    self.ranges.push(key);
                    return;
                }
            }
            _ => {}
        }
        self.is_whole = false;
    }

    /// A range, or the order where only the first rows are wanted.
    fn tail(&self, place: Place<'_>, source: usize, table: &Table) -> Tail {
        let block = place.block;
        let wants_order = block.is_limited && !block.gathers && !self.has_lists;
        let order: Option<Vec<Key>> = block
            .order
            .iter()
            .map(|order| {
                let known = key(place, table, &order.operand);
                let key = known.filter(|_| place.is_of(&order.operand, source))?;
                Some(Key { descending: order.descending, ..key })
            })
            .collect();
        let mut order = order.filter(|keys| wants_order && !keys.is_empty()).unwrap_or_default();
        order.retain(|key| !self.equal.iter().any(|known| known.base == key.base));
        order.truncate(ORDER_MAX);
        let has_range = match (self.ranges.first(), order.first()) {
            (Some(range), Some(first)) => range.base == first.base,
            _ => false,
        };
        if order.is_empty() || (!self.ranges.is_empty() && !has_range) {
            let keys = self.ranges.iter().take(1).cloned().collect();
            return Tail { keys, ..Tail::default() };
        }
        // An index is read from either end.
        let is_one_way = order.iter().all(|key| key.descending == order[0].descending);
        for key in &mut order {
            key.descending &= !is_one_way;
            if key.descending {
                key.text.push_str(" DESC");
            }
        }
        Tail { keys: order, is_order: true, has_range }
    }
}

/// Adds a key, once.
fn add(keys: &mut Vec<Key>, key: Key) {
    if !keys.iter().any(|known| known.base == key.base) {
        keys.push(key);
    }
}

/// The index key of a column, or of an expression that an index may have.
pub fn key(place: Place<'_>, table: &Table, operand: &Operand) -> Option<Key> {
    let rows = table.rows.unwrap_or(0.0);
    let column = |name: &str| place.column(table, name);
    if operand.is_plain {
        let column = column(&operand.columns[0].name)?;
        if is_large(column) {
            return None;
        }
        let base = squeezed(&column.name);
        let distinct = column.distinct_values(rows);
        return Some(Key { text: column.name.clone(), base, distinct, ..Key::default() });
    }
    let is_known = operand.columns.iter().all(|operand| column(&operand.name).is_some());
    if !place.rules.abilities.expressions || operand.has_parameter || !is_known {
        return None;
    }
    let text = &operand.text;
    is_immutable(text).then(|| Key {
        text: format!("({text})"),
        base: squeezed(text),
        ..Key::default()
    })
}

/// Types whose values are no keys of ordered indexes.
const LARGE: &str = "json longtext mediumtext longblob mediumblob blob xml";

/// Returns true for values that are no keys of ordered indexes.
pub fn is_large(column: &Column) -> bool {
    LARGE.split(' ').any(|kind| column.kind.eq_ignore_ascii_case(kind))
}

/// Returns true for calls of functions whose results never change, and for parts of documents.
fn is_immutable(text: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let document = text.split_once("->>").or_else(|| text.split_once("->"));
    if let Some((column, path)) = document {
        let path = path.trim_matches('\'');
        return column.chars().all(is_word) && path.chars().all(is_word);
    }
    let Some((function, rest)) = text.split_once('(') else { return false };
    IMMUTABLE.split(' ').any(|known| function.eq_ignore_ascii_case(known))
        && rest.ends_with(')')
        && !rest.contains(['\'', '(', '"'])
}
