//! The tables of the published studies of inserts (S1).

use crate::{Part, Size, numbered};
use rand::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use work::{Column, DataType, DefaultValue, Key, Storage, Table, Values};

/// `MyBigTable`: a 16-byte key, a time, `char(111)`, two ints and a bigint, clustered on the key.
pub fn my_big_table() -> Table {
    let columns = vec![
        Column::new("c1", DataType::Uuid).default(DefaultValue::NewUuid),
        Column::new("c2", DataType::Timestamp).default(DefaultValue::Now),
        Column::new("c3", DataType::Char(111)).default(DefaultValue::Text("a")),
        Column::new("c4", DataType::Int).default(DefaultValue::Integer(1)),
        Column::new("c5", DataType::Int).default(DefaultValue::Integer(2)),
        Column::new("c6", DataType::BigInt).default(DefaultValue::Integer(42)),
    ];
    let storage = Storage { spread: true, ..Storage::default() };
    Table { name: "mybigtable", columns, key: &["c1"], storage }
}

/// An integer key and a filler that gives each row a page of its own (S1b).
pub fn one_row_per_page() -> Table {
    let columns = vec![
        Column::new("c1", DataType::BigInt),
        Column::new("c2", DataType::PageFiller { rows: 1 }).default(DefaultValue::Filler),
    ];
    let storage = Storage { spread: true, ..Storage::default() };
    Table { name: "onerowperpage", columns, key: &["c1"], storage }
}

/// Returns the table in one data file, for scans.
fn in_one_file(table: Table) -> Table {
    Table { storage: Storage::default(), ..table }
}

/// 2010-01-01 00:00, the time of the first row; one more second for each further row.
const FIRST_ROW_S: i64 = 1_262_304_000;

pub(crate) fn my_big_table_part(size: Size) -> Part {
    Part::new(in_one_file(my_big_table()), 6, move || {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(size.seed);
        numbered(0, size.rows as i64 - 1, move |numbers| {
            let keys = numbers.iter().map(|_| Key::random(random.next_u64(), random.next_u64()).0);
            vec![
                Values::Uuids(keys.collect()),
                Values::Timestamps(numbers.iter().map(|number| FIRST_ROW_S + number).collect()),
                Values::SameText("a"),
                Values::Same(1),
                Values::Same(2),
                Values::Same(42),
            ]
        })
    })
}

pub(crate) fn one_row_per_page_part(size: Size) -> Part {
    Part::new(in_one_file(one_row_per_page()), 1, move || {
        numbered(1, size.rows as i64, |numbers| vec![Values::Integers(numbers)])
    })
}
