//! The search for fractions with minimum aberration.
//!
//! A fraction in `2^k` runs is a set of columns of the full table of `2^k - 1` columns. Every
//! fraction of `n` factors holds one of `n - 1`, so that the fractions of each number of factors
//! are those of one fewer, extended by one column. Fractions that differ only in the names of
//! their factors are one class; of each class the first set of columns stays. Source: J. Chen,
//! D. X. Sun and C. F. J. Wu, International Statistical Review 61 (1993).

use std::cmp::Ordering;
use std::collections::BTreeSet;

/// Classes that are extended at each number of factors, those with the least aberration first. In
/// up to 32 runs hardly any number of factors has more; in 64 runs the tests compare the result
/// with published word lengths.
const CLASSES_MAX: usize = 48;
/// Classes that are extended for more factors than half the runs, where all fractions have words of
/// length 3 and few classes differ.
const CLASSES_OF_MANY_MAX: usize = 8;
/// Longest words that are counted: longer ones never decided between two fractions.
pub(crate) const LENGTH_MAX: usize = 10;

/// Numbers of words by length, from 0 on.
pub(crate) type Lengths = [u32; LENGTH_MAX + 1];

/// A class of fractions by one of its members.
#[derive(Debug, Clone)]
pub struct Class {
    /// Columns in ascending order, the independent ones (1, 2, 4, ...) among them.
    pub columns: Vec<u32>,
    /// The word lengths.
    pub lengths: Lengths,
}

/// The full table of columns.
struct Table {
    /// For each run the columns in which it is low, a bit each.
    runs: Vec<u64>,
    /// Krawtchouk polynomials by number of factors and of low ones.
    polynomials: Vec<Vec<[f64; LENGTH_MAX + 1]>>,
}

impl Table {
    fn new(base: u32) -> Self {
        let runs = (0_u32..1 << base)
            .map(|run| {
                (1_u32..1 << base)
                    .filter(|column| (column & run).count_ones() % 2 == 1)
                    .fold(0_u64, |bits, column| bits | 1 << column)
            })
            .collect();
        let polynomials = (0..1_usize << base)
            .map(|factors| (0..=factors).map(|low| krawtchouk(factors, low)).collect())
            .collect();
        Self { runs, polynomials }
    }

    /// Counts the words of the defining relation by length (`MacWilliams`' identity): from how many
    /// factors are low in how many runs.
    fn lengths(&self, columns: u64) -> Lengths {
        let factors = columns.count_ones() as usize;
        let mut runs_by_low = [0_u32; 64];
        for low in &self.runs {
            runs_by_low[(low & columns).count_ones() as usize] += 1;
        }
        let mut lengths = [0; LENGTH_MAX + 1];
        let mut sums = [0.0_f64; LENGTH_MAX + 1];
        for (low, runs) in runs_by_low.iter().enumerate().take(factors + 1) {
            if *runs > 0 {
                for (sum, value) in sums.iter_mut().zip(self.polynomials[factors][low]) {
                    *sum += f64::from(*runs) * value;
                }
            }
        }
        for (length, sum) in lengths.iter_mut().zip(sums) {
            *length = (sum / self.runs.len() as f64).round() as u32;
        }
        lengths
    }

    /// The word lengths that are left without each of the factors, which tell classes apart.
    fn without_each(&self, columns: u64) -> Vec<Lengths> {
        let index = (1..64).filter(|column| columns >> column & 1 == 1);
        let mut all: Vec<Lengths> =
            index.map(|column| self.lengths(columns & !(1 << column))).collect();
        all.sort_unstable();
        all
    }
}

/// Krawtchouk polynomials of `low` for `factors`, by recursion; exact, as all are integers below
/// 2^53.
fn krawtchouk(factors: usize, low: usize) -> [f64; LENGTH_MAX + 1] {
    let (n, w) = (factors as f64, low as f64);
    let mut values = [0.0; LENGTH_MAX + 1];
    values[0] = 1.0;
    values[1] = n - 2.0 * w;
    for j in 1..LENGTH_MAX {
        let order = j as f64;
        let next = (n - 2.0 * w) * values[j] - (n - order + 1.0) * values[j - 1];
        values[j + 1] = (next / (order + 1.0)).round();
    }
    values
}

/// The word lengths of a fraction.
pub fn lengths(base: u32, columns: &[u32]) -> Lengths {
    Table::new(base).lengths(bits(columns))
}

/// The classes of fractions of `factors` in `2^base` runs, the least aberration first.
pub fn classes(base: u32, factors: usize) -> Vec<Class> {
    let table = Table::new(base);
    let basic: Vec<u32> = (0..base).map(|bit| 1 << bit).collect();
    let mut classes = vec![Class { lengths: table.lengths(bits(&basic)), columns: basic }];
    let classes_max = if factors > 1 << (base - 1) { CLASSES_OF_MANY_MAX } else { CLASSES_MAX };
    for _ in base as usize..factors {
        classes = extended(&table, base, &classes, classes_max);
    }
    classes
}

fn extended(table: &Table, base: u32, classes: &[Class], classes_max: usize) -> Vec<Class> {
    let mut candidates: Vec<Class> = Vec::new();
    for class in classes {
        for column in (1..1_u32 << base).filter(|column| !class.columns.contains(column)) {
            let mut columns = class.columns.clone();
            columns.push(column);
            columns.sort_unstable();
            candidates.push(Class { lengths: table.lengths(bits(&columns)), columns });
        }
    }
    candidates.sort_by(by_aberration);
    candidates.dedup_by(|candidate, other| candidate.columns == other.columns);
    let mut known = BTreeSet::new();
    let mut kept = Vec::new();
    for candidate in candidates {
        if kept.len() == classes_max {
            break;
        }
        if known.insert((candidate.lengths, table.without_each(bits(&candidate.columns)))) {
            kept.push(candidate);
        }
    }
    kept
}

/// Fewer short words first; of equal ones the first set of columns.
fn by_aberration(class: &Class, other: &Class) -> Ordering {
    class.lengths.cmp(&other.lengths).then_with(|| class.columns.cmp(&other.columns))
}

fn bits(columns: &[u32]) -> u64 {
    columns.iter().fold(0, |bits, column| bits | 1 << column)
}
