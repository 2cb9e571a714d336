//! Long texts: what engines compress value by value.
//!
//! `id` is the key and counts from 1, `n` is a random int, `body` a text of [`LEAST_BYTES`] to
//! [`MOST_BYTES`] bytes. The text consists of common English words, separated by blanks. The k-th
//! word occurs in proportion to 1 / k (Zipf's law).

use crate::{Part, Size, numbered};
use rand::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use work::{Column, DataType, Storage, Table, Texts, Values};

/// Bytes of the shortest and of the longest text.
const LEAST_BYTES: u64 = 3_000;
const MOST_BYTES: u64 = 5_000;

/// Bytes of a row on average.
pub(crate) const ROW_BYTES: u64 = u64::midpoint(LEAST_BYTES, MOST_BYTES) + 12;

/// The 100 most frequent words of English, the most frequent first (Oxford English Corpus).
const WORDS: &str = "the be to of and a in that have I it for not on with he as you do at this \
                     but his by from they we say her she or an will my one all would there their \
                     what so up out if about who get which go me when make can like time no just \
                     him know take people into year your good some could them see other than then \
                     now look only come its over think also back after use two how our work first \
                     well way even new want because any these give day most us";

pub(crate) fn part(size: Size) -> Part {
    let columns = vec![
        Column::new("id", DataType::BigInt),
        Column::new("n", DataType::Int),
        Column::new("body", DataType::Varchar(MOST_BYTES as u16)),
    ];
    let table = Table { name: "documents", columns, key: &["id"], storage: Storage::default() };
    Part::new(table, 3, move || {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(size.seed);
        let words: Vec<&str> = WORDS.split_whitespace().collect();
        // Cumulative shares of the words.
        let mut shares: Vec<f64> = Vec::with_capacity(words.len());
        for rank in 1..=words.len() {
            shares.push(shares.last().copied().unwrap_or(0.0) + 1.0 / rank as f64);
        }
        numbered(1, size.rows as i64, move |ids| {
            let numbers = ids.iter().map(|_| (random.next_u64() >> 34) as i64).collect();
            let bodies: Texts = ids.iter().map(|_| body(&mut random, &words, &shares)).collect();
            vec![Values::Integers(ids), Values::Integers(numbers), Values::Texts(bodies)]
        })
    })
}

fn body(random: &mut Xoshiro256PlusPlus, words: &[&str], shares: &[f64]) -> String {
    let length = (LEAST_BYTES + random.next_u64() % (MOST_BYTES - LEAST_BYTES)) as usize;
    let mut body = String::with_capacity(length + 8);
    while body.len() < length {
        // 53 random bits make a number from 0 to 1.
        let uniform = (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let drawn = uniform * shares[shares.len() - 1];
        let rank = shares.partition_point(|share| *share < drawn);
        body.push_str(words[rank.min(words.len() - 1)]);
        body.push(' ');
    }
    body.truncate(length);
    body
}
