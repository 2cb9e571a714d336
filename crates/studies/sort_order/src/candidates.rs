//! Orders that heuristics propose, from a sample of the rows.

use crate::{Coded, Order};
use observations::order;

/// Rows on which runs are counted.
const SAMPLE_ROWS: usize = 16_384;

/// Columns of a key at most: by then rows are alone with their prefix in any practical table.
const KEY_COLUMNS_MAX: usize = 8;

/// A further column that saves less than this share of the weighted runs is not worth a longer key.
const GAIN_MIN: f64 = 0.005;

/// A column with fewer rows than this for each distinct value has no runs in any order.
const RUN_ROWS_MIN: f64 = 2.0;

/// An order, and what proposes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Positions of the columns to sort by, the first one first.
    pub columns: Vec<usize>,
    /// The heuristic in words.
    pub why: &'static str,
}

/// Returns the orders that are worth a prediction, without duplicates:
///
/// - By increasing number of distinct values, with all columns and with the first ones alone. The
///   sum of runs of such an order is close to the minimum (Lemire, Kaser 2011, section 4). A
///   shorter key keeps the existing order within it, which may be good already.
/// - Greedily: each next column is the one that leaves the fewest runs of all columns together,
///   weighted by the bytes of their values. Runs are counted on a sample, which captures
///   correlated columns (an order's date and its shipping date).
/// - Each column by itself.
///
/// Keys leave out a column that the columns before it determine, because it does not change the
/// number of runs.
///
/// `table_rows`: of the whole table, of which the coded rows may be a part.
pub fn candidates(table: &Coded, table_rows: u64) -> Vec<Candidate> {
    let sample = table.sample(SAMPLE_ROWS);
    let usable: Vec<usize> =
        (0..table.columns.len()).filter(|at| is_usable(table, *at, table_rows)).collect();
    let mut found: Vec<Candidate> = Vec::new();
    let mut add = |columns: &[usize], why| {
        if !columns.is_empty() && !found.iter().any(|candidate| candidate.columns == columns) {
            found.push(Candidate { columns: columns.to_vec(), why });
        }
    };
    let mut increasing = usable.clone();
    order::by_key(&mut increasing, &|at| (table.columns[*at].distinct, *at));
    let increasing = without_determined(&sample, &increasing);
    let fewest = fewest_runs(&sample, &usable);
    for (key, why) in
        [(&fewest, "fewest weighted runs"), (&increasing, "increasing number of values")]
    {
        for length in [key.len(), 3, 2] {
            add(&key[..length.min(key.len())], why);
        }
    }
    for at in &usable {
        add(&[*at], "one column");
    }
    found
}

/// Returns whether a column can gain from runs. What counts is the whole table: of a value that
/// many rows have, a sample may hold one.
fn is_usable(table: &Coded, at: usize, table_rows: u64) -> bool {
    let column = &table.columns[at];
    column.distinct > 1 && column.distinct_of_table(table_rows) * RUN_ROWS_MIN <= table_rows as f64
}

/// A key without the columns that those before them determine in the sample, and no longer than it
/// may be.
fn without_determined(sample: &Coded, key: &[usize]) -> Vec<usize> {
    let mut kept: Vec<usize> = Vec::new();
    for at in key {
        let rows = sample.ordered(&Order::By(kept.clone()));
        if kept.len() < KEY_COLUMNS_MAX
            && (kept.is_empty() || !is_constant_within(sample, &kept, *at, &rows))
        {
            kept.push(*at);
        }
    }
    kept
}

/// Returns whether a column is constant within rows of equal sort key.
fn is_constant_within(sample: &Coded, key: &[usize], at: usize, rows: &[u32]) -> bool {
    let same = |column: usize, pair: &[u32]| {
        let codes = &sample.columns[column].codes;
        codes[pair[0] as usize] == codes[pair[1] as usize]
    };
    rows.windows(2).all(|pair| !key.iter().all(|column| same(*column, pair)) || same(at, pair))
}

/// The runs of all columns, each weighted by the bytes of a value.
fn weighted_runs(sample: &Coded, key: &[usize]) -> f64 {
    let rows = sample.ordered(&Order::By(key.to_vec()));
    sample.columns.iter().map(|column| column.runs(&rows) as f64 * column.value_bytes).sum()
}

