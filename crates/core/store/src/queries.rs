//! Statement counters of servers, interval by interval, apart from runs.

use crate::rows::{Owner, insert, insert_all, select};
use crate::{Result, Store};
use observations::QueryInterval;

impl Store {
    /// Records an interval, of which the id is ignored, in one transaction, and returns its number:
    /// the end of the process takes nothing of it, and a power failure the last one at most.
    /// Fails with `Full`, `ReadOnly`, `Busy`.
    pub fn record_queries(&mut self, interval: &QueryInterval) -> Result<i64> {
        self.write(|transaction| {
            let id = insert(transaction, &[], interval)?;
            insert_all(transaction, Owner { column: "interval", id }, &interval.statements)?;
            Ok(id)
        })
    }

    /// All intervals, oldest first, without their statements. Fails with `Damaged`, `Busy`.
    pub fn query_intervals(&self) -> Result<Vec<QueryInterval>> {
        self.sql(|connection| {
            select(
                connection,
                &["id"],
                "ORDER BY from_ms, id",
                [],
                |row, interval: QueryInterval| Ok(QueryInterval { id: row.get(0)?, ..interval }),
            )
        })
    }

    /// Returns the interval with its statements. Fails with `Damaged`, `Busy`.
    pub fn with_statements(&self, interval: QueryInterval) -> Result<QueryInterval> {
        let rest = "WHERE interval = ?1 ORDER BY position";
        let statements = self.sql(|connection| {
            select(connection, &[], rest, [interval.id], |_, row_id| Ok(row_id))
        })?;
        Ok(QueryInterval { statements, ..interval })
    }
}
