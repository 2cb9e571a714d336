//! The tables of sysbench's OLTP scripts, as `sysbench oltp_common prepare` of version 1.0.20 makes
//! them, and its distributions of random numbers.
//!
//! `id` is the key and counts from 1, `k` is drawn as the scripts draw rows and has a secondary
//! index, `c` and `pad` are ten and five groups of eleven random digits with dashes between them.

pub use crate::size::Distribution;

use crate::{Part, Size, numbered};
use rand::{Rng, RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use work::{Column, DataType, DefaultValue, Storage, Table, Texts, Values};

/// Names of the tables; there are no more.
const TABLES: [&str; 32] = [
    "sbtest1", "sbtest2", "sbtest3", "sbtest4", "sbtest5", "sbtest6", "sbtest7", "sbtest8",
    "sbtest9", "sbtest10", "sbtest11", "sbtest12", "sbtest13", "sbtest14", "sbtest15", "sbtest16",
    "sbtest17", "sbtest18", "sbtest19", "sbtest20", "sbtest21", "sbtest22", "sbtest23", "sbtest24",
    "sbtest25", "sbtest26", "sbtest27", "sbtest28", "sbtest29", "sbtest30", "sbtest31", "sbtest32",
];

/// Most tables.
pub const TABLES_MAX: i64 = TABLES.len() as i64;
/// Digits of a group.
pub const GROUP_DIGITS: u32 = 11;
/// Groups of a value of `c` and of `pad`.
pub const C_GROUPS: u32 = 10;
/// See [`C_GROUPS`].
pub const PAD_GROUPS: u32 = 5;

/// Share of the numbers that is near the middle (`--rand-spec-res=75`), the range that they are in
/// (`--rand-spec-pct=1`), and how many uniform numbers the others are the mean of
/// (`--rand-spec-iter=12`).
const SPECIAL_SHARE: f64 = 0.75;
const SPECIAL_RANGE: f64 = 0.01;
const SPECIAL_MEAN_OF: u32 = 12;

/// The default of `--rand-pareto-h`: of the numbers, 1 - h are in the first h of the range.
pub const PARETO_H: f64 = 0.2;

/// A number from `least` to `most` of sysbench's distribution `special`.
///
/// A single number decides which of the two it is and, of those near the middle, where it lies: so
/// the first quarter of that percent is never drawn, as in sysbench.
pub fn special(least: i64, most: i64, random: &mut impl Rng) -> i64 {
    let width = (most - least) as f64;
    let drawn: f64 = random.random();
    if drawn < 1.0 - SPECIAL_SHARE {
        let sum: f64 = (0..SPECIAL_MEAN_OF).map(|_| random.random::<f64>()).sum();
        return least + (sum / f64::from(SPECIAL_MEAN_OF) * width) as i64;
    }
    let within = drawn * (SPECIAL_RANGE * width + 1.0);
    (least + (within + width / 2.0 - width * SPECIAL_RANGE / 2.0) as i64).min(most)
}

/// A number from `least` to `most` of sysbench's Pareto distribution with the parameter `h`, above
/// 0 and below 1.
pub fn pareto(least: i64, most: i64, h: f64, random: &mut impl Rng) -> i64 {
    let power = h.ln() / (1.0 - h).ln();
    let steps = ((most - least + 1) as f64 * random.random::<f64>().powf(power)) as i64;
    least + steps.min(most - least)
}

/// Appends groups of `digits` random digits with dashes between them.
pub fn put_digits(out: &mut String, groups: u32, digits: u32, random: &mut impl Rng) {
    for group in 0..groups {
        if group > 0 {
            out.push('-');
        }
        for _ in 0..digits {
            out.push(char::from(b'0' + random.random_range(0..10_u8)));
        }
    }
}

/// Bytes of a row: two ints, and texts that are padded with blanks.
pub(crate) fn parts(size: Size) -> Vec<Part> {
    let tables = TABLES.iter().take(size.tables as usize);
    tables.enumerate().map(|(number, name)| part(name, size, number as u64)).collect()
}

fn part(name: &'static str, size: Size, number: u64) -> Part {
    let empty = DefaultValue::Text("");
    let columns = vec![
        Column::new("id", DataType::Int),
        Column::new("k", DataType::Int).default(DefaultValue::Integer(0)),
        Column::new("c", DataType::Char(120)).default(empty),
        Column::new("pad", DataType::Char(60)).default(empty),
    ];
    let storage = Storage { index: &["k"], ..Storage::default() };
    let table = Table { name, columns, key: &["id"], storage };
    Part::new(table, 4, move || {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(size.seed ^ (number << 32));
        let most = size.rows as i64;
        numbered(1, most, move |ids| {
            let numbers =
                ids.iter().map(|_| size.distribution.draw(1, most, &mut random)).collect();
            let c = texts(ids.len(), C_GROUPS, &mut random);
            let pad = texts(ids.len(), PAD_GROUPS, &mut random);
            vec![
                Values::Integers(ids),
                Values::Integers(numbers),
                Values::Texts(c),
                Values::Texts(pad),
            ]
        })
    })
}

impl Distribution {
    /// A number from `least` to `most`.
    fn draw(self, least: i64, most: i64, random: &mut impl Rng) -> i64 {
        match self {
            Self::Special => special(least, most, random),
            Self::Uniform => random.random_range(least..=most),
            Self::Pareto => pareto(least, most, PARETO_H, random),
        }
    }
}

fn texts(count: usize, groups: u32, random: &mut impl Rng) -> Texts {
    (0..count)
        .map(|_| {
            let mut text = String::new();
            put_digits(&mut text, groups, GROUP_DIGITS, random);
            text
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{PARETO_H, pareto, put_digits, special};
    use rand::SeedableRng as _;
    use rand_xoshiro::Xoshiro256PlusPlus;

    const MOST: i64 = 100_000;
    const DRAWN: usize = 100_000;

    #[test]
    fn numbers_are_distributed_as_sysbenchs_options_say() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let drawn: Vec<i64> = (0..DRAWN).map(|_| special(1, MOST, &mut random)).collect();
        assert!(drawn.iter().all(|number| (1..=MOST).contains(number)));
        let (middle, half) = (MOST / 2, MOST / 200 + 2);
        let others: Vec<f64> = drawn
            .iter()
            .filter(|number| (*number - middle).abs() > half)
            .map(|number| *number as f64)
            .collect();
        // --rand-spec-res: of the other quarter the mean of 12 uniform numbers, few of which are
        // near the middle.
        let share = others.len() as f64 / DRAWN as f64;
        assert!((0.225..0.25).contains(&share), "{share}");
        let n = others.len() as f64;
        let mean = others.iter().sum::<f64>() / n;
        let deviation =
            (others.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / n).sqrt();
        assert!(
            (mean - MOST as f64 / 2.0).abs() < 300.0
                && (deviation / (MOST as f64 / 12.0) - 1.0).abs() < 0.05
        );
        let first =
            (0..DRAWN).filter(|_| pareto(1, MOST, PARETO_H, &mut random) <= MOST / 5).count();
        assert!((first as f64 / DRAWN as f64 - 0.8).abs() < 0.01, "{first}");
        for most in [1, 2] {
            assert!(
                (0..100).all(|_| (1..=most).contains(&special(1, most, &mut random))),
                "{most}"
            );
            assert!(
                (0..100).all(|_| (1..=most).contains(&pareto(1, most, PARETO_H, &mut random))),
                "{most}"
            );
        }
    }

    #[test]
    fn texts_are_groups_of_digits() {
        let mut text = String::new();
        put_digits(&mut text, 5, 11, &mut Xoshiro256PlusPlus::seed_from_u64(1));
        let groups: Vec<&str> = text.split('-').collect();
        assert_eq!((text.len(), groups.len()), (59, 5));
        assert!(
            groups
                .iter()
                .all(|group| group.len() == 11 && group.bytes().all(|byte| byte.is_ascii_digit()))
        );
    }
}