/// The key that grows by the column which leaves the least, as long as that gains anything.
fn fewest_runs(sample: &Coded, usable: &[usize]) -> Vec<usize> {
    let (mut key, mut least) = (Vec::new(), f64::INFINITY);
    while key.len() < KEY_COLUMNS_MAX {
        let longer = usable.iter().filter(|at| !key.contains(*at)).map(|at| {
            let longer: Vec<usize> = key.iter().copied().chain([*at]).collect();
            (weighted_runs(sample, &longer), longer)
        });
        match longer.min_by(|a, b| a.0.total_cmp(&b.0)) {
            Some((runs, longer)) if runs < least * (1.0 - GAIN_MIN) => {
                (key, least) = (longer, runs);
            }
            _ => break,
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use super::{candidates, fewest_runs, weighted_runs, without_determined};
    use crate::{Coded, Column, Order, ranks};
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

    fn coded(columns: &[Vec<u64>]) -> Coded {
        Coded {
            columns: columns
                .iter()
                .enumerate()
                .map(|(at, values)| {
                    let (codes, firsts) =
                        ranks(values.len(), &|_| 0, &|a, b| values[a].cmp(&values[b]));
                    Column::new(format!("c{at}"), codes, firsts.len(), 4.0)
                })
                .collect(),
            rows: columns[0].len(),
        }
    }

    /// All orders of these columns.
    fn permutations(columns: &[usize]) -> Vec<Vec<usize>> {
        if columns.len() < 2 {
            return vec![columns.to_vec()];
        }
        columns
            .iter()
            .flat_map(|at| {
                let others: Vec<usize> =
                    columns.iter().copied().filter(|column| column != at).collect();
                permutations(&others)
                    .into_iter()
                    .map(|rest| [vec![*at], rest].concat())
                    .collect::<Vec<_>>()
            })
            .collect()
    }

    /// Every combination of 2, 3 and 5 values once. Sorted by increasing number of values there
    /// are 2, 6 and 30 runs, the other way round 5, 15 and 30. Lemire, Kaser 2011: with all
    /// combinations, the number of runs of the i-th column is the product of the first i
    /// numbers of values.
    #[test]
    fn runs_of_a_full_product_are_the_products_of_the_numbers_of_values() {
        let product =
            |divisor: u64, of: u64| (0..30).map(|row| row / divisor % of).collect::<Vec<u64>>();
        let table = coded(&[product(15, 2), product(5, 3), product(1, 5)]);
        let runs = |key: &[usize]| {
            let rows = table.ordered(&Order::By(key.to_vec()));
            [0, 1, 2].map(|at| table.columns[at].runs(&rows))
        };
        assert_eq!(runs(&[0, 1, 2]), [2, 6, 30]);
        assert_eq!(runs(&[2, 1, 0]), [30, 15, 5]);
        let least = permutations(&[0, 1, 2])
            .iter()
            .map(|key| weighted_runs(&table, key))
            .fold(f64::MAX, f64::min);
        assert_eq!(weighted_runs(&table, &[0, 1, 2]).to_bits(), least.to_bits());
        let proposed = candidates(&table, table.rows as u64).remove(0);
        assert_eq!(
            weighted_runs(&table, &proposed.columns).to_bits(),
            least.to_bits(),
            "{proposed:?}"
        );
    }

    /// On small random tables the best candidate leaves at most an eighth more weighted runs than
    /// the best of all orders.
    #[test]
    fn candidates_come_close_to_the_best_of_all_orders() {
        for seed in 1..20_u64 {
            let value = |row: u64, column: u64, of: u64| {
                (row.wrapping_mul(0x9E37_79B9_7F4A_7C15)
                    .wrapping_add((column * seed).wrapping_mul(0xD1B5_4A32_D192_ED03))
                    >> 33)
                    % of
            };
            let columns: Vec<Vec<u64>> = [3, 4, 7, 12]
                .iter()
                .zip(1..)
                .map(|(of, column)| (0..400).map(|row| value(row, column, *of)).collect())
                .collect();
            let table = coded(&columns);
            let all = permutations(&[0, 1, 2, 3]);
            let least = all.iter().map(|key| weighted_runs(&table, key)).fold(f64::MAX, f64::min);
            let best = candidates(&table, table.rows as u64)
                .iter()
                .map(|candidate| weighted_runs(&table, &candidate.columns))
                .fold(f64::MAX, f64::min);
            assert!(best <= least * 1.125, "seed {seed}: {best} against {least}");
        }
    }

    #[test]
    fn determined_columns_are_no_part_of_a_key_and_unique_ones_neither() {
        let nation: Vec<u64> = (0..600).map(|row| row * 7 % 25).collect();
        let region: Vec<u64> = nation.iter().map(|nation| nation % 5).collect();
        let flag: Vec<u64> = (0..600).map(|row| row / 7 % 30).collect();
        let table = coded(&[nation, region, flag, (0..600).collect(), vec![1; 600]]);
        assert_eq!(without_determined(&table, &[0, 1, 2]), [0, 2]);
        let all = candidates(&table, table.rows as u64);
        assert!(
            all.iter().all(|candidate| [3, 4].iter().all(|n| !candidate.columns.contains(n))),
            "{all:?}"
        );
        let key = fewest_runs(&table, &[0, 1, 2]);
        assert!(!key.is_empty() && key.len() <= 3, "{key:?}");
        assert!(candidates(&coded(&[(0..10).collect()]), 10).is_empty());
    }

    /// Each value of the first column has ten rows, of which a sample of some thousand rows sees
    /// one or none; and it determines a wide column.
    #[test]
    fn a_column_of_many_values_is_proposed_where_the_table_repeats_them() {
        let shuffled = |row: u64| row.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
        let values: Vec<u64> = (0..200_000).map(|row| shuffled(row) % 20_000).collect();
        let table = coded(&[values.clone(), values]);
        assert!(candidates(&table, 200_000).iter().any(|candidate| candidate.columns == [0]));
        // Each row its own value: nothing to gain.
        assert!(candidates(&coded(&[(0..50_000).collect()]), 50_000).is_empty());
    }

    /// Ten thousand rows of a million, in which each of 50,000 values has 20.
    #[test]
    fn values_of_the_table_are_estimated_from_a_sample() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let sample: Vec<u64> = (0..10_000).map(|_| random.next_u64() % 50_000).collect();
        let table = coded(&[sample]);
        let estimated = table.columns[0].distinct_of_table(1_000_000);
        assert!((40_000.0..60_000.0).contains(&estimated), "{estimated}");
        let whole = table.columns[0].distinct_of_table(10_000);
        assert!((whole - table.columns[0].distinct as f64).abs() < 1e-9, "{whole}");
        assert!(candidates(&table, 1_000_000).iter().any(|candidate| candidate.columns == [0]));
    }
}
