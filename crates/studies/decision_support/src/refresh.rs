//! The refresh functions (2.5 and 2.6 of the specification): RF1 inserts new orders with their
//! lines, RF2 deletes as many old ones. Each set of them has 0.1 % of the orders.

use datasets::{DataSet, Size};
use work::{Operation, Parameter, Request, Rows, SqlPart, Statement, Table, Values};

/// Orders of a set at scale 1.
const ORDERS: f64 = 1_500.0;

/// Sets that the orders of the tables are enough for: each deletes 0.1 % of them.
pub(crate) const SETS_MAX: u64 = 1_000;

/// Distance of a new order's key from that of the order it is made like: the keys from 8 to 15 of
/// each 32 are kept for new orders (4.2.3).
const NEW_KEYS: i64 = 8;

/// Names of the two functions in recordings and reports, and what they do.
pub const FUNCTIONS: [(&str, &str); 2] = [("RF1", "new sales"), ("RF2", "old sales")];

/// The values of a row.
type Row = Vec<Parameter>;

/// The orders of one pair of refresh functions.
#[derive(Debug, Default)]
pub struct Set {
    /// Rows of new orders, and of their lines.
    pub orders: Vec<Row>,
    pub lines: Vec<Row>,
    /// The keys of the orders to delete.
    pub old: Vec<Row>,
}

/// A refresh function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    /// Inserts new orders.
    Insert,
    /// Deletes old orders.
    Delete,
}

/// All sets of a trial, and where their operations begin.
#[derive(Debug)]
pub(crate) struct Refresh {
    sets: Vec<Set>,
    first_operation: usize,
}

impl Refresh {
    /// Makes the rows of this many sets. New orders have the values of those whose places in the
    /// tables they take, under keys that the tables do not have.
    pub fn make(scale: f64, sets: u64, first_operation: usize) -> Self {
        let each = (scale * ORDERS).round().max(1.0) as usize;
        let mut all: Vec<Set> = (0..sets).map(|_| Set::default()).collect();
        let most = each * all.len();
        let (mut taken, mut last_keys) = (0, vec![0; all.len()]);
        for_each_row("orders", scale, |mut row| {
            let Some(Parameter::Integer(key)) = row.first_mut() else { return false };
            if taken == most {
                return false;
            }
            let set = &mut all[taken / each];
            set.old.push(vec![Parameter::Integer(*key)]);
            last_keys[taken / each] = *key;
            *key += NEW_KEYS;
            set.orders.push(row);
            taken += 1;
            true
        });
        let mut at = 0;
        for_each_row("lineitem", scale, |mut row| {
            let Some(Parameter::Integer(key)) = row.first_mut() else { return false };
            if last_keys.last().is_none_or(|last| *key > *last) {
                return false;
            }
            // Lines come in the order of their orders.
            while last_keys.get(at).is_some_and(|last| last < key) {
                at += 1;
            }
            *key += NEW_KEYS;
            if let Some(set) = all.get_mut(at) {
                set.lines.push(row);
            }
            true
        });
        Self { sets: all, first_operation }
    }

    /// The operations that the functions need: insert an order, a line; delete lines, an order.
    pub fn operations(tables: &[Table]) -> Vec<Operation> {
        let insert = |name: &str| {
            let columns =
                tables.iter().find(|table| table.name == name).map(|table| &table.columns);
            let names: Vec<&str> =
                columns.into_iter().flatten().map(|column| column.name).collect();
            let mut parts =
                vec![SqlPart::Text(format!("INSERT INTO {name} ({}) VALUES (", names.join(", ")))];
            for place in 0..names.len() {
                let comma = if place == 0 { "" } else { ", " };
                parts.extend([SqlPart::Text(comma.into()), SqlPart::Parameter]);
            }
            parts.push(SqlPart::Text(")".into()));
            Operation::Sql(parts)
        };
        let delete = |table: &str, key: &str| {
            let text = SqlPart::Text(format!("DELETE FROM {table} WHERE {key} = "));
            Operation::Sql(vec![text, SqlPart::Parameter])
        };
        vec![
            insert("orders"),
            insert("lineitem"),
            delete("lineitem", "l_orderkey"),
            delete("orders", "o_orderkey"),
        ]
    }

