//! The bulk load of tables that a trial has created.

use super::admin::Admin;
use super::dialect::MariaDialect;
use super::failed_at;
use crate::{Cancel, Dialect as _, EngineError, Fill, Work};

/// Fills an empty table by LOAD DATA LOCAL INFILE. Without checks of uniqueness InnoDB (from 10.6 on) writes the pages of an
/// empty table without undo records (<https://mariadb.com/kb/en/innodb-system-variables/>, `unique_checks`).
pub fn fill(
    admin: &Admin,
    dialect: &MariaDialect,
    work: &Work,
    fill: Fill,
    cancel: &Cancel,
) -> Result<(), EngineError> {
    let table = &work.tables[fill.table];
    let doing = format!("filling table {}", table.name);
    admin.run(&doing, "SET unique_checks = 0, foreign_key_checks = 0")?;
    let (load, mut batches) = (dialect.load(table, &fill.columns), fill.batches);
    admin.ask(|client| {
        let mut text = String::new();
        let loaded = client.load(&load, |out| {
            if cancel.is_cancelled() {
                return Err(EngineError::Cancelled);
            }
            let Some(rows) = batches.next() else { return Ok(false) };
            text.clear();
            rows.write_tab_separated(&mut text);
            out.extend_from_slice(text.as_bytes());
            Ok(true)
        });
        loaded.map_err(failed_at(&doing))?
    })?;
    admin.run(&doing, "SET unique_checks = DEFAULT, foreign_key_checks = DEFAULT")?;
    admin.run(&doing, &format!("ANALYZE TABLE {}", dialect.table(table)))
}
