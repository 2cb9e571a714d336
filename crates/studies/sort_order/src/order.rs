//! The order that a configuration wants, what it is expected to take, and the rows in it.

use crate::InMemory;
use crate::settings::ORDER;
use crate::{Layout, Order, Prediction, advise, predict};
use engine::{ColumnStore, EngineError, Stored};
use experiment::{Configuration, Invalid};
use observations::{FactFamily, FactName, Observations};
use probe::ProbeError;
use probe::data::DATA_SEED;
use std::sync::Arc;
use work::{DataType, Table};

/// Place of a column in the order, from 1; without such a fact: as generated, or shuffled.
pub(crate) const PLACE_IN_ORDER: FactFamily = FactFamily::new("order_", "");
/// Bytes that a column takes.
pub(crate) const COLUMN_BYTES: FactFamily = FactFamily::new("bytes_", "B");
/// Bytes that a column was expected to take, from some row groups.
pub(crate) const PREDICTED_COLUMN_BYTES: FactFamily = FactFamily::new("predicted_bytes_", "B");
/// Bytes that all columns were expected to take.
pub(crate) const PREDICTED_BYTES: FactName = FactName::new("predicted_bytes", "B");
/// Lower end of its 95 % interval.
pub(crate) const PREDICTED_BYTES_LOW: FactName = FactName::new("predicted_bytes_low", "B");
/// Upper end of its 95 % interval.
pub(crate) const PREDICTED_BYTES_HIGH: FactName = FactName::new("predicted_bytes_high", "B");
/// Row groups that the prediction looked at.
pub(crate) const PREDICTED_GROUPS: FactName = FactName::new("predicted_groups", "");
/// All row groups of the prediction's table.
pub(crate) const PREDICTED_GROUPS_ALL: FactName = FactName::new("predicted_groups_all", "");
/// Row groups of the table.
pub(crate) const ROW_GROUPS: FactName = FactName::new("row_groups", "");
/// Row groups that [`FILTER`](probe::scans::FILTER) does not need to read.
pub(crate) const ROW_GROUPS_SKIPPED: FactName = FactName::new("row_groups_skipped", "");

/// Value of `workload.order`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RowOrder {
    Generated,
    Random,
    By(Vec<&'static str>),
    /// The order at this place of the advice, from 1.
    Advised(usize),
}

/// A text that is not an order of the table's rows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum OrderError {
    /// `advise:0`
    #[error(
        "`{text}` is not a rank of the advice; write advise:1 for the best order, advise:2 for \
         the next"
    )]
    Place {
        /// The text.
        text: String,
    },
    /// The table has no such column, or one that has no order.
    #[error(
        "{}; none, random or advise are orders too",
        experiment::unknown_name(&format!("column of table {table}"), name, known)
    )]
    UnknownColumn {
        /// The table.
        table: &'static str,
        /// The name.
        name: String,
        /// The columns that have an order.
        known: Vec<&'static str>,
    },
    /// A column that is named twice.
    #[error("column {column} is given twice")]
    Twice {
        /// The column.
        column: &'static str,
    },
    /// The advice is shorter.
    #[error("the advice has {known} orders for this table, not {place}")]
    ShortAdvice {
        /// Number of orders.
        known: usize,
        /// The place that was named.
        place: usize,
    },
}

impl RowOrder {
    /// Reads the setting.
    ///
    /// # Errors
    /// When it is not an order of this table.
    pub fn parse(text: &str, table: &Table) -> Result<Self, OrderError> {
        let known: Vec<&'static str> = table
            .columns
            .iter()
            .filter(|column| is_ordered(column.data_type))
            .map(|column| column.name)
            .collect();
        match text.trim() {
            "none" => return Ok(Self::Generated),
            "random" => return Ok(Self::Random),
            "advise" => return Ok(Self::Advised(1)),
            _ => {}
        }
        if let Some(place) = text.trim().strip_prefix("advise:") {
            let place = place.parse().ok().filter(|place| *place > 0);
            return place
                .map(Self::Advised)
                .ok_or_else(|| OrderError::Place { text: text.to_owned() });
        }
        let column = |name: &str| {
            let found = known.iter().find(|candidate| **candidate == name.trim());
            found.copied().ok_or_else(|| OrderError::UnknownColumn {
                table: table.name,
                name: name.trim().to_owned(),
                known: known.clone(),
            })
        };
        let columns = text.split(',').map(column).collect::<Result<Vec<_>, OrderError>>()?;
        match columns.iter().enumerate().find(|(at, name)| columns[..*at].contains(name)) {
            Some((_, column)) => Err(OrderError::Twice { column }),
            None => Ok(Self::By(columns)),
        }
    }
}

/// Rows in an order.
pub(crate) struct RowNumbers {
    /// Their numbers.
    pub rows: Vec<u32>,
    /// The order in words: `l_returnflag, l_shipdate`.
    pub words: String,
    /// Names of the columns that they are sorted by.
    columns: Vec<String>,
    prediction: Prediction,
}

