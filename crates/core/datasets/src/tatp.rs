//! The tables of TATP (Telecom Application Transaction Processing Benchmark, description 1.0):
//! subscribers of a telephone company, their access data, facilities and call forwardings.
//!
//! Each subscriber has one to four access types and one to four facilities, each of them none to
//! three call forwardings. Random values of a subscriber follow from the seed and its number.

use crate::{Batches, Part, Size, numbered};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use work::{Column, DataType, Reference, Rows, Storage, Table, Texts, Values};

/// Subscribers whose rows make a batch.
const SUBSCRIBERS: usize = 1024;

/// Digits of a subscriber's number and of the number that a call is forwarded to.
const DIGITS: usize = 15;

/// Types of access and of facilities.
const TYPES: [i64; 4] = [1, 2, 3, 4];
/// Hours at which call forwardings start.
const STARTS: [i64; 3] = [0, 8, 16];

/// Share of facilities that are active.
const ACTIVE: f64 = 0.85;

const SMALL: [&str; 30] = [
    "bit_1", "bit_2", "bit_3", "bit_4", "bit_5", "bit_6", "bit_7", "bit_8", "bit_9", "bit_10",
    "hex_1", "hex_2", "hex_3", "hex_4", "hex_5", "hex_6", "hex_7", "hex_8", "hex_9", "hex_10",
    "byte2_1", "byte2_2", "byte2_3", "byte2_4", "byte2_5", "byte2_6", "byte2_7", "byte2_8",
    "byte2_9", "byte2_10",
];

/// Rows of a table for each subscriber, on average.
pub(crate) fn rows_each(table: &str) -> f64 {
    match table {
        "access_info" | "special_facility" => 2.5,
        "call_forwarding" => 3.75,
        _ => 1.0,
    }
}

pub(crate) fn parts(size: Size) -> Vec<Part> {
    vec![subscribers(size), access_info(size), special_facilities(size), call_forwardings(size)]
}

fn table(
    name: &'static str,
    columns: Vec<Column>,
    key: &'static [&'static str],
    storage: Storage,
) -> Table {
    Table { name, columns, key, storage }
}

fn int(name: &'static str) -> Column {
    Column::new(name, DataType::Int)
}

fn subscribers(size: Size) -> Part {
    let mut columns = vec![int("s_id"), Column::new("sub_nbr", DataType::Varchar(DIGITS as u16))];
    columns.extend(SMALL.map(int));
    columns.extend(["msc_location", "vlr_location"].map(int));
    let storage = Storage { index: &["sub_nbr"], ..Storage::default() };
    let made = columns.len();
    Part::new(table("subscriber", columns, &["s_id"], storage), made, move || {
        numbered(1, size.rows as i64, move |ids| {
            let numbers: Texts = ids.iter().map(|id| format!("{id:0DIGITS$}")).collect();
            let mut small: Vec<Vec<i64>> = vec![Vec::with_capacity(ids.len()); SMALL.len() + 2];
            for id in &ids {
                let mut random = generator(size.seed, *id, 0);
                for (at, values) in small.iter_mut().enumerate() {
                    let most = [1, 15, 255].get(at / 10).copied().unwrap_or(i64::from(i32::MAX));
                    values.push(random.random_range(0..=most));
                }
            }
            let first = [Values::Integers(ids), Values::Texts(numbers)];
            first.into_iter().chain(small.into_iter().map(Values::Integers)).collect()
        })
    })
}

const OF_SUBSCRIBER: &[Reference] =
    &[Reference { columns: &["s_id"], table: "subscriber", key: &["s_id"] }];
const OF_FACILITY: &[Reference] = &[Reference {
    columns: &["s_id", "sf_type"],
    table: "special_facility",
    key: &["s_id", "sf_type"],
}];

/// A row of a table below subscribers.
struct Row<const INTEGERS: usize, const TEXTS: usize> {
    integers: [i64; INTEGERS],
    texts: [String; TEXTS],
}

fn access_info(size: Size) -> Part {
    let mut columns = ["s_id", "ai_type", "data1", "data2"].map(int).to_vec();
    columns.push(Column::new("data3", DataType::Char(3)));
    columns.push(Column::new("data4", DataType::Char(5)));
    let storage = Storage { references: OF_SUBSCRIBER, ..Storage::default() };
    Part::new(table("access_info", columns, &["s_id", "ai_type"], storage), 6, move || {
        of_subscribers(size, |seed, id| {
            let mut random = generator(seed, id, 1);
            let types = some_of(TYPES, 1, &mut random);
            let rows = types.into_iter().map(|kind| Row {
                integers: [id, kind, byte(&mut random), byte(&mut random)],
                texts: [letters(3, &mut random), letters(5, &mut random)],
            });
            rows.collect()
        })
    })
}

