//! The tables of TPC-H and their rows, which the crate `tpchgen` makes as the council's `dbgen` does.

use crate::{BATCH_ROWS, Batches, Part};
use engines::DataType::{BigInt, Char, Date, Decimal, Int, Varchar};
use engines::{Column, Rows, Storage, Table, Values};
use std::fmt::Display;
use tpchgen::dates::TPCHDate;
use tpchgen::decimal::TPCHDecimal;
use tpchgen::generators::{
    CustomerGenerator, LineItemGenerator, NationGenerator, OrderGenerator, PartGenerator, PartSuppGenerator,
    RegionGenerator, SupplierGenerator,
};

/// The names of [`named_query`].
pub const NAMED_QUERIES: &[&str] = &["tpch-q1", "tpch-q6"];

/// Queries of the specification (2.4.1 and 2.4.6) on LINEITEM with the parameters of their validation; without the
/// order of Q1, which costs nothing for four rows.
pub fn named_query(name: &str) -> Option<&'static str> {
    match name {
        "tpch-q1" => Some(
            "SELECT l_returnflag, l_linestatus, sum(l_quantity) AS sum_qty, sum(l_extendedprice) AS sum_base_price, \
             sum(l_extendedprice * (1 - l_discount)) AS sum_disc_price, \
             sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS sum_charge, avg(l_quantity) AS avg_qty, \
             avg(l_extendedprice) AS avg_price, avg(l_discount) AS avg_disc, count(*) AS count_order \
             FROM lineitem WHERE l_shipdate <= '1998-09-02' GROUP BY l_returnflag, l_linestatus",
        ),
        "tpch-q6" => Some(
            "SELECT sum(l_extendedprice * l_discount) AS revenue FROM lineitem WHERE l_shipdate >= '1994-01-01' \
             AND l_shipdate < '1995-01-01' AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24",
        ),
        _ => None,
    }
}

/// The table with this name, or all of them, LINEITEM first, for `tpch`.
pub(crate) fn parts(name: &str, scale: f64) -> Vec<Part> {
    let all = [lineitem, orders, partsupp, customer, part, supplier, nation, region];
    let mut parts: Vec<Part> = all.iter().map(|part| part(scale)).collect();
    parts.retain(|part| name == "tpch" || part.table.name == name);
    parts
}

/// Rows of a table, as the specification gives them (4.2.5); those of LINEITEM are not known beforehand.
pub(crate) fn rows(table: &str, scale: f64) -> Option<u64> {
    let rows = match table {
        "orders" => OrderGenerator::calculate_row_count(scale, 1, 1),
        // Four suppliers for each part.
        "partsupp" => 4 * PartSuppGenerator::calculate_row_count(scale, 1, 1),
        "customer" => CustomerGenerator::calculate_row_count(scale, 1, 1),
        "part" => PartGenerator::calculate_row_count(scale, 1, 1),
        "supplier" => SupplierGenerator::calculate_row_count(scale, 1, 1),
        "nation" => 25,
        "region" => 5,
        _ => return None,
    };
    Some(rows as u64)
}

/// The key of an order by its number from 1: of each 32 keys 8 are used (4.2.3).
pub(crate) fn order_key(number: i64) -> i64 {
    OrderGenerator::make_order_key(number)
}

/// Rows in batches of columns.
fn batches<R: Send>(
    mut rows: impl Iterator<Item = R> + Send + 'static,
    columns: impl Fn(&[R]) -> Vec<Values> + Send + 'static,
) -> Batches {
    Box::new(std::iter::from_fn(move || {
        let batch: Vec<R> = rows.by_ref().take(BATCH_ROWS).collect();
        (!batch.is_empty()).then(|| Rows { count: batch.len(), columns: columns(&batch) })
    }))
}

fn integers<R, T: Copy + Into<i64>>(rows: &[R], get: impl Fn(&R) -> &T) -> Values {
    Values::Integers(rows.iter().map(|row| (*get(row)).into()).collect())
}

fn decimals<R>(rows: &[R], get: impl Fn(&R) -> &TPCHDecimal) -> Values {
    Values::Decimals(rows.iter().map(|row| get(row).0).collect())
}

/// Whole numbers in a column of decimals.
fn whole<R>(rows: &[R], get: impl Fn(&R) -> &i64) -> Values {
    Values::Decimals(rows.iter().map(|row| get(row) * 100).collect())
}