impl RowNumbers {
    /// Orders the rows as a configuration wants.
    pub fn from_settings(
        configuration: &Configuration,
        rows: &Arc<InMemory>,
        table: &Table,
        store: &dyn ColumnStore,
    ) -> Result<Self, ProbeError> {
        let invalid = |error: OrderError| Invalid::new(ORDER.path(), error.to_string());
        let (coded, seed) = (rows.coded(), configuration.get(DATA_SEED));
        let layout =
            Layout { group_rows: store.group_rows(), table_rows: rows.rows() as u64, seed };
        let mut bytes = |some: Vec<u32>| bytes_of(store, table, rows, some);
        let order = match RowOrder::parse(&configuration.get(ORDER), table).map_err(invalid)? {
            RowOrder::Generated => Order::Generated,
            RowOrder::Random => Order::Random { seed },
            RowOrder::By(names) => Order::By(
                names
                    .iter()
                    .filter_map(|name| rows.names().iter().position(|column| column == name))
                    .collect(),
            ),
            RowOrder::Advised(place) => {
                let mut advice = advise(&coded, layout, &mut bytes)?;
                let known = advice.len();
                if place > known {
                    return Err(invalid(OrderError::ShortAdvice { known, place }).into());
                }
                Order::By(advice.swap_remove(place - 1).candidate.columns)
            }
        };
        let columns: Vec<String> = match &order {
            Order::By(columns) => coded.names(columns).into_iter().map(str::to_owned).collect(),
            Order::Generated | Order::Random { .. } => Vec::new(),
        };
        let words = match &order {
            Order::Generated => "as generated".into(),
            Order::Random { .. } => "shuffled".into(),
            Order::By(_) => columns.join(", "),
        };
        let prediction = predict(&coded, &order, layout, &mut bytes)?;
        Ok(Self { rows: coded.ordered(&order), words, columns, prediction })
    }

    /// Adds the order, what was predicted of it and what it takes.
    pub fn add_facts(
        &self,
        observations: &mut Observations,
        stored: &Stored,
        names: &[&'static str],
    ) {
        let facts = &mut observations.facts;
        for (name, place) in self.columns.iter().zip(1..) {
            facts.push(PLACE_IN_ORDER.record(name, f64::from(place)));
        }
        for (name, predicted) in names.iter().zip(&self.prediction.columns) {
            facts.push(COLUMN_BYTES.record(name, stored.bytes(name) as f64));
            facts.push(PREDICTED_COLUMN_BYTES.record(name, *predicted));
        }
        facts.push(PREDICTED_BYTES.record(self.prediction.bytes));
        if let Some(interval) = self.prediction.interval {
            facts.push(PREDICTED_BYTES_LOW.record(interval.low));
            facts.push(PREDICTED_BYTES_HIGH.record(interval.high));
        }
        facts.push(PREDICTED_GROUPS.record(self.prediction.groups as f64));
        facts.push(PREDICTED_GROUPS_ALL.record(self.prediction.groups_all as f64));
        facts.push(ROW_GROUPS.record(stored.groups as f64));
        facts.push(ROW_GROUPS_SKIPPED.record(stored.groups_skipped as f64));
    }
}

/// Returns whether a column can be part of an order: one that only fills pages has no values.
fn is_ordered(data_type: DataType) -> bool {
    !matches!(data_type, DataType::PageFiller { .. })
}

/// A fill of some rows, stored apart.
fn bytes_of(
    store: &dyn ColumnStore,
    table: &Table,
    rows: &Arc<InMemory>,
    some: Vec<u32>,
) -> Result<Vec<Vec<u64>>, EngineError> {
    store.stored_apart(table, rows.fill(some))
}

#[cfg(test)]
mod tests {
    use super::RowOrder;
    use datasets::{DataSet, Size};

    #[test]
    fn orders_are_read_and_what_is_none_is_named() {
        let table = DataSet::new("lineitem", Size::default()).unwrap().tables().remove(0);
        let of = |text: &str| RowOrder::parse(text, &table);
        assert_eq!((of("none"), of("random")), (Ok(RowOrder::Generated), Ok(RowOrder::Random)));
        assert_eq!(
            (of("advise"), of("advise:3")),
            (Ok(RowOrder::Advised(1)), Ok(RowOrder::Advised(3)))
        );
        assert_eq!(of("l_shipdate, l_tax"), Ok(RowOrder::By(vec!["l_shipdate", "l_tax"])));
        for (text, words) in [
            ("advise:0", "is not a rank"),
            ("advise:x", "is not a rank"),
            ("l_shipdat", "l_shipdate"),
            ("l_tax,l_tax", "twice"),
            ("", "none, random or advise"),
        ] {
            let message = of(text).unwrap_err().to_string();
            assert!(message.contains(words), "{text}: {message}");
        }
    }
}
