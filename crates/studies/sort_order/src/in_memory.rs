//! The rows of a table in memory, so that they can be put into another order.

use crate::{Coded, Column, ranks};
use datasets::BATCH_ROWS;
use engine::EngineError;
use std::cmp::Ordering;
use std::sync::Arc;
use work::{Cancel, Fill, Rows, Table, Values};

/// The rows of a fill, column by column.
pub struct InMemory {
    /// Position of the table, as in the fill.
    table: usize,
    names: Vec<&'static str>,
    columns: Vec<Values>,
    rows: usize,
}

impl InMemory {
    /// Rows at most: numbers of rows are kept in 32 bits.
    pub const ROWS_MAX: u64 = u32::MAX as u64;

    /// Makes all rows of a fill.
    ///
    /// # Errors
    /// When it is asked to stop.
    pub fn load(fill: Fill, cancel: &Cancel) -> Result<Self, EngineError> {
        let mut all = Self { table: fill.table, names: fill.columns, columns: Vec::new(), rows: 0 };
        for rows in fill.batches {
            if cancel.is_cancelled() {
                return Err(EngineError::Cancelled);
            }
            all.rows += rows.count;
            if all.columns.is_empty() {
                all.columns = rows.columns;
            } else {
                all.columns.iter_mut().zip(rows.columns).for_each(|(all, more)| all.append(more));
            }
        }
        Ok(all)
    }

    /// Bytes of memory for the rows of a table, about: values with their ranks.
    pub fn bytes(table: &Table, rows: u64) -> u64 {
        // Texts may be short: a third of what fits, with where each of them ends.
        let texts: u64 = table
            .columns
            .iter()
            .map(|column| match column.data_type {
                work::DataType::Char(most) | work::DataType::Varchar(most) => {
                    8 + u64::from(most) / 3
                }
                _ => 0,
            })
            .sum();
        // One column is sorted at a time, by its heads.
        let sorted = size_of::<(u128, u32)>() as u64;
        rows.saturating_mul(table.row_bytes() + texts + 4 * table.columns.len() as u64 + sorted)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The names of its columns.
    pub fn names(&self) -> &[&'static str] {
        &self.names
    }

    /// The columns as ranks.
    pub fn coded(&self) -> Coded {
        let columns = self.names.iter().zip(&self.columns).map(|(name, values)| {
            let (codes, firsts) = match values {
                // The same in all rows: there is nothing to sort.
                Values::Same(_) | Values::SameText(_) => (vec![0; self.rows], vec![0]),
                values => ranks(self.rows, &|row| head(values, row), &|a, b| match values {
                    Values::Texts(texts) => texts.get(a).cmp(texts.get(b)),
                    // The head is all of it.
                    _ => Ordering::Equal,
                }),
            };
            Column::new(*name, codes, firsts.len(), values.value_bytes())
        });
        Coded { columns: columns.collect(), rows: self.rows }
    }

    /// Some of its rows, in this order.
    pub fn fill(self: &Arc<Self>, rows: Vec<u32>) -> Fill {
        let (memory, mut next) = (self.clone(), 0);
        let batches = std::iter::from_fn(move || {
            let some = &rows[next..rows.len().min(next + BATCH_ROWS)];
            next += some.len();
            (!some.is_empty()).then(|| Rows {
                count: some.len(),
                columns: memory.columns.iter().map(|values| values.gather(some)).collect(),
            })
        });
        Fill::new(self.table, self.names.clone(), batches)
    }
}

/// The head of a value, by which it is sorted.
fn head(values: &Values, row: usize) -> u128 {
    let number = |number: i64| u128::from(number.cast_unsigned() ^ (1 << 63));
    match values {
        Values::Same(_) | Values::SameText(_) => 0,
        Values::Integers(values) | Values::Decimals(values) | Values::Timestamps(values) => {
            number(values[row])
        }
        Values::Dates(values) => number(values[row].into()),
        Values::Uuids(values) => values[row],
        Values::Texts(texts) => crate::head(texts.get(row).as_bytes()),
        // NULL comes first.
        Values::Nullable { .. } => values.present(row).map_or(0, |values| head(values, row)),
    }
}

#[cfg(test)]
mod tests {
    use super::InMemory;
    use crate::Order;
    use datasets::{DataSet, Size};
    use std::sync::Arc;
    use work::Cancel;

    fn lines(fill: work::Fill) -> Vec<String> {
        let mut file = Vec::new();
        datasets::csv(fill, &mut file).unwrap();
        String::from_utf8(file).unwrap().lines().skip(1).map(str::to_owned).collect()
    }

    /// Sorted by text, number and day as their lines would be, and nothing is lost.
    #[test]
    fn rows_are_the_same_in_another_order() {
        let set = DataSet::new("lineitem", Size { scale: 0.001, ..Size::default() }).unwrap();
        let rows = Arc::new(InMemory::load(set.fills().remove(0), &Cancel::new()).unwrap());
        let coded = rows.coded();
        let at = |name: &str| rows.names().iter().position(|column| *column == name).unwrap();
        let key = ["l_shipmode", "l_returnflag", "l_shipdate"].map(at);
        let mut expected = lines(set.fills().remove(0));
        assert_eq!(lines(rows.fill(coded.ordered(&Order::Generated))), expected);
        expected.sort_by_key(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            key.map(|at| cells[at].to_owned())
        });
        assert_eq!(lines(rows.fill(coded.ordered(&Order::By(key.to_vec())))), expected);
        let distinct = |name: &str| coded.columns[at(name)].distinct;
        assert_eq!(
            (distinct("l_returnflag"), distinct("l_shipmode"), distinct("l_linenumber")),
            (3, 7, 7)
        );
        assert!(InMemory::bytes(&set.tables()[0], 6000) > 6000 * 100);
    }
}
