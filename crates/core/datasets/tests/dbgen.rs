//! Compares TPC-H with another implementation: `dbgen_reference.tsv` is from DuckDB's dbgen.

use crate::add;
use datasets::{DataSet, Size};
use std::collections::BTreeMap;
use work::Values;

const REFERENCE: &str = include_str!("dbgen_reference.tsv");

#[test]
fn every_column_has_the_rows_and_sums_of_dbgen() {
    let set = DataSet::new("tpch", Size { scale: 0.01, ..Size::default() }).unwrap();
    let tables = set.tables();
    let mut made: BTreeMap<(String, String), Vec<i64>> = BTreeMap::new();
    for fill in set.fills() {
        let table = tables[fill.table].name;
        for rows in fill.batches {
            for (column, values) in fill.columns.iter().zip(&rows.columns) {
                add(
                    made.entry((table.into(), (*column).into())).or_default(),
                    values,
                    0..rows.count,
                );
            }
        }
    }
    let mut columns = 0;
    for line in REFERENCE.lines().filter(|line| !line.starts_with('q')) {
        let mut cells = line.split('\t');
        let mut name = || cells.next().unwrap().to_owned();
        let key = (name(), name());
        let mut cell: Vec<i64> = cells.map(|cell| cell.parse().unwrap()).collect();
        let made = &made[&key];
        // DuckDB takes comments and addresses, of the same lengths, from elsewhere in its random
        // text than the council's program does.
        if key.1.ends_with("_address") || key.1.ends_with("_comment") {
            cell[2] = made[2];
        }
        assert_eq!(*made, cell, "{key:?}");
        columns += 1;
    }
    assert_eq!((columns, made.len()), (61, 61));
}

/// The first customer's address and comment as the council's own program writes them.
#[test]
fn texts_are_those_of_the_councils_program() {
    let set = DataSet::new("customer", Size { scale: 0.01, ..Size::default() }).unwrap();
    let rows = set.fills().remove(0).batches.next().unwrap();
    let first = |column: usize| match &rows.columns[column] {
        Values::Texts(texts) => texts.get(0).to_owned(),
        other => panic!("{other:?}"),
    };
    assert_eq!(first(2), "IVhzIApeRb ot,c,E");
    assert_eq!(first(7), "to the even, regular platelets. regular, ironic epitaphs nag e");
}
