//! The load of scans, which several studies drive: its settings and the transactions of a
//! connection.

use crate::ProbeError;
use crate::load::{Start, Step, Workload};
use experiment::{Kind, settings};
use work::{Request, Statement};

settings! {
    /// Number of connections; each scans the whole table. On an embedded engine each has its own
    /// thread.
    pub CONNECTIONS: u32 =
        "workload.connections", Kind::Count { min: 1, max: 4096 }, "1" => Concurrency;
    /// Scans in the measurement by all connections. Give this or workload.duration.
    pub SCANS: Option<u64> =
        "workload.scans", Kind::Count { min: 1, max: 1_000_000_000 } => Measurement;
    /// Aggregates over the rows: count (COUNT(*)), and sum, min, max or avg, each of the first
    /// workload.aggregated_columns columns or of a named column: "sum(c2)".
    pub AGGREGATES: Vec<String> = "workload.aggregates", Kind::TextList, "count" => Operation;
    /// Number of columns for each aggregate without a named column: numeric columns first in table
    /// order, then keys; min and max then use the others.
    pub AGGREGATED_COLUMNS: usize =
        "workload.aggregated_columns", Kind::Count { min: 1, max: 18 }, "1" => Operation;
    /// Condition on rows: "c2 < 20000000", "l_shipdate < 1995-01-01".
    pub FILTER: Option<String> = "workload.filter", Kind::Text => Operation;
    /// Column (or list of columns) to group rows by; the result has one row per group.
    pub GROUP_BY: Vec<String> = "workload.group_by", Kind::TextList => Operation;
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
