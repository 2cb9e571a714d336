//! Tables of a chosen number of columns and rows per page (S3b), with values that lie together and
//! the same values apart (S3e).
//!
//! `id` is the key and counts from 1. `c2`, where the table has more than three columns `c3` too,
//! and so on to the last but one are ints; the last column fills the page. `c2` and `c3` hold the
//! same values, each [`ROWS_OF_VALUE`] times: in `c3` rows with the same value are neighbours, in
//! `c2` they are all over the table. The other columns are random.

use crate::{Part, Size, numbered};
use rand::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use work::{Column, DataType, DefaultValue, Storage, Table, Values};

const NAMES: [&str; 18] = [
    "id", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9", "c10", "c11", "c12", "c13", "c14", "c15",
    "c16", "c17", "c18",
];

/// Rows that have the same value in `c2`, and in `c3`.
const ROWS_OF_VALUE: i64 = 100;

/// Values are at least this and less than 2^30 more: they take 4 bytes also where small numbers
/// take less, and sums of a billion rows stay below 2^63.
const LEAST: i64 = 1 << 24;

/// A prime that does not divide any practical number of rows: multiples of it visit all rows in an
/// order without a visible pattern.
const STRIDE: i64 = 2_654_435_761;

pub(crate) fn part(size: Size) -> Part {
    let ints = size.columns.clamp(3, NAMES.len()) - 2;
    let mut columns = vec![Column::new(NAMES[0], DataType::BigInt)];
    columns.extend(NAMES[1..=ints].iter().map(|name| Column::new(name, DataType::Int)));
    let filler = DataType::PageFiller { rows: size.rows_per_page };
    columns.push(Column::new(NAMES[ints + 1], filler).default(DefaultValue::Filler));
    let table = Table { name: "synthetic", columns, key: &["id"], storage: Storage::default() };
    Part::new(table, ints + 1, move || {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(size.seed);
        let rows = size.rows as i64;
        let offset = (random.next_u64() % size.rows.max(1)) as i64;
        numbered(1, rows, move |ids| {
            let mut columns: Vec<Values> = (0..ints)
                .map(|column| {
                    Values::Integers(
                        ids.iter()
                            .map(|id| match column {
                                0 => {
                                    (i128::from(id - 1) * i128::from(STRIDE) + i128::from(offset))
                                        as i64
                                        % rows
                                        / ROWS_OF_VALUE
                                }
                                1 => (id - 1) / ROWS_OF_VALUE,
                                _ => (random.next_u64() >> 34) as i64,
                            })
                            .map(|value| LEAST + value)
                            .collect(),
                    )
                })
                .collect();
            columns.insert(0, Values::Integers(ids));
            columns
        })
    })
}
