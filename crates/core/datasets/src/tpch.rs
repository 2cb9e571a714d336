//! The tables of TPC-H and their rows, which the crate `tpchgen` makes as the council's `dbgen`
//! does.

use crate::{BATCH_ROWS, Batches, MakeBatches, Part, text};
use std::fmt::Display;
use std::sync::LazyLock;
use tpchgen::dates::TPCHDate;
use tpchgen::decimal::TPCHDecimal;
use tpchgen::distribution::Distributions;
use tpchgen::generators::{
    CustomerGenerator, LineItemGenerator, NationGenerator, OrderGenerator, PartGenerator,
    PartSuppGenerator, RegionGenerator, SupplierGenerator,
};
use tpchgen::random::RowRandomInt;
use tpchgen::text::TextPool;
use work::DataType::{BigInt, Char, Date, Decimal, Int, Varchar};
use work::{Column, Rows, Storage, Table, Texts, Values};

/// The table with this name, or all of them, LINEITEM first, for `tpch`.
pub(crate) fn parts(name: &str, scale: f64) -> Vec<Part> {
    let all = [lineitem, orders, partsupp, customer, part, supplier, nation, region];
    let mut parts: Vec<Part> = all.iter().map(|part| part(scale)).collect();
    parts.retain(|part| name == "tpch" || part.table.name == name);
    parts
}

/// Rows of a table, as the specification gives them (4.2.5); those of LINEITEM are not known
/// beforehand.
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

/// Orders, parts and so on that are made by one thread in a row: a few batches of lines.
const PIECE: i64 = 8192;
const PIECES_MAX: i64 = 10_000;

/// A share of a table's rows, numbered from 1, and what its generator needs.
struct Piece {
    scale: f64,
    number: i32,
    of: i32,
    lists: &'static Distributions,
    /// A short text in place of the one that comments are cut from, which takes long to generate.
    text: &'static TextPool,
}

/// Cuts the rows of a table into pieces that can be made at the same time. `make` gets a piece and
/// the number of rows of the generator before it.
fn pieces(table: &str, scale: f64, make: fn(Piece, i64) -> Batches) -> Vec<MakeBatches> {
    static SHORT: LazyLock<TextPool> =
        LazyLock::new(|| TextPool::new(1024, Distributions::static_default()));
    let all = match table {
        "lineitem" => OrderGenerator::calculate_row_count(scale, 1, 1),
        "partsupp" => PartSuppGenerator::calculate_row_count(scale, 1, 1),
        table => rows(table, scale).map_or(0, |rows| rows as i64),
    };
    let of = (all / PIECE).clamp(1, PIECES_MAX) as i32;
    (1..=of)
        .map(move |number| -> MakeBatches {
            Box::new(move || {
                let lists = Distributions::static_default();
                make(
                    Piece { scale, number, of, lists, text: &SHORT },
                    all / i64::from(of) * i64::from(number - 1),
                )
            })
        })
        .collect()
}

/// Rows in batches of columns.
fn batches<R: Send + 'static>(
    mut rows: impl Iterator<Item = R> + Send + 'static,
    mut columns: impl FnMut(&[R]) -> Vec<Values> + Send + 'static,
) -> Batches {
    // One for all batches: how many rows there will be the generator does not say, so that each
    // would grow from nothing.
    let mut batch = Vec::with_capacity(BATCH_ROWS);
    Box::new(std::iter::from_fn(move || {
        batch.clear();
        batch.extend(rows.by_ref().take(BATCH_ROWS));
        (!batch.is_empty()).then(|| Rows { count: batch.len(), columns: columns(&batch) })
    }))
}

/// Where the comments of a table are cut from the text (4.2.2.10), as the crate does it: by a
/// random offset and a random length. Each row of the generator (an order with all its lines)
/// consumes the same number of random numbers.
struct Comments {
    random: RowRandomInt,
    least: i32,
    most: i32,
    /// Key of the row before.
    key: Option<i64>,
}

impl Comments {
    /// `each`: comments of a row of the generator at most.
    fn new(seed: i64, average_bytes: f64, each: i32, rows_before: i64) -> Self {
        let mut random = RowRandomInt::new(seed, 2 * each);
        random.advance_rows(rows_before);
        Self {
            random,
            least: (average_bytes * 0.4) as i32,
            most: (average_bytes * 1.6) as i32,
            key: None,
        }
    }

