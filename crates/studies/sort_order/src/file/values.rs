//! The values of a column of any physical type: ranked, and written again by their ranks.

use crate::{Column, head, ranks};
use parquet_files::{Cells, ColumnTarget, ParquetError, Values};
use std::cmp::Ordering;

/// Ranks the values of a column.
pub fn coded(cells: Cells, name: &str) -> (Column, Distinct) {
    let Cells { values, present, bytes } = cells;
    let value_bytes = bytes as f64 / values.len().max(1) as f64;
    let (codes, firsts) =
        ranks(values.len(), &|row| head_of(&values, row), &|a, b| match &values {
            Values::Bytes(values) => values[a].data().cmp(values[b].data()),
            Values::FixedBytes(values) => values[a].data().cmp(values[b].data()),
            // The head is all of it.
            _ => Ordering::Equal,
        });
    let has_null = present.as_ref().is_some_and(|present| present.contains(&0));
    let codes = match &present {
        Some(present) if has_null => {
            // NULL comes first.
            let mut next = codes.into_iter();
            let code = |present: &i16| {
                if *present == 0 { 0 } else { next.next().map_or(0, |code| code + 1) }
            };
            present.iter().map(code).collect()
        }
        _ => codes,
    };
    let column = Column::new(name, codes, firsts.len() + usize::from(has_null), value_bytes);
    let values = values.gather(&firsts).detached();
    (column, Distinct { values, is_nullable: present.is_some(), has_null })
}

/// A number in whose order values are as far as it reaches; their total order, by which equal
/// values meet, begins with it.
fn head_of(values: &Values, row: usize) -> u128 {
    let signed = |number: i64| number.cast_unsigned() ^ (1 << 63);
    match values {
        Values::Bool(values) => values[row].into(),
        Values::Int32(values) => signed(values[row].into()).into(),
        Values::Int64(values) => signed(values[row]).into(),
        Values::Int96(values) => {
            // The day, after the nanoseconds of the day.
            let &[low, high, day] = values[row].data() else { return 0 };
            let nanoseconds = u64::from(high) << 32 | u64::from(low);
            u128::from(day ^ (1 << 31)) << 64 | u128::from(signed(nanoseconds.cast_signed()))
        }
        // As `total_cmp` orders: the bits of a negative number fall as the number rises.
        Values::Float(values) => {
            let bits = values[row].to_bits();
            (if bits >> 31 == 1 { !bits } else { bits | 1 << 31 }).into()
        }
        Values::Double(values) => {
            let bits = values[row].to_bits();
            (if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }).into()
        }
        Values::Bytes(values) => head(values[row].data()),
        Values::FixedBytes(values) => head(values[row].data()),
    }
}

/// The different values of a column in their order, by which ranks are written; with NULL, ranks
/// begin one higher.
pub struct Distinct {
    values: Values,
    is_nullable: bool,
    has_null: bool,
}

impl Distinct {
    /// Writes values of these ranks.
    pub fn write(&self, codes: &[u32], target: &mut ColumnTarget<'_>) -> Result<(), ParquetError> {
        let first = u32::from(self.has_null);
        let present: Vec<i16> = codes.iter().map(|code| i16::from(*code >= first)).collect();
        let positions: Vec<u32> = codes.iter().filter_map(|code| code.checked_sub(first)).collect();
        target.write(&self.values.gather(&positions), self.is_nullable.then_some(&present))
    }
}

#[cfg(test)]
mod tests {
    use super::head_of;
    use parquet_files::Values;

    #[test]
    fn heads_of_numbers_are_in_their_total_order() {
        let floats = [f32::NEG_INFINITY, -2.5, -0.0, 0.0, 1e-30, 2.5, f32::INFINITY, f32::NAN];
        let doubles = floats.map(f64::from).to_vec();
        let each = [
            Values::Bool(vec![false, true]),
            Values::Int32(vec![i32::MIN, -1, 0, 7, i32::MAX]),
            Values::Int64(vec![i64::MIN, -1, 0, 7, i64::MAX]),
            Values::Float(floats.to_vec()),
            Values::Double(doubles),
        ];
        for values in each {
            let heads: Vec<u128> = (0..values.len()).map(|row| head_of(&values, row)).collect();
            assert!(heads.windows(2).all(|pair| pair[0] < pair[1]), "{values:?} {heads:?}");
        }
    }
}
