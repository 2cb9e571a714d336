//! A table whose columns depend on each other as far as dials say, with exact truth: how often each
//! value occurs is computed, not sampled.
//!
//! `id` is the key and counts from 1. `a` has an index. A value's number of rows follows a zipf law
//! and is exact. `b` equals `a` in some rows, and in the others has their values of `a` in random
//! order; `c` has the values of `a` in random order. So all three have the same distribution.

use datasets::{Ahead, BATCH_ROWS, Batches};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use work::{Column, DataType, DefaultValue, Fill, Rows, Storage, Table, Values};

/// Rows of the table partners with each value.
const PARTNERS_PER_VALUE: u64 = 10;

/// Rows at most: their order is kept in memory.
pub const ROWS_MAX: u64 = 100_000_000;

/// The dials of the table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Dials {
    /// Rows.
    pub rows: u64,
    /// Rows that fill a page, about.
    pub rows_per_page: u16,
    /// Distinct values of `a`, from 1 to the number of rows. They count from 0.
    pub distinct: u64,
    /// Exponent of the zipf law: value v occurs in proportion to 1/(v+1)^exponent; 0: equally
    /// often.
    pub zipf: f64,
    /// Share of rows in which `b` equals `a`, chosen at random; 1: `b` depends on `a`.
    pub correlation: f64,
    /// Share of rows whose partner has the same value as `a`; `None`: there are no partners.
    pub join_correlation: Option<f64>,
    /// Share of rows, chosen at random, that are in the order of `a`; the others are anywhere.
    pub clustering: f64,
    /// Seed of the random orders.
    pub seed: u64,
}

/// The number of rows with each value.
#[derive(Debug, Clone, PartialEq)]
pub struct Truth {
    /// Rows with a smaller value than each one, and at the end all rows.
    below: Vec<u64>,
}

impl Truth {
    /// The number of rows of a predicate `a <= VALUE` that is nearest to this number.
    pub fn nearest(&self, rows: u64) -> u64 {
        let next = self.below.partition_point(|below| *below < rows).min(self.below.len() - 1);
        let candidates = [next.saturating_sub(1), next].map(|at| self.below[at]);
        let reachable = candidates.into_iter().filter(|candidate| *candidate > 0);
        reachable.min_by_key(|candidate| candidate.abs_diff(rows)).unwrap_or(0)
    }
}

impl Dials {
    /// The exact number of rows of each value.
    pub fn truth(&self) -> Truth {
        let distinct = self.distinct.clamp(1, self.rows.max(1));
        let weights: Vec<f64> =
            (0..distinct).map(|value| ((value + 1) as f64).powf(-self.zipf)).collect();
        let all: f64 = weights.iter().sum();
        let mut below = vec![0];
        let mut sum = 0.0;
        for weight in &weights {
            sum += weight;
            below.push((self.rows as f64 * sum / all).round() as u64);
        }
        if let Some(last) = below.last_mut() {
            *last = self.rows;
        }
        Truth { below }
    }

    /// Rows of the table partners.
    pub fn partners(&self) -> u64 {
        self.distinct.saturating_mul(PARTNERS_PER_VALUE)
    }

    /// Rows of the joins of rows with a value of `a` and partners that have it, by value: exact.
    pub fn joined(&self) -> Vec<u64> {
        let truth = self.truth();
        truth.below.windows(2).map(|ends| self.joined_of(ends[1] - ends[0])).collect()
    }

    /// Rows of such a join for a value that this number of rows has.
    fn joined_of(&self, rows: u64) -> u64 {
        let same = partners_with_the_value(rows, self.join_correlation.unwrap_or(0.0));
        // The others go round all values, their own last.
        same + (rows - same) / self.distinct
    }

    /// How many times as many rows such joins have together as they would have if values and
    /// partners were independent.
    pub fn join_factor(&self) -> f64 {
        let joined: u64 = self.joined().iter().sum();
        joined as f64 * self.distinct as f64 / self.rows as f64
    }

    /// The tables: dials, and its partners where it has some.
    pub fn tables(&self) -> Vec<Table> {
        let columns =
            vec![Column::new("id", DataType::BigInt), Column::new("value", DataType::Int)];
        let partners =
            Table { name: "partners", columns, key: &["id"], storage: Storage::default() };
        std::iter::once(self.table()).chain(self.join_correlation.map(|_| partners)).collect()
    }