fn dates<R>(rows: &[R], get: impl Fn(&R) -> &TPCHDate) -> Values {
    Values::Dates(rows.iter().map(|row| get(row).to_unix_epoch()).collect())
}

fn texts<R, T: Display>(rows: &[R], get: impl Fn(&R) -> &T) -> Values {
    Values::Texts(rows.iter().map(get).collect())
}

/// A table, after the specification (1.4), and where its rows come from: columns with type and kind of values.
macro_rules! table {
    ($name:ident, $generator:ident, $key:expr, $($column:ident: $data_type:expr, $values:ident;)+) => {
        fn $name(scale: f64) -> Part {
            let columns = vec![$(Column::new(stringify!($column), $data_type)),+];
            let storage = Storage { key_after_fill: true, ..Storage::default() };
            Part {
                columns: columns.iter().map(|column| column.name).collect(),
                table: Table { name: stringify!($name), columns, key: $key, storage },
                batches: Box::new(move || {
                    batches($generator::new(scale, 1, 1).iter(), |rows| {
                        vec![$($values(rows, |row| &row.$column)),+]
                    })
                }),
            }
        }
    };
}

table! { lineitem, LineItemGenerator, &["l_orderkey", "l_linenumber"],
    l_orderkey: BigInt, integers;
    l_partkey: BigInt, integers;
    l_suppkey: BigInt, integers;
    l_linenumber: Int, integers;
    l_quantity: Decimal, whole;
    l_extendedprice: Decimal, decimals;
    l_discount: Decimal, decimals;
    l_tax: Decimal, decimals;
    l_returnflag: Char(1), texts;
    l_linestatus: Char(1), texts;
    l_shipdate: Date, dates;
    l_commitdate: Date, dates;
    l_receiptdate: Date, dates;
    l_shipinstruct: Char(25), texts;
    l_shipmode: Char(10), texts;
    l_comment: Varchar(44), texts;
}

table! { orders, OrderGenerator, &["o_orderkey"],
    o_orderkey: BigInt, integers;
    o_custkey: BigInt, integers;
    o_orderstatus: Char(1), texts;
    o_totalprice: Decimal, decimals;
    o_orderdate: Date, dates;
    o_orderpriority: Char(15), texts;
    o_clerk: Char(15), texts;
    o_shippriority: Int, integers;
    o_comment: Varchar(79), texts;
}

table! { partsupp, PartSuppGenerator, &["ps_partkey", "ps_suppkey"],
    ps_partkey: BigInt, integers;
    ps_suppkey: BigInt, integers;
    ps_availqty: Int, integers;
    ps_supplycost: Decimal, decimals;
    ps_comment: Varchar(199), texts;
}

table! { customer, CustomerGenerator, &["c_custkey"],
    c_custkey: BigInt, integers;
    c_name: Varchar(25), texts;
    c_address: Varchar(40), texts;
    c_nationkey: BigInt, integers;
    c_phone: Char(15), texts;
    c_acctbal: Decimal, decimals;
    c_mktsegment: Char(10), texts;
    c_comment: Varchar(117), texts;
}

table! { part, PartGenerator, &["p_partkey"],
    p_partkey: BigInt, integers;
    p_name: Varchar(55), texts;
    p_mfgr: Char(25), texts;
    p_brand: Char(10), texts;
    p_type: Varchar(25), texts;
    p_size: Int, integers;
    p_container: Char(10), texts;
    p_retailprice: Decimal, decimals;
    p_comment: Varchar(23), texts;
}

table! { supplier, SupplierGenerator, &["s_suppkey"],
    s_suppkey: BigInt, integers;
    s_name: Char(25), texts;
    s_address: Varchar(40), texts;
    s_nationkey: BigInt, integers;
    s_phone: Char(15), texts;
    s_acctbal: Decimal, decimals;
    s_comment: Varchar(101), texts;
}

table! { nation, NationGenerator, &["n_nationkey"],
    n_nationkey: BigInt, integers;
    n_name: Char(25), texts;
    n_regionkey: BigInt, integers;
    n_comment: Varchar(152), texts;
}

table! { region, RegionGenerator, &["r_regionkey"],
    r_regionkey: BigInt, integers;
    r_name: Char(25), texts;
    r_comment: Varchar(152), texts;
}
