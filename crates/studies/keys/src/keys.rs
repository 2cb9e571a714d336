//! The keys that a load asks for: uniform, Zipf, the latest first.

use datasets::DataSet;
use experiment::{Configuration, Invalid, Kind, choice, settings};
use probe::data;
use rand::{RngExt as _, SeedableRng as _};
use rand_distr::{Distribution as _, Zipf};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::ops::Range;
use work::{Column, DataType, Fill, Parameter, Rows, Storage, Table, Values};

choice! {
    /// The probability of each key.
    pub enum Distribution {
        /// Each as often as any other.
        Uniform = "uniform",
        /// The k-th most frequent one in proportion to k^-s; frequent ones lie all over the table.
        Zipf = "zipf",
        /// As before, with the latest keys of the table most frequent.
        Latest = "latest",
    }
}

settings! {
    /// Distribution of the keys: all equally often (uniform); the k-th most frequent key in
    /// proportion to k^-s, spread over the table (zipf); or the same with the last keys of the
    /// table most frequent (latest).
    pub KEYS: Distribution = "workload.keys", Distribution::KIND, "uniform";
    /// The exponent s of zipf and latest; YCSB uses 0.99.
    pub ZIPF: f64 = "workload.zipf", Kind::Number { min: 0.0, max: 10.0 }, "0.99";
    /// Number of different keys used, from the first in the table. Default: all.
    pub DISTINCT_KEYS: Option<u64> =
        "workload.distinct_keys", Kind::Count { min: 1, max: 1_000_000_000_000 };
}

/// A prime that does not divide any practical number of keys: multiples of it visit all of them.
const STRIDE: u128 = 2_654_435_761;

/// An objection to a data set without keys that are integers, or with fewer than requested.
pub fn objection(configuration: &Configuration, set: &DataSet) -> Option<Invalid> {
    if set.keys() == 0 {
        let message =
            format!("the keys of {} are not known integers; use another data set", set.name());
        return Some(Invalid::new(data::DATA.path(), message));
    }
    let configuration =
        configuration.get(DISTINCT_KEYS).filter(|configuration| *configuration > set.keys())?;
    let message = format!("{configuration} keys exceed the {} of the table", set.keys());
    Some(Invalid::new(DISTINCT_KEYS.path(), message))
}

/// The keys that one connection asks for.
pub struct Keys {
    set: DataSet,
    columns: usize,
    /// Numbers of the keys.
    numbers: Range<u64>,
    distribution: Distribution,
    /// Always there: the setting has the bounds that it needs.
    zipf: Option<Zipf<f64>>,
    random: Xoshiro256PlusPlus,
    /// The key that was drawn last.
    parameters: [Parameter; 2],
}

/// The part of the keys that a connection draws from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyShare {
    /// Number of the part, from 0.
    pub part: u32,
    /// The number of parts.
    pub parts: u32,
}

impl KeyShare {
    /// All keys.
    pub const ALL: Self = Self { part: 0, parts: 1 };
}

impl Keys {
    /// Keys of connection `index`; the same seed gives the same ones.
    pub fn new(
        configuration: &Configuration,
        set: DataSet,
        seed: u64,
        index: u32,
        share: KeyShare,
    ) -> Self {
        let all = configuration.get(DISTINCT_KEYS).unwrap_or_else(|| set.keys());
        let bound = |part: u32| all * u64::from(part) / u64::from(share.parts);
        let numbers = bound(share.part)..bound(share.part + 1);
        let count = (numbers.end - numbers.start).max(1) as f64;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        // Streams that cannot overlap: 2^128 draws apart.
        for _ in 0..index {
            random.jump();
        }
        Self {
            columns: set.tables()[0].key.len(),
            set,
            numbers,
            distribution: configuration.get(KEYS),
            zipf: Zipf::new(count, configuration.get(ZIPF)).ok(),
            random,
            parameters: [const { Parameter::Integer(0) }; 2],
        }
    }

    /// Draws a key.
    pub fn draw(&mut self) -> [i64; 2] {
        let Range { start, end } = self.numbers;
        let count = (end - start).max(1);
        let number = match self.distribution {
            Distribution::Uniform => self.random.random_range(0..count),
            Distribution::Zipf => {
                (u128::from(self.rank(count)) * STRIDE % u128::from(count)) as u64
            }
            Distribution::Latest => count - 1 - self.rank(count),
        };
        self.set.key(start + number)
    }