    /// The table dials.
    fn table(&self) -> Table {
        let filler = DataType::PageFiller { rows: self.rows_per_page };
        let mut columns = vec![
            Column::new("id", DataType::BigInt),
            Column::new("a", DataType::Int),
            Column::new("b", DataType::Int),
            Column::new("c", DataType::Int),
            Column::new("filler", filler).default(DefaultValue::Filler),
        ];
        if self.join_correlation.is_some() {
            columns.insert(columns.len() - 1, Column::new("partner", DataType::BigInt));
        }
        let storage = Storage { index: &["a"], ..Storage::default() };
        Table { name: "dials", columns, key: &["id"], storage }
    }

    /// All that the table and its rows follow from.
    pub fn identity(&self) -> String {
        format!("{self:?}, made by {}", env!("CARGO_PKG_VERSION"))
    }

    /// Bytes of its rows, about.
    pub fn row_bytes(&self) -> u64 {
        let sizes = [self.rows, self.partners()].into_iter().zip(self.tables());
        sizes.map(|(rows, table)| rows.saturating_mul(table.row_bytes())).sum()
    }

    /// Rows of its tables, made on request by a thread that is some batches ahead.
    pub fn fills(&self) -> Vec<Fill> {
        let dials = *self;
        let mut names = vec!["id", "a", "b", "c"];
        let partners = self.join_correlation.map(|_| {
            names.push("partner");
            let ahead =
                Ahead::new(vec![Box::new(move || batches(vec![dials.values_of_partners()]))]);
            Fill::new(1, vec!["id", "value"], ahead)
        });
        let ahead = Ahead::new(vec![Box::new(move || batches(dials.columns()))]);
        std::iter::once(Fill::new(0, names, ahead)).chain(partners).collect()
    }

    /// The values of the partners, by their keys.
    fn values_of_partners(&self) -> Vec<u32> {
        (0..self.partners()).map(|at| (at % self.distinct) as u32).collect()
    }

    /// A partner for each row, by its key: one of those with the value that the dial gives.
    fn chosen_partners(&self, a: &[u32], share: f64) -> Vec<u32> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(!self.seed);
        let mut counts = vec![0; self.distinct as usize];
        let chosen = a.iter().map(|value| {
            let before: u64 = counts[*value as usize];
            counts[*value as usize] += 1;
            let value = u64::from(*value);
            let same = partners_with_the_value(before, share);
            let partner = if partners_with_the_value(before + 1, share) > same {
                value
            } else {
                (value + 1 + before - same) % self.distinct
            };
            let place = random.random_range(0..PARTNERS_PER_VALUE);
            (partner + self.distinct * place + 1) as u32
        });
        chosen.collect()
    }

    /// The values of `a`, `b` and `c`, and the partners, in the order of the table.
    fn columns(&self) -> Vec<Vec<u32>> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let truth = self.truth();
        let sorted: Vec<u32> = truth
            .below
            .windows(2)
            .enumerate()
            .flat_map(|(value, ends)| {
                std::iter::repeat_n(value as u32, (ends[1] - ends[0]) as usize)
            })
            .collect();
        let a = stirred(&sorted, 1.0 - self.clustering, &mut random);
        let b = stirred(&a, 1.0 - self.correlation, &mut random);
        let c = stirred(&a, 1.0, &mut random);
        let partner = self.join_correlation.map(|share| self.chosen_partners(&a, share));
        [a, b, c].into_iter().chain(partner).collect()
    }
}

/// Rows of columns, with keys that count from 1.
fn batches(columns: Vec<Vec<u32>>) -> Batches {
    let rows = columns.first().map_or(0, Vec::len);
    Box::new((0..rows).step_by(BATCH_ROWS).map(move |first| {
        let index = first..(first + BATCH_ROWS).min(rows);
        let ids = index.clone().map(|at| at as i64 + 1).collect();
        let values = columns.iter().map(|values| {
            Values::Integers(values[index.clone()].iter().map(|value| i64::from(*value)).collect())
        });
        let all = std::iter::once(Values::Integers(ids)).chain(values).collect();
        Rows { count: index.len(), columns: all }
    }))
}

/// The number of the first rows with a value whose partners have the same one: spread evenly over
/// all of them, and exact.
fn partners_with_the_value(rows: u64, share: f64) -> u64 {
    ((rows as f64 * share).floor() as u64).min(rows)
}