/// The types of a subscriber's facilities, and the generator of their other values.
fn facilities(seed: u64, id: i64) -> (Vec<i64>, Xoshiro256PlusPlus) {
    let mut random = generator(seed, id, 2);
    (some_of(TYPES, 1, &mut random), random)
}

fn special_facilities(size: Size) -> Part {
    let mut columns = ["s_id", "sf_type", "is_active", "error_cntrl", "data_a"].map(int).to_vec();
    columns.push(Column::new("data_b", DataType::Char(5)));
    let storage = Storage { references: OF_SUBSCRIBER, ..Storage::default() };
    Part::new(table("special_facility", columns, &["s_id", "sf_type"], storage), 6, move || {
        of_subscribers(size, |seed, id| {
            let (types, mut random) = facilities(seed, id);
            let rows = types.into_iter().map(|kind| Row {
                integers: [
                    id,
                    kind,
                    i64::from(random.random_bool(ACTIVE)),
                    byte(&mut random),
                    byte(&mut random),
                ],
                texts: [letters(5, &mut random)],
            });
            rows.collect()
        })
    })
}

fn call_forwardings(size: Size) -> Part {
    let mut columns = ["s_id", "sf_type", "start_time", "end_time"].map(int).to_vec();
    columns.push(Column::new("numberx", DataType::Varchar(DIGITS as u16)));
    let storage = Storage { references: OF_FACILITY, ..Storage::default() };
    let key = &["s_id", "sf_type", "start_time"];
    Part::new(table("call_forwarding", columns, key, storage), 5, move || {
        of_subscribers(size, |seed, id| {
            let mut random = generator(seed, id, 3);
            let mut rows = Vec::new();
            for facility in facilities(seed, id).0 {
                for start in some_of(STARTS, 0, &mut random) {
                    let end = start + random.random_range(1..=8_i64);
                    let number = (0..DIGITS).map(|_| random.random_range(b'0'..=b'9') as char);
                    let number = number.collect();
                    rows.push(Row { integers: [id, facility, start, end], texts: [number] });
                }
            }
            rows
        })
    })
}

/// The generator of a subscriber's values in a table.
fn generator(seed: u64, id: i64, table: u64) -> Xoshiro256PlusPlus {
    let hash = (id as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    Xoshiro256PlusPlus::seed_from_u64(seed.rotate_left(32) ^ hash ^ table)
}

fn byte(random: &mut Xoshiro256PlusPlus) -> i64 {
    random.random_range(0..=255_i64)
}

fn letters(count: usize, random: &mut Xoshiro256PlusPlus) -> String {
    (0..count).map(|_| char::from(random.random_range(b'A'..=b'Z'))).collect()
}

/// From `least` to all of these, each number of them and each choice with the same probability, in
/// their order.
fn some_of<const N: usize>(
    mut all: [i64; N],
    least: usize,
    random: &mut Xoshiro256PlusPlus,
) -> Vec<i64> {
    let count = random.random_range(least..=N);
    for at in 0..count {
        all.swap(at, random.random_range(at..N));
    }
    let mut chosen = all[..count].to_vec();
    chosen.sort_unstable();
    chosen
}

/// The rows that belong to all subscribers, in their order.
fn of_subscribers<const INTEGERS: usize, const TEXTS: usize>(
    size: Size,
    rows_of: fn(u64, i64) -> Vec<Row<INTEGERS, TEXTS>>,
) -> Batches {
    let last = size.rows as i64;
    let batches = (1..=last).step_by(SUBSCRIBERS).map(move |first| {
        let ids = (first..=last).take(SUBSCRIBERS);
        let rows: Vec<Row<INTEGERS, TEXTS>> = ids.flat_map(|id| rows_of(size.seed, id)).collect();
        let integers = (0..INTEGERS)
            .map(|at| Values::Integers(rows.iter().map(|row| row.integers[at]).collect()));
        let texts =
            (0..TEXTS).map(|at| Values::Texts(rows.iter().map(|row| &row.texts[at]).collect()));
        Rows { count: rows.len(), columns: integers.chain(texts).collect() }
    });
    Box::new(batches.filter(|rows| rows.count > 0))
}
