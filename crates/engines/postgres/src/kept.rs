//! Data sets that stay on a private server: while no trial works on them their tables are in a
//! schema of their own.

use super::admin::{Admin, SCHEMA};
use crate::client::quote_identifier;
use engine::EngineError;
use servers::data_sets::KeptTables;

/// The schema of tables that no trial works on.
const SCHEMA_MEANWHILE: &str = "steelbench_kept";

/// How long a session of a load may hold a table that is to be put back.
const LOCK_MAX: &str = "10s";

/// Moves the tables to the schema of trials.
pub fn take(kept: &KeptTables, admin: &Admin) -> Result<(), EngineError> {
    move_tables(kept, admin, SCHEMA_MEANWHILE, SCHEMA)
}

/// Puts the tables back.
pub fn put_back(kept: &KeptTables, admin: &Admin) -> Result<(), EngineError> {
    let schema = format!("CREATE SCHEMA IF NOT EXISTS {}", quote_identifier(SCHEMA_MEANWHILE));
    admin.run("keeping the tables", &schema)?;
    move_tables(kept, admin, SCHEMA, SCHEMA_MEANWHILE)
}

fn move_tables(kept: &KeptTables, admin: &Admin, from: &str, to: &str) -> Result<(), EngineError> {
    let [from, to] = [from, to].map(quote_identifier);
    let alter =
        |name: &&str| format!("ALTER TABLE {from}.{} SET SCHEMA {to}; ", quote_identifier(name));
    let all: String = kept.tables.iter().map(alter).collect();
    let moved = admin.run(
        "keeping the tables",
        &format!("BEGIN; SET LOCAL lock_timeout = '{LOCK_MAX}'; {all}COMMIT"),
    );
    moved.inspect_err(|_| {
        // The first error is the one to report.
        let _ = admin.run("keeping the tables", "ROLLBACK");
    })
}
