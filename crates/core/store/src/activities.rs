//! Observations of servers: written and read whole, apart from runs.

use crate::rows::{insert, select};
use crate::{Fault, Result, Store};
use observations::ActivityRecord;

impl Store {
    /// Records an observation, of which the id is ignored, and returns its number. Fails with
    /// `Full`, `ReadOnly`, `Busy`.
    pub fn record_activity(&mut self, record: &ActivityRecord) -> Result<i64> {
        self.write(|transaction| insert(transaction, &[], record))
    }

    /// Numbers of all observations, oldest first. Fails with `Damaged`, `Busy`.
    pub fn activities(&self) -> Result<Vec<i64>> {
        self.sql(|connection| {
            let mut query = connection.prepare("SELECT id FROM server_activities ORDER BY id")?;
            query.query_map([], |row| row.get(0))?.collect()
        })
    }

    /// An observation. Fails with `NoActivity`, `Damaged`, `Busy`.
    pub fn activity(&self, id: i64) -> Result<ActivityRecord> {
        let found = self.sql(|connection| {
            select(connection, &[], "WHERE id = ?1", [id], |_, record| {
                Ok(ActivityRecord { id, ..record })
            })
        })?;
        let found = found.into_iter().next().ok_or_else(|| self.fault(Fault::NoActivity(id)))?;
        if found.activity.is_consistent() {
            return Ok(found);
        }
        Err(self.fault(Fault::Damaged(format!("observation {id} has impossible counts"))))
    }
}
