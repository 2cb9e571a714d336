//! A table as ranks of its values: all that runs, numbers of different values and orders follow
//! from.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use std::cmp::Ordering;

/// A column as the ranks of its values among its different ones, from 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// The name.
    pub name: String,
    /// The rank of each row's value.
    pub codes: Vec<u32>,
    /// Number of different values.
    pub distinct: usize,
    /// Mean bytes of a value, as it is without compression.
    pub value_bytes: f64,
}

/// The columns of a table; all have as many rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Coded {
    /// In the order of the table.
    pub columns: Vec<Column>,
    /// Number of rows; below 2^32.
    pub rows: usize,
}

/// The order of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// As they come.
    Generated,
    /// Shuffled, the same for the same seed: few runs are left.
    Random {
        /// Seed of the generator.
        seed: u64,
    },
    /// By these columns (their positions), ascending, the first one first; rows that are equal
    /// there stay as they come.
    By(Vec<usize>),
}

/// The ranks of values by their row, and for each rank a row that has it. Values are in the order
/// of their heads, and where these are equal in that of `compare`: heads stand side by side while
/// they are sorted, which values need not.
pub fn ranks(
    rows: usize,
    head: &dyn Fn(usize) -> u128,
    compare: &dyn Fn(usize, usize) -> Ordering,
) -> (Vec<u32>, Vec<u32>) {
    let mut sorted: Vec<(u128, u32)> =
        (0..rows as u32).map(|row| (head(row as usize), row)).collect();
    let order = |a: &(u128, u32), b: &(u128, u32)| {
        a.0.cmp(&b.0).then_with(|| compare(a.1 as usize, b.1 as usize))
    };
    sorted.sort_unstable_by(order);
    let (mut codes, mut firsts) = (vec![0; rows], Vec::new());
    for (at, row) in sorted.iter().enumerate() {
        if at == 0 || order(&sorted[at - 1], row) != Ordering::Equal {
            firsts.push(row.1);
        }
        codes[row.1 as usize] = firsts.len() as u32 - 1;
    }
    (codes, firsts)
}

/// The head of a text or of bytes: the first of them as a number, in whose order they are as far as
/// it reaches.
pub fn head(bytes: &[u8]) -> u128 {
    let mut head = [0; size_of::<u128>()];
    let taken = bytes.len().min(head.len());
    head[..taken].copy_from_slice(&bytes[..taken]);
    u128::from_be_bytes(head)
}

impl Column {
    /// A column of these ranks.
    pub fn new(
        name: impl Into<String>,
        codes: Vec<u32>,
        distinct: usize,
        value_bytes: f64,
    ) -> Self {
        Self { name: name.into(), codes, distinct, value_bytes }
    }

    /// Estimates the number of different values in a table of which these rows are a sample: Chao's
    /// lower bound from the values that were seen once and twice (Scand. J. Statist. 11, 1984,
    /// 265-270). Exact where these are all rows; at most one for each row.
    pub fn distinct_of_table(&self, table_rows: u64) -> f64 {
        let distinct = self.distinct as f64;
        if self.codes.len() as u64 >= table_rows {
            return distinct;
        }
        let mut counts = vec![0_u32; self.distinct];
        for code in &self.codes {
            counts[*code as usize] += 1;
        }
        let frequency = |times: u32| counts.iter().filter(|count| **count == times).count() as f64;
        let (once, twice) = (frequency(1), frequency(2));
        let unseen = once * (once - 1.0).max(0.0) / (2.0 * (twice + 1.0));
        (distinct + unseen).min(table_rows as f64)
    }

    /// Rows in the order of this column, equal ones as they come: a counting sort.
    fn sort(&self, rows: &[u32]) -> Vec<u32> {
        let mut places = vec![0_u32; self.distinct + 1];
        for row in rows {
            places[self.codes[*row as usize] as usize + 1] += 1;
        }
        for code in 1..places.len() {
            places[code] += places[code - 1];
        }
        let mut sorted = vec![0; rows.len()];
        for row in rows {
            let place = &mut places[self.codes[*row as usize] as usize];
            sorted[*place as usize] = *row;
            *place += 1;
        }
        sorted
    }

    /// Runs of equal values in these rows.
    pub fn runs(&self, rows: &[u32]) -> usize {
        let changes = rows
            .windows(2)
            .filter(|pair| self.codes[pair[0] as usize] != self.codes[pair[1] as usize]);
        changes.count() + usize::from(!rows.is_empty())
    }

    /// The column with these rows alone, and ranks among their values.
    fn of_rows(&self, rows: &[u32]) -> Self {
        let mut rank = vec![0_u32; self.distinct];
        for row in rows {
            rank[self.codes[*row as usize] as usize] = 1;
        }
        let mut distinct = 0;
        for rank in rank.iter_mut().filter(|rank| **rank > 0) {
            *rank = distinct;
            distinct += 1;
        }
        let codes = rows.iter().map(|row| rank[self.codes[*row as usize] as usize]).collect();
        Self {
            name: self.name.clone(),
            codes,
            distinct: distinct as usize,
            value_bytes: self.value_bytes,
        }
    }
}

