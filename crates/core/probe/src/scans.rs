//! The load of scans, which several studies drive: its settings, the rows that it reads and the
//! transactions of a connection.

use crate::ProbeError;
use crate::load::{Start, Step, Workload};
use experiment::{Kind, settings};
use work::{DataType, Filter, Request, Statement, Table};

settings! {
    /// Number of connections; each scans the whole table. On an embedded engine each has its own
    /// thread.
    pub CONNECTIONS: u32 =
        "workload.connections", Kind::Count { min: 1, max: 4096 }, "1" => Concurrency;
    /// Scans in the measurement by all connections. Give this or workload.duration.
    pub SCANS: Option<u64> =
        "workload.scans", Kind::Count { min: 1, max: 1_000_000_000 } => Measurement;
    /// Condition on rows: "c2 < 20000000", "l_shipdate < 1995-01-01".
    pub FILTER: Option<String> = "workload.filter", Kind::Text => Operation @Trial;
}

/// A selection of columns or rows that does not fit the table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SelectionError(pub String);

/// Reads a condition on rows: `c2 < 20000000`, `l_shipdate < 1995-01-01`.
///
/// # Errors
/// When it is in another form, or does not fit the table.
pub fn filter(text: &str, table: &Table) -> Result<Filter, SelectionError> {
    let form = |bound: &str| {
        SelectionError(format!(
            "`{text}` is not a condition; write a column, < and {bound}: \"c2 < 20000000\", \
             \"l_shipdate < 1995-01-01\""
        ))
    };
    let either = "a whole number, or a day for a date column";
    let (name, bound) = text.split_once('<').ok_or_else(|| form(either))?;
    let (name, bound) = (column(name.trim(), table)?, bound.trim());
    let bound = match table.column(name).map(|column| column.data_type) {
        Some(DataType::Date) => work::day(bound).map(i64::from).ok_or_else(|| form("a day"))?,
        Some(data_type) if data_type.is_number() => {
            bound.replace('_', "").parse().map_err(|_| form("a whole number"))?
        }
        _ => return Err(SelectionError(format!("{name} is not a column of numbers or dates"))),
    };
    Ok(Filter::Below(name, bound))
}

/// The column with this name.
///
/// # Errors
/// When the table lacks it.
pub fn column(name: &str, table: &Table) -> Result<&'static str, SelectionError> {
    table.column(name).map(|column| column.name).ok_or_else(|| {
        let known: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
        let what = format!("column of table {}", table.name);
        SelectionError(experiment::unknown_name(&what, name, &known))
    })
}

/// Scans, one after the other.
pub struct ScanWorkload {
    operation: usize,
    is_sent: bool,
}

impl ScanWorkload {
    /// Scans by this operation.
    pub fn new(operation: usize) -> Self {
        Self { operation, is_sent: false }
    }
}

impl Workload for ScanWorkload {
    fn start(&mut self, _: u64) -> Start {
        self.is_sent = false;
        Start { kind: 0, units: 1, transactions: 1 }
    }

    fn step(&mut self) -> Result<Step<'_>, ProbeError> {
        if std::mem::replace(&mut self.is_sent, true) {
            return Ok(Step::End);
        }
        let statement = Statement::Operation(self.operation);
        Ok(Step::Request(Request::Execute { statement, parameters: &[], results: false }))
    }

    fn restart(&mut self) {
        self.is_sent = false;
    }
}
