//! The bulk load of tables that a trial has created.

use super::admin::Admin;
use super::dialect::PostgresDialect;
use super::failed_at;
use crate::{Cancel, Dialect as _, EngineError, Fill, Work};

/// Fills a table by COPY of rows that are frozen at once, for which the same transaction must have emptied it.
pub fn fill(
    admin: &Admin,
    dialect: &PostgresDialect,
    work: &Work,
    fill: Fill,
    cancel: &Cancel,
) -> Result<(), EngineError> {
    let table = &work.tables[fill.table];
    let doing = format!("filling table {}", table.name);
    let failed = |error| failed_at(&doing)(error);
    admin.run(&doing, &format!("BEGIN; TRUNCATE {}", dialect.table(table)))?;
    admin.ask(|admin| {
        let copy = dialect.copy(table, &fill.columns, "FREEZE ON");
        let mut copy = admin.copy_in(&copy).map_err(failed)?;
        let mut text = String::new();
        for rows in fill.batches {
            text.clear();
            rows.write_tab_separated(&mut text);
            copy.write(text.as_bytes()).map_err(failed)?;
            if cancel.is_cancelled() {
                return Err(EngineError::Cancelled);
            }
        }
        copy.finish().map(|_| ()).map_err(failed)
    })?;
    admin.run(&doing, "COMMIT")
}
