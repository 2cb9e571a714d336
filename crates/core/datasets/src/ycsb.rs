//! The table of YCSB (Cooper et al., Benchmarking Cloud Serving Systems with YCSB, 2010): records
//! of ten fields of 100 bytes.
//!
//! The key of record n is YCSB's hash of n, so that neighbours in number are far apart in the
//! table (`insertorder=hashed`). It is a number, not a text of the digits behind `user`.

use crate::{Part, Size, numbered};
use observations::fnv1a_64;
use rand::{Rng, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use work::{Column, DataType, Storage, Table, Texts, Values};

const FIELDS: [&str; 10] = [
    "field0", "field1", "field2", "field3", "field4", "field5", "field6", "field7", "field8",
    "field9",
];

/// Bytes of a field.
const FIELD_BYTES: u16 = 100;

/// The key of the record with this number: FNV-1a of its eight bytes, without its sign.
pub fn key(number: i64) -> i64 {
    (fnv1a_64(number.to_le_bytes(), 0) as i64).wrapping_abs()
}

/// The characters of random texts.
const CHARACTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Appends this many random letters, digits, dashes and underscores, six random bits each.
pub fn put_text(out: &mut String, length: usize, random: &mut impl Rng) {
    // Ten of them from each 64 bits.
    let mut bits = 0;
    for at in 0..length {
        if at % 10 == 0 {
            bits = random.next_u64();
        }
        out.push(char::from(CHARACTERS[(bits & 63) as usize]));
        bits >>= 6;
    }
}

pub(crate) fn part(size: Size) -> Part {
    let fields = FIELDS.map(|name| Column::new(name, DataType::Varchar(FIELD_BYTES)));
    let columns = [Column::new("ycsb_key", DataType::BigInt)].into_iter().chain(fields).collect();
    let table =
        Table { name: "usertable", columns, key: &["ycsb_key"], storage: Storage::default() };
    Part::new(table, 1 + FIELDS.len(), move || {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(size.seed);
        numbered(0, size.rows as i64 - 1, move |numbers| {
            let keys = numbers.iter().map(|number| key(*number)).collect();
            let mut columns = vec![Values::Integers(keys)];
            for _ in FIELDS {
                let texts: Texts = numbers
                    .iter()
                    .map(|_| {
                        let mut text = String::new();
                        put_text(&mut text, FIELD_BYTES.into(), &mut random);
                        text
                    })
                    .collect();
                columns.push(Values::Texts(texts));
            }
            columns
        })
    })
}

#[cfg(test)]
mod tests {
    use super::key;

    /// The first keys of a table that YCSB loads begin with `user` and these digits.
    #[test]
    fn keys_are_those_of_ycsb() {
        assert_eq!([0, 1].map(key), [6_284_781_860_667_377_211, 8_517_097_267_634_966_620]);
    }
}