    fn next(&mut self, key: i64) -> &'static str {
        if self.key.replace(key).is_some_and(|before| before != key) {
            self.random.row_finished();
        }
        let offset = self.random.next_int(0, text::BYTES as i32 - self.most);
        text::piece(offset as usize, self.random.next_int(self.least, self.most) as usize)
    }
}

/// The comment that the generator has cut from the short text, of the same length.
type CutComment<'r, R> = &'r dyn Fn(&R) -> &str;

fn comments<R>(
    rows: &[R],
    comments: &mut Comments,
    key: impl Fn(&R) -> i64,
    _: CutComment<'_, R>,
) -> Values {
    Values::Texts(Texts::from_texts(rows.iter().map(|row| comments.next(key(row)))))
}

/// Some suppliers' comments have words of customers in them (4.3.3), at places that the generator
/// has drawn.
fn with_customers<R>(
    rows: &[R],
    comments: &mut Comments,
    key: impl Fn(&R) -> i64,
    columns: CutComment<'_, R>,
) -> Values {
    Values::Texts(
        rows.iter()
            .map(|row| {
                let mut comment = comments.next(key(row)).to_owned();
                for words in ["Customer ", "Complaints", "Recommends"] {
                    if let Some(place) = columns(row).find(words) {
                        comment.replace_range(place..place + words.len(), words);
                    }
                }
                comment
            })
            .collect(),
    )
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

fn strings<R, T: AsRef<str>>(rows: &[R], get: impl Fn(&R) -> &T) -> Values {
    Values::Texts(Texts::from_texts(rows.iter().map(|row| get(row).as_ref())))
}

/// A table, after the specification (1.4), and the source of its rows. The last column has the
/// comments, with their greatest length, seed, average length and the most that a row of the
/// generator has. The other columns have a type and a kind of values; the key is first.
macro_rules! table {
    ($name:ident, $generator:expr, $keys:expr,
     last $comment:ident: $length:expr, $comments:ident($seed:expr, $average:expr, $each:expr);
     $key:ident: BigInt, integers; $($column:ident: $data_type:expr, $values:ident;)*) => {
        fn $name(scale: f64) -> Part {
            let columns = vec![
                Column::new(stringify!($key), BigInt),
                $(Column::new(stringify!($column), $data_type),)*
                Column::new(stringify!($comment), Varchar($length)),
            ];
            let storage = Storage { key_after_fill: true, ..Storage::default() };
            Part {
                columns: columns.iter().map(|column| column.name).collect(),
                table: Table { name: stringify!($name), columns, key: $keys, storage },
                batches: pieces(stringify!($name), scale, |piece, before| {
                    let mut cut = Comments::new($seed, $average, $each, before);
                    batches($generator(piece).iter(), move |rows| {
                        vec![
                            integers(rows, |row| &row.$key),
                            $($values(rows, |row| &row.$column),)*
                            $comments(rows, &mut cut, |row| row.$key, &|row| &row.$comment),
                        ]
                    })
                }),
            }
        }
    };
}

/// The generator of a table for a piece of it.
macro_rules! by_piece {
    ($generator:ident) => {
        |Piece { scale, number, of, lists, text }| {
            $generator::new_with_distributions_and_text_pool(scale, number, of, lists, text)
        }
    };
}

/// The generator of a table that is always made in one piece.
macro_rules! at_once {
    ($generator:ident) => {
        |Piece { lists, text, .. }| $generator::new_with_distributions_and_text_pool(lists, text)
    };
}

table! { lineitem, by_piece!(LineItemGenerator), &["l_orderkey", "l_linenumber"],
    last l_comment: 44, comments(1_095_462_486, 27.0, 7);
    l_orderkey: BigInt, integers;
    l_partkey: BigInt, integers;
    l_suppkey: BigInt, integers;
    l_linenumber: Int, integers;
    l_quantity: Decimal, whole;
    l_extendedprice: Decimal, decimals;
    l_discount: Decimal, decimals;
    l_tax: Decimal, decimals;
    l_returnflag: Char(1), strings;
    l_linestatus: Char(1), strings;
    l_shipdate: Date, dates;
    l_commitdate: Date, dates;
    l_receiptdate: Date, dates;
    l_shipinstruct: Char(25), strings;
    l_shipmode: Char(10), strings;
}

table! { orders, by_piece!(OrderGenerator), &["o_orderkey"],
    last o_comment: 79, comments(276_090_261, 49.0, 1);
    o_orderkey: BigInt, integers;
    o_custkey: BigInt, integers;
    o_orderstatus: Char(1), texts;
    o_totalprice: Decimal, decimals;
    o_orderdate: Date, dates;
    o_orderpriority: Char(15), strings;
    o_clerk: Char(15), texts;
    o_shippriority: Int, integers;
}

table! { partsupp,
    |at: Piece| PartSuppGenerator::new_with_text_pool(at.scale, at.number, at.of, at.text),
    &["ps_partkey", "ps_suppkey"],
    last ps_comment: 199, comments(1_961_692_154, 124.0, 4);
    ps_partkey: BigInt, integers;
    ps_suppkey: BigInt, integers;
    ps_availqty: Int, integers;
    ps_supplycost: Decimal, decimals;
}

table! { customer, by_piece!(CustomerGenerator), &["c_custkey"],
    last c_comment: 117, comments(1_335_826_707, 73.0, 1);
    c_custkey: BigInt, integers;
    c_name: Varchar(25), texts;
    c_address: Varchar(40), texts;
    c_nationkey: BigInt, integers;
    c_phone: Char(15), texts;
    c_acctbal: Decimal, decimals;
    c_mktsegment: Char(10), strings;
}

table! { part, by_piece!(PartGenerator), &["p_partkey"],
    last p_comment: 23, comments(804_159_733, 14.0, 1);
    p_partkey: BigInt, integers;
    p_name: Varchar(55), texts;
    p_mfgr: Char(25), texts;
    p_brand: Char(10), texts;
    p_type: Varchar(25), strings;
    p_size: Int, integers;
    p_container: Char(10), strings;
    p_retailprice: Decimal, decimals;
}

table! { supplier, by_piece!(SupplierGenerator), &["s_suppkey"],
    last s_comment: 101, with_customers(1_341_315_363, 63.0, 1);
    s_suppkey: BigInt, integers;
    s_name: Char(25), texts;
    s_address: Varchar(40), texts;
    s_nationkey: BigInt, integers;
    s_phone: Char(15), texts;
    s_acctbal: Decimal, decimals;
}

table! { nation, at_once!(NationGenerator), &["n_nationkey"],
    last n_comment: 152, comments(606_179_079, 72.0, 1);
    n_nationkey: BigInt, integers;
    n_name: Char(25), strings;
    n_regionkey: BigInt, integers;
}

table! { region, at_once!(RegionGenerator), &["r_regionkey"],
    last r_comment: 152, comments(1_500_869_201, 72.0, 1);
    r_regionkey: BigInt, integers;
    r_name: Char(25), strings;
}

#[cfg(test)]
mod tests {
    use super::{Part, customer, lineitem, nation, orders, part, partsupp, region, supplier};
    use std::fmt::Display;
    use tpchgen::generators::{
        CustomerGenerator, LineItemGenerator, NationGenerator, OrderGenerator, PartGenerator,
        PartSuppGenerator, RegionGenerator, SupplierGenerator,
    };

    /// All rows as the crate makes them in one go, with its own text, as lines of `dbgen`.
    fn same(part: Part, pieces: usize, theirs: impl Iterator<Item = impl Display>) {
        let (name, mut theirs) = (part.table.name, theirs);
        assert_eq!(part.batches.len(), pieces, "{name}");
        let mut line = String::new();
        for rows in part.batches.into_iter().flat_map(|make| make()) {
            for row in 0..rows.count {
                line.clear();
                for (values, column) in rows.columns.iter().zip(&part.columns) {
                    values.write(row, &mut line).unwrap();
                    if *column == "l_quantity" {
                        line.truncate(line.len() - ".00".len());
                    }
                    line.push('|');
                }
                assert_eq!(line, theirs.next().unwrap().to_string(), "{name}");
            }
        }
        assert!(theirs.next().is_none(), "{name}");
    }

    #[test]
    fn pieces_make_the_rows_that_the_crate_makes_in_one() {
        same(lineitem(0.05), 9, LineItemGenerator::new(0.05, 1, 1).iter());
        same(orders(0.05), 9, OrderGenerator::new(0.05, 1, 1).iter());
        same(partsupp(0.1), 2, PartSuppGenerator::new(0.1, 1, 1).iter());
        same(customer(0.2), 3, CustomerGenerator::new(0.2, 1, 1).iter());
        same(part(0.2), 4, PartGenerator::new(0.2, 1, 1).iter());
        same(supplier(2.0), 2, SupplierGenerator::new(2.0, 1, 1).iter());
        same(nation(1.0), 1, NationGenerator::new(1.0, 1, 1).iter());
        same(region(1.0), 1, RegionGenerator::new(1.0, 1, 1).iter());
    }
}