/// Returns the values with a share of them, chosen at random, in random order among themselves.
fn stirred(values: &[u32], share: f64, random: &mut Xoshiro256PlusPlus) -> Vec<u32> {
    let mut stirred = values.to_vec();
    let moved: Vec<usize> = (0..values.len()).filter(|_| random.random::<f64>() < share).collect();
    for last in (1..moved.len()).rev() {
        stirred.swap(moved[last], moved[random.random_range(0..=last)]);
    }
    stirred
}

#[cfg(test)]
mod tests {
    use super::Dials;
    use std::collections::BTreeMap;

    const DIALS: Dials = Dials {
        rows: 20_000,
        rows_per_page: 50,
        distinct: 100,
        zipf: 0.0,
        correlation: 0.0,
        join_correlation: None,
        clustering: 0.0,
        seed: 1,
    };

    fn columns(dials: Dials) -> [Vec<u32>; 3] {
        dials.columns().try_into().unwrap()
    }

    fn counts(values: &[u32]) -> BTreeMap<u32, u64> {
        let mut counts = BTreeMap::new();
        for value in values {
            *counts.entry(*value).or_default() += 1;
        }
        counts
    }

    #[test]
    fn each_value_occurs_as_often_as_the_truth_says() {
        for zipf in [0.0, 0.5, 1.0, 2.0] {
            let dials = Dials { zipf, correlation: 0.3, clustering: 0.6, ..DIALS };
            let truth = dials.truth();
            for values in dials.columns() {
                let counts = counts(&values);
                let mut below = 0;
                for value in 0..dials.distinct {
                    below += counts.get(&(value as u32)).copied().unwrap_or(0);
                    assert_eq!(truth.below[value as usize + 1], below);
                }
                // The law: twice the weight, twice the rows.
                let ratio = counts[&0] as f64 / counts[&1] as f64;
                assert!((ratio / 2.0_f64.powf(zipf) - 1.0).abs() < 0.02, "{zipf}: {ratio}");
            }
        }
    }

    #[test]
    fn dials_at_their_ends_are_dependency_and_order() {
        let [a, b, c] = columns(Dials { correlation: 1.0, clustering: 1.0, ..DIALS });
        assert_eq!(a, b);
        assert!(a.is_sorted() && !c.is_sorted());
        // Independent columns agree in one of 100 rows, within five standard deviations.
        let same = |a: &[u32], b: &[u32]| a.iter().zip(b).filter(|(a, b)| a == b).count() as f64;
        let [a, b, _] = columns(DIALS);
        assert!((same(&a, &b) - 200.0).abs() < 5.0 * 200_f64.sqrt());
        let [a, b, _] = columns(Dials { correlation: 0.5, ..DIALS });
        assert!((same(&a, &b) / 20_000.0 - 0.505).abs() < 0.02);
    }

    /// Joins are counted row by row, and as the formula of the dial says.
    #[test]
    fn joins_have_the_rows_of_the_dial() {
        for (share, zipf) in [(0.0, 0.0), (0.37, 0.0), (0.37, 1.0), (1.0, 0.0), (1.0, 1.0)] {
            let dials = Dials { join_correlation: Some(share), zipf, correlation: 0.3, ..DIALS };
            let [a, _, _, partner] = dials.columns().try_into().unwrap();
            let values = dials.values_of_partners();
            assert_eq!(values.len(), 1_000);
            let mut joined = vec![0; 100];
            for (value, partner) in a.iter().zip(&partner) {
                joined[*value as usize] += u64::from(values[*partner as usize - 1] == *value);
            }
            assert_eq!(joined, dials.joined(), "{share} {zipf}");
            // A share has its own value, and of the others one in 100.
            let factor = 1.0 + share * 99.0;
            assert!((dials.join_factor() / factor - 1.0).abs() < 0.1, "{}", dials.join_factor());
        }
        // 200 rows with each value, and two of them with each partner's.
        let independent = Dials { join_correlation: Some(0.0), ..DIALS };
        assert_eq!((independent.joined()[7], independent.join_factor()), (2, 1.0));
        assert_eq!(Dials { join_correlation: Some(1.0), ..DIALS }.joined()[7], 200);
        assert_eq!((DIALS.tables().len(), independent.tables().len()), (1, 2));
    }

    #[test]
    fn reachable_numbers_follow_from_the_truth() {
        let truth = DIALS.truth();
        assert_eq!([1, 290, 310, 30_000].map(|rows| truth.nearest(rows)), [200, 200, 400, 20_000]);
    }
}
