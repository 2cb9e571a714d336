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

/// Rows at most: their order is kept in memory.
pub const ROWS_MAX: u64 = 100_000_000;

/// The dials of the table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dials {
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
        let reachable = candidates.into_iter().filter(|own| *own > 0);
        reachable.min_by_key(|own| own.abs_diff(rows)).unwrap_or(0)
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

    /// The table.
    pub fn table(&self) -> Table {
        let filler = DataType::PageFiller { rows: self.rows_per_page };
        let columns = vec![
            Column::new("id", DataType::BigInt),
            Column::new("a", DataType::Int),
            Column::new("b", DataType::Int),
            Column::new("c", DataType::Int),
            Column::new("filler", filler).default(DefaultValue::Filler),
        ];
        let storage = Storage { index: &["a"], ..Storage::default() };
        Table { name: "dials", columns, key: &["id"], storage }
    }

    /// All that the table and its rows follow from.
    pub fn identity(&self) -> String {
        format!("{self:?}, made by {}", env!("CARGO_PKG_VERSION"))
    }

    /// Bytes of its rows, about.
    pub fn row_bytes(&self) -> u64 {
        self.rows.saturating_mul(self.table().row_bytes())
    }

    /// Its rows, made on request by a thread that is some batches ahead.
    pub fn fill(&self) -> Fill {
        let own = *self;
        Fill::new(0, vec!["id", "a", "b", "c"], Ahead::new(vec![Box::new(move || own.batches())]))
    }

    fn batches(&self) -> Batches {
        let (columns, rows) = (self.columns(), self.rows as usize);
        Box::new((0..rows).step_by(BATCH_ROWS).map(move |first| {
            let own = first..(first + BATCH_ROWS).min(rows);
            let ids = own.clone().map(|at| at as i64 + 1).collect();
            let values = columns.iter().map(|values| {
                Values::Integers(values[own.clone()].iter().map(|own| i64::from(*own)).collect())
            });
            let all = std::iter::once(Values::Integers(ids)).chain(values).collect();
            Rows { count: own.len(), columns: all }
        }))
    }

    /// The values of `a`, `b` and `c` in the order of the table.
    fn columns(&self) -> [Vec<u32>; 3] {
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
        [a, b, c]
    }
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
        clustering: 0.0,
        seed: 1,
    };

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
                let seen = counts[&0] as f64 / counts[&1] as f64;
                assert!((seen / 2.0_f64.powf(zipf) - 1.0).abs() < 0.02, "{zipf}: {seen}");
            }
        }
    }

    #[test]
    fn dials_at_their_ends_are_dependency_and_order() {
        let [a, b, c] = Dials { correlation: 1.0, clustering: 1.0, ..DIALS }.columns();
        assert_eq!(a, b);
        assert!(a.is_sorted() && !c.is_sorted());
        // Independent columns agree in one of 100 rows, within five standard deviations.
        let same = |a: &[u32], b: &[u32]| a.iter().zip(b).filter(|(a, b)| a == b).count() as f64;
        let [a, b, _] = DIALS.columns();
        assert!((same(&a, &b) - 200.0).abs() < 5.0 * 200_f64.sqrt());
        let [a, b, _] = Dials { correlation: 0.5, ..DIALS }.columns();
        assert!((same(&a, &b) / 20_000.0 - 0.505).abs() < 0.02);
    }

    #[test]
    fn reachable_numbers_follow_from_the_truth() {
        let truth = DIALS.truth();
        assert_eq!([1, 290, 310, 30_000].map(|rows| truth.nearest(rows)), [200, 200, 400, 20_000]);
    }
}
