//! Predicts the size of an order from some of its row groups.

use crate::{Candidate, Coded, Order, candidates};
use observations::Interval;
use observations::order;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use serde::Serialize;
use statistics::t_quantile;
use std::collections::BTreeSet;

/// Row groups that a prediction looks at, at most; half of all where these are fewer.
const GROUPS_MAX: usize = 4;

/// Candidates that are predicted; the others leave more by the model of [`modelled_bytes`].
const PREDICTED_MAX: usize = 8;

/// How a store lays out the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Rows of a row group.
    pub group_rows: usize,
    /// Rows of the whole table, of which the coded ones may be a part.
    pub table_rows: u64,
    /// Chooses the row groups.
    pub seed: u64,
}

/// Expected size of a table's columns in an order: an estimate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Prediction {
    /// Bytes of each column.
    pub columns: Vec<f64>,
    /// All of them together.
    pub bytes: f64,
    /// The 95 % t interval of `bytes`; `None` with fewer than two row groups. It says how much row
    /// groups differ, not what else a store adds.
    pub interval: Option<Interval>,
    /// Row groups that were looked at.
    pub groups: usize,
    /// Row groups of the rows that are known.
    pub groups_all: usize,
}

/// An order that is advised.
#[derive(Debug, Clone, PartialEq)]
pub struct Advice {
    /// The order and what proposes it.
    pub candidate: Candidate,
    /// The expected size.
    pub prediction: Prediction,
}

/// Measures the size of some whole row groups (and the last one): bytes of each column by row
/// group.
pub type Store<'a, E> = dyn FnMut(Vec<u32>) -> Result<Vec<Vec<u64>>, E> + 'a;

/// Predicts an order: its rows are sorted, some row groups chosen at random, and what `store` says
/// they take is scaled to all rows. A ratio estimate with its usual variance (Cochran, "Sampling
/// Techniques", 1977, section 6.3), row groups being the clusters; the few of a small table count
/// as a finite population.
///
/// # Errors
/// Errors of `store`.
pub fn predict<E>(
    table: &Coded,
    order: &Order,
    layout: Layout,
    store: &mut Store<'_, E>,
) -> Result<Prediction, E> {
    let rows = table.ordered(order);
    let groups: Vec<&[u32]> = rows.chunks(layout.group_rows.max(1)).collect();
    let chosen: Vec<&[u32]> =
        chosen(groups.len(), layout.seed).into_iter().map(|number| groups[number]).collect();
    let bytes = if chosen.is_empty() { Vec::new() } else { store(chosen.concat())? };
    let groups_read: Vec<(f64, Vec<u64>)> =
        chosen.iter().map(|group| group.len() as f64).zip(bytes).collect();
    let known_rows: f64 = groups_read.iter().map(|(rows, _)| rows).sum();
    let scale = if known_rows > 0.0 { layout.table_rows as f64 / known_rows } else { 0.0 };
    let columns: Vec<f64> = (0..table.columns.len())
        .map(|at: usize| groups_read.iter().map(|(_, bytes)| bytes[at] as f64).sum::<f64>() * scale)
        .collect();
    let bytes = columns.iter().sum();
    let interval = half_width(&groups_read, groups.len(), layout.table_rows as f64);
    let interval =
        interval.map(|half| Interval { low: f64::max(bytes - half, 0.0), high: bytes + half });
    Ok(Prediction { columns, bytes, interval, groups: groups_read.len(), groups_all: groups.len() })
}

/// Half the width of the interval of all bytes.
fn half_width(groups_read: &[(f64, Vec<u64>)], groups_all: usize, table_rows: f64) -> Option<f64> {
    let df = groups_read.len().checked_sub(1).filter(|df| *df > 0)? as f64;
    let total = |bytes: &[u64]| bytes.iter().sum::<u64>() as f64;
    let rows: f64 = groups_read.iter().map(|(rows, _)| rows).sum();
    let each = groups_read.iter().map(|(_, bytes)| total(bytes)).sum::<f64>() / rows;
    let squares: f64 =
        groups_read.iter().map(|(rows, bytes)| (total(bytes) - each * rows).powi(2)).sum();
    let (number, left) =
        (groups_read.len() as f64, 1.0 - groups_read.len() as f64 / groups_all as f64);
    let of_mean = (left * squares / df / number).sqrt();
    Some(t_quantile(0.025, df) * of_mean * table_rows / (rows / number))
}

/// The numbers of the row groups that are looked at.
fn chosen(groups: usize, seed: u64) -> BTreeSet<usize> {
    let groups_wanted = GROUPS_MAX.min(groups.div_ceil(2));
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut chosen = BTreeSet::new();
    while chosen.len() < groups_wanted {
        chosen.insert((random.next_u64() % groups as u64) as usize);
    }
    chosen
}

/// Orders in the order of their predicted bytes: those of [`candidates`] that take least by a model
/// are predicted.
///
/// # Errors
/// Errors of `store`.
pub fn advise<E>(
    table: &Coded,
    layout: Layout,
    store: &mut Store<'_, E>,
) -> Result<Vec<Advice>, E> {
    let mut modelled: Vec<(f64, Candidate)> = candidates(table, layout.table_rows)
        .into_iter()
        .map(|candidate| (modelled_bytes(table, &candidate, layout), candidate))
        .collect();
    order::smallest_first(&mut modelled, &|row| row.0);
    modelled.truncate(PREDICTED_MAX);
    let mut advice = Vec::new();
    for (_, candidate) in modelled {
        let prediction = predict(table, &Order::By(candidate.columns.clone()), layout, store)?;
        advice.push(Advice { candidate, prediction });
    }
    order::smallest_first(&mut advice, &|row| row.prediction.bytes);
    Ok(advice)
}