    /// The request at a place of a function, which is one transaction; `None` after its end.
    pub fn request(&self, function: Function, set: usize, place: usize) -> Option<Request<'_>> {
        let set = self.sets.get(set)?;
        let [first, second] = match function {
            Function::Insert => [&set.orders, &set.lines],
            Function::Delete => [&set.old, &set.old],
        };
        let operation = self.first_operation + 2 * function as usize;
        let of_row = |operation, row| Request::Execute {
            statement: Statement::Operation(operation),
            parameters: row,
            results: false,
        };
        let plain = |statement| Request::Execute { statement, parameters: &[], results: false };
        let end = 1 + first.len() + second.len();
        Some(match place {
            0 => plain(Statement::Begin),
            _ if place <= first.len() => of_row(operation, &first[place - 1]),
            _ if place < end => of_row(operation + 1, &second[place - 1 - first.len()]),
            _ if place == end => plain(Statement::Commit),
            _ => return None,
        })
    }
}

/// Gives the rows of a table in their order until `take` wants no more.
fn for_each_row(table: &str, scale: f64, mut take: impl FnMut(Row) -> bool) {
    let set = DataSet::new(table, Size { scale, ..Size::default() });
    let batches = set.into_iter().flat_map(|set| set.fills()).flat_map(|fill| fill.batches);
    for Rows { count, columns } in batches {
        for row in 0..count {
            if !take(columns.iter().map(|values| parameter(values, row)).collect()) {
                return;
            }
        }
    }
}

/// A value as a parameter of a statement.
fn parameter(values: &Values, row: usize) -> Parameter {
    match values {
        Values::Integers(numbers) => Parameter::Integer(numbers[row]),
        Values::Decimals(hundredths) => Parameter::Double(hundredths[row] as f64 / 100.0),
        other => {
            let mut text = String::new();
            // Writing to memory cannot fail.
            let _ = other.write(row, &mut text);
            Parameter::Text(text)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Function, Refresh};
    use std::collections::BTreeSet;
    use work::{Parameter, Request, Statement};

    fn key(parameters: &[Parameter]) -> i64 {
        match parameters[0] {
            Parameter::Integer(key) => key,
            ref other => panic!("{other:?}"),
        }
    }

    /// 0.1 % of the orders in each set, with one to seven lines, under keys that `dbgen` leaves
    /// free; the lines are those of the orders.
    #[test]
    fn sets_have_new_keys_and_whole_orders() {
        let refresh = Refresh::make(0.1, 3, 0);
        let (mut new, mut old) = (BTreeSet::new(), BTreeSet::new());
        for set in &refresh.sets {
            assert_eq!((set.orders.len(), set.old.len()), (150, 150));
            let orders: BTreeSet<i64> = set.orders.iter().map(|row| key(row)).collect();
            let lines: BTreeSet<i64> = set.lines.iter().map(|row| key(row)).collect();
            assert_eq!(orders, lines);
            assert!((150..=1_050).contains(&set.lines.len()));
            assert!(orders.iter().all(|key| (8..16).contains(&(key % 32))));
            new.extend(orders);
            old.extend(set.old.iter().map(|row| key(row)));
        }
        assert_eq!((new.len(), old.len()), (450, 450));
        assert!(old.iter().all(|key| key % 32 < 8));
    }

    #[test]
    fn a_function_is_one_transaction_of_all_its_rows() {
        let refresh = Refresh::make(0.01, 1, 100);
        for (function, operations) in
            [(Function::Insert, [100, 101]), (Function::Delete, [102, 103])]
        {
            let requests: Vec<Statement<'_>> = (0..)
                .map_while(|place| refresh.request(function, 0, place))
                .map(|request| match request {
                    Request::Execute { statement, .. } => statement,
                    other => panic!("{other:?}"),
                })
                .collect();
            assert_eq!(requests.first(), Some(&Statement::Begin));
            assert_eq!(requests.last(), Some(&Statement::Commit));
            let count = |operation| {
                requests
                    .iter()
                    .filter(|request| **request == Statement::Operation(operation))
                    .count()
            };
            let set = &refresh.sets[0];
            let rows = match function {
                Function::Insert => [set.orders.len(), set.lines.len()],
                Function::Delete => [set.old.len(); 2],
            };
            assert_eq!(operations.map(count), rows);
            assert_eq!(requests.len(), 2 + rows.iter().sum::<usize>());
        }
    }
}