impl Coded {
    /// The rows in an order.
    pub fn ordered(&self, order: &Order) -> Vec<u32> {
        let mut rows: Vec<u32> = (0..self.rows as u32).collect();
        match order {
            Order::Generated => {}
            Order::Random { seed } => {
                // Fisher and Yates; a remainder of 64 bits is as good as even.
                let mut random = Xoshiro256PlusPlus::seed_from_u64(*seed);
                for last in (1..rows.len()).rev() {
                    rows.swap(last, (random.next_u64() % (last as u64 + 1)) as usize);
                }
            }
            // By the last column first: each sort leaves equal ones as those before it have put
            // them.
            Order::By(columns) => {
                columns.iter().rev().for_each(|at| rows = self.columns[*at].sort(&rows));
            }
        }
        rows
    }

    /// Returns at most `most` of its rows, evenly spread.
    #[must_use]
    pub fn sample(&self, most: usize) -> Self {
        let taken = self.rows.min(most);
        let rows: Vec<u32> = (0..taken).map(|number| (number * self.rows / taken) as u32).collect();
        Self {
            columns: self.columns.iter().map(|column| column.of_rows(&rows)).collect(),
            rows: taken,
        }
    }

    /// The names of an order's columns, as ORDER BY has them.
    pub fn names(&self, columns: &[usize]) -> Vec<&str> {
        columns.iter().map(|at| self.columns[*at].name.as_str()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Coded, Column, Order, head, ranks};
    use std::cmp::Ordering;

    fn coded(columns: &[(&str, &[i64])]) -> Coded {
        let columns: Vec<Column> = columns
            .iter()
            .map(|(name, values)| {
                let (codes, firsts) =
                    ranks(values.len(), &|_| 0, &|a, b| values[a].cmp(&values[b]));
                Column::new(*name, codes, firsts.len(), 8.0)
            })
            .collect();
        Coded { rows: columns[0].codes.len(), columns }
    }

    #[test]
    fn ranks_are_those_of_values_and_rows_stand_for_them() {
        let values = [30, -1, 30, 7];
        let (codes, firsts) = ranks(4, &|_| 0, &|a, b| values[a].cmp(&values[b]));
        assert_eq!(codes, [2, 0, 2, 1]);
        assert_eq!(firsts.iter().map(|row| values[*row as usize]).collect::<Vec<_>>(), [-1, 7, 30]);
        let long = "0123456789abcdef";
        let texts = ["b", "", &format!("{long}b"), long, "b", &format!("{long}a"), "a\0", "a"];
        let (codes, firsts) =
            ranks(texts.len(), &|row| head(texts[row].as_bytes()), &|a, b| texts[a].cmp(texts[b]));
        assert_eq!(codes, [6, 0, 3, 1, 6, 2, 5, 4]);
        assert_eq!(firsts.len(), 7);
        // Heads that are all of the values.
        let (codes, firsts) = ranks(4, &|row| [30, 1, 30, 7][row], &|_, _| Ordering::Equal);
        assert_eq!((codes, firsts.len()), (vec![2, 0, 2, 1], 3));
    }

    #[test]
    fn rows_are_ordered_as_a_stable_sort_of_their_values_does() {
        let a: Vec<i64> = (0..500).map(|row| row * 7919 % 3).collect();
        let b: Vec<i64> = (0..500).map(|row| row * 104_729 % 11).collect();
        let table = coded(&[("a", &a), ("b", &b)]);
        let mut expected: Vec<u32> = (0..500).collect();
        expected.sort_by_key(|row| (b[*row as usize], a[*row as usize]));
        assert_eq!(table.ordered(&Order::By(vec![1, 0])), expected);
        assert_eq!(table.ordered(&Order::Generated), (0..500).collect::<Vec<u32>>());
        let mut shuffled = table.ordered(&Order::Random { seed: 1 });
        assert_ne!(shuffled, table.ordered(&Order::Random { seed: 2 }));
        assert_eq!(shuffled, table.ordered(&Order::Random { seed: 1 }));
        shuffled.sort_unstable();
        assert_eq!(shuffled, (0..500).collect::<Vec<u32>>());
    }

    #[test]
    fn runs_are_counted_and_samples_have_ranks_of_their_own() {
        let table = coded(&[("a", &[1, 1, 2, 2, 1, 9])]);
        let column = &table.columns[0];
        assert_eq!((column.runs(&[0, 1, 2, 3, 4, 5]), column.runs(&[0, 1, 4, 2, 3, 5])), (4, 3));
        assert_eq!((column.runs(&[]), column.runs(&[3])), (0, 1));
        let sample = table.sample(3);
        assert_eq!(
            (sample.rows, &sample.columns[0].codes, sample.columns[0].distinct),
            (3, &vec![0, 1, 0], 2)
        );
    }
}