/// Bytes of one row group of an order by a model of what column stores do: the least of plain
/// values, ranks of bit-packed width with a dictionary of their values, and runs (a value or rank
/// and a length). Only for choosing what is predicted.
fn modelled_bytes(table: &Coded, candidate: &Candidate, layout: Layout) -> f64 {
    let rows = table.ordered(&Order::By(candidate.columns.clone()));
    let groups: Vec<&[u32]> = rows.chunks(layout.group_rows.max(1)).collect();
    let group = chosen(groups.len(), layout.seed).first().map_or(&[][..], |number| groups[*number]);
    table
        .columns
        .iter()
        .map(|column| {
            let mut codes: Vec<u32> = group.iter().map(|row| column.codes[*row as usize]).collect();
            codes.sort_unstable();
            codes.dedup();
            let rank_bytes =
                f64::from((codes.len().max(1) as u32).next_power_of_two().trailing_zeros()) / 8.0;
            let (values, dictionary) =
                (group.len() as f64, codes.len() as f64 * column.value_bytes);
            let runs = column.runs(group) as f64;
            let coded =
                dictionary + f64::min(values * rank_bytes, runs * (rank_bytes + RUN_LENGTH_BYTES));
            coded
                .min(values * column.value_bytes)
                .min(runs * (column.value_bytes + RUN_LENGTH_BYTES))
        })
        .sum()
}

/// Bytes of a run's length: 2 in `DuckDB`, 1 or 2 in Parquet.
const RUN_LENGTH_BYTES: f64 = 2.0;

#[cfg(test)]
mod tests {
    use super::{Layout, advise, half_width, predict};
    use crate::{Coded, Column, Order};

    /// Rows with a column that takes a byte for each run, and one that takes a byte for each row.
    fn table(rows: usize) -> Coded {
        let codes =
            |divisor: usize, of: usize| (0..rows).map(|row| (row / divisor % of) as u32).collect();
        let columns = vec![
            Column::new("run", codes(1, 5), 5, 1.0),
            Column::new("row", codes(1, rows), rows, 1.0),
        ];
        Coded { columns, rows }
    }

    fn layout(rows: usize) -> Layout {
        Layout { group_rows: 100, table_rows: rows as u64, seed: 1 }
    }

    fn run_bytes(table: &Coded) -> impl FnMut(Vec<u32>) -> Result<Vec<Vec<u64>>, ()> + '_ {
        |rows| {
            Ok(rows
                .chunks(100)
                .map(|rows: &[u32]| {
                    table.columns.iter().map(|column| column.runs(rows) as u64).collect()
                })
                .collect())
        }
    }

    #[test]
    fn bytes_of_some_row_groups_are_scaled_to_all_rows() {
        let table = table(1000);
        let mut store = run_bytes(&table);
        let generated = predict(&table, &Order::Generated, layout(1000), &mut store).unwrap();
        assert_eq!((generated.groups, generated.groups_all), (4, 10));
        assert_eq!((generated.columns, generated.bytes), (vec![1000.0, 1000.0], 2000.0));
        // Of 5 runs over 10 row groups each group has one value.
        let sorted = predict(&table, &Order::By(vec![0]), layout(1000), &mut store).unwrap();
        assert_eq!(sorted.columns, [10.0, 1000.0]);
        let interval = sorted.interval.unwrap();
        assert_eq!((interval.low, interval.high), (1010.0, 1010.0));
        // Rows that are a tenth of a table.
        let part = Layout { table_rows: 10_000, ..layout(1000) };
        let scaled = predict(&table, &Order::By(vec![0]), part, &mut store).unwrap();
        assert_eq!(scaled.columns, [100.0, 10_000.0]);
        assert_eq!(advise(&table, layout(1000), &mut store).unwrap()[0].candidate.columns, [0]);
    }

    /// By hand: totals 10, 20 and 30 of 3 of 6 groups of 1 row have a standard deviation of 10;
    /// t(0.975, 2) = 4.3027; 4.3027 x 10 / sqrt(3) x sqrt(1 - 3/6) x 6 rows = 105.39.
    #[test]
    fn the_interval_is_that_of_a_ratio_estimate() {
        let groups_read = [10, 20, 30].map(|bytes| (1.0, vec![bytes]));
        assert!((half_width(&groups_read, 6, 6.0).unwrap() - 105.39).abs() < 0.01);
        assert_eq!(half_width(&groups_read, 3, 3.0), Some(0.0));
        assert_eq!(half_width(&groups_read[..1], 3, 3.0), None);
    }

    #[test]
    fn an_empty_table_takes_nothing() {
        let table = table(0);
        let none = predict(&table, &Order::Generated, layout(0), &mut run_bytes(&table)).unwrap();
        assert_eq!((none.bytes, none.groups, none.interval), (0.0, 0, None));
        assert!(advise(&table, layout(0), &mut run_bytes(&table)).unwrap().is_empty());
    }
}