    /// Returns the number of keys that are more frequent than the one that is drawn.
    fn rank(&mut self, count: u64) -> u64 {
        let rank = self.zipf.map_or(1.0, |zipf| zipf.sample(&mut self.random));
        (rank as u64).clamp(1, count) - 1
    }

    /// Draws a key for [`Keys::parameters`].
    pub fn draw_parameters(&mut self) {
        self.parameters = self.draw().map(Parameter::Integer);
    }

    /// The key that was drawn last.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters[..self.columns]
    }

    /// A table of `count` keys, drawn one after the other, and its rows; `table` is its position in
    /// the work.
    pub fn sample(mut self, count: u64, table: usize) -> (Table, Fill) {
        let names = &["key_1", "key_2"][..self.columns];
        let columns = names.iter().map(|name| Column::new(name, DataType::BigInt)).collect();
        let drawn: Vec<[i64; 2]> = (0..count).map(|_| self.draw()).collect();
        let rows = Rows {
            count: drawn.len(),
            columns: (0..names.len())
                .map(|at: usize| Values::Integers(drawn.iter().map(|key| key[at]).collect()))
                .collect(),
        };
        let fill = Fill::new(table, names.to_vec(), std::iter::once(rows));
        (Table { name: "key_sample", columns, key: &[], storage: Storage::default() }, fill)
    }
}

#[cfg(test)]
mod tests {
    use super::{DISTINCT_KEYS, KEYS, KeyShare, Keys, ZIPF};
    use experiment::{Configuration, Value};
    use probe::data;
    use std::collections::HashMap;

    fn drawn(keys: &str, share: KeyShare, count: usize) -> HashMap<i64, usize> {
        let settings = [
            (KEYS.path(), Value::Text(keys.into())),
            (ZIPF.path(), Value::Float(1.2)),
            (DISTINCT_KEYS.path(), Value::Integer(1000)),
        ];
        let settings = settings.into_iter().map(|(path, value)| (path.to_owned(), value)).collect();
        let configuration = Configuration { settings, ..Configuration::default() };
        let set = data::data_set(&configuration);
        let mut keys = Keys::new(&configuration, set, 7, share.part, share);
        let mut counts = HashMap::new();
        for _ in 0..count {
            *counts.entry(keys.draw()[0]).or_insert(0) += 1;
        }
        counts
    }

    #[test]
    fn uniform_keys_are_all_keys_alike() {
        let counts = drawn("uniform", KeyShare::ALL, 200_000);
        assert_eq!(
            (counts.len(), counts.keys().min(), counts.keys().max()),
            (1000, Some(&1), Some(&1000))
        );
        assert!(counts.values().all(|count| (120..=280).contains(count)));
    }

    /// Of n keys the most frequent has the share 1 / (1 + 2^-s + ... + n^-s), the second 2^-s of
    /// that.
    #[test]
    fn zipf_and_latest_keys_have_the_shares_of_the_law() {
        let total: f64 = (1..=1000).map(|rank| f64::from(rank).powf(-1.2)).sum();
        for keys in ["zipf", "latest"] {
            let counts = drawn(keys, KeyShare::ALL, 200_000);
            let mut most: Vec<(usize, i64)> =
                counts.iter().map(|(key, count)| (*count, *key)).collect();
            most.sort_unstable_by(|a, b| b.cmp(a));
            for (rank, (count, _)) in (1..=3).zip(&most) {
                let expected = 200_000.0 * f64::from(rank).powf(-1.2) / total;
                assert!(
                    (*count as f64 / expected - 1.0).abs() < 0.05,
                    "{keys} {rank}: {count} of {expected}"
                );
            }
            let last =
                most.iter().take(3).map(|(_, key)| *key).collect::<Vec<_>>() == [1000, 999, 998];
            assert_eq!(last, keys == "latest");
        }
    }

    #[test]
    fn shares_are_disjoint_and_together_all() {
        let mut all = Vec::new();
        for index in 0..3 {
            all.extend(drawn("uniform", KeyShare { part: index, parts: 3 }, 20_000).into_keys());
        }
        all.sort_unstable();
        assert!(all.into_iter().eq(1..=1000));
    }
}
