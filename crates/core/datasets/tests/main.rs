//! Compares the data sets of TPC-H and TPC-DS with other implementations.
#![allow(clippy::unwrap_used, reason = "a test")]

mod dbgen;
mod dsdgen;

use std::ops::Range;
use work::Values;

/// Adds the values of a column that are not NULL to what the reference has of it: their number and
/// their sum, or of texts the sums of their lengths and of their first characters.
fn add(sums: &mut Vec<i64>, values: &Values, rows: Range<usize>) {
    let present: Vec<usize> = rows.filter(|row| values.present(*row).is_some()).collect();
    let count = present.len() as i64;
    let values = if let Values::Nullable { values, .. } = values { values } else { values };
    let more = match values {
        Values::Integers(numbers) | Values::Decimals(numbers) => {
            vec![present.iter().map(|row| numbers[*row]).sum()]
        }
        Values::Dates(days) => vec![present.iter().map(|row| i64::from(days[*row])).sum()],
        Values::Texts(texts) => {
            let (mut lengths, mut firsts) = (0, 0);
            for text in present.iter().map(|row| texts.get(*row)) {
                lengths += text.chars().count() as i64;
                firsts += text.chars().next().map_or(0, |first| i64::from(first as u32));
            }
            vec![lengths, firsts]
        }
        other => panic!("{other:?}"),
    };
    sums.resize(more.len() + 1, 0);
    sums[0] += count;
    sums[1..].iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}
