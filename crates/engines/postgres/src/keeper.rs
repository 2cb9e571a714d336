//! Data sets that stay on a private server: while no trial works on them their tables are in a
//! schema of their own.

use super::admin::{Admin, SCHEMA};
use super::dialect::PostgresDialect;
use super::fill;
use super::server::{PostgresProduct, PrivateServer};
use crate::client::quote_identifier;
use engine::{Dialect, EngineError};
use servers::data_sets::KeptTables;
use servers::private::Keeper;
use work::{Cancel, Fill, Work};

/// The schema of tables that no trial works on.
const SCHEMA_MEANWHILE: &str = "steelbench_kept";

/// The time that a session of a load may hold a table that is to be put back.
const LOCK_MAX: &str = "10s";

/// Loads data sets and gives their tables to a trial.
pub(crate) struct PostgresKeeper<'a> {
    /// The connection of administration of the trial.
    pub admin: &'a Admin,
    /// How the tables are written.
    pub dialect: &'a PostgresDialect,
    /// Stop request of the trial.
    pub cancel: &'a Cancel,
}

impl Keeper<PostgresProduct> for PostgresKeeper<'_> {
    fn dialect(&self) -> &dyn Dialect {
        self.dialect
    }

    fn load(
        &self,
        server: &PrivateServer,
        kept: &KeptTables,
        work: &Work,
        fills: Vec<Fill>,
    ) -> Result<(), EngineError> {
        let admin = Admin::take_schema(&server.config(), self.cancel)?;
        let tables = &work.tables[..kept.count()];
        fill::make(&admin, self.dialect, tables, 0, fills, self.cancel)?;
        put_back(kept, &admin)
    }

    fn move_to(&self, server: &PrivateServer) -> Result<(), EngineError> {
        self.admin.move_to(&server.config())
    }

    fn take(&self, kept: &KeptTables) -> Result<(), EngineError> {
        move_tables(kept, self.admin, SCHEMA_MEANWHILE, SCHEMA)
    }
}

/// Puts the tables back.
pub fn put_back(kept: &KeptTables, admin: &Admin) -> Result<(), EngineError> {
    let schema = format!("CREATE SCHEMA IF NOT EXISTS {}", quote_identifier(SCHEMA_MEANWHILE));
    admin.run("keeping the tables", &schema)?;
    move_tables(kept, admin, SCHEMA, SCHEMA_MEANWHILE)
}

fn move_tables(kept: &KeptTables, admin: &Admin, from: &str, to: &str) -> Result<(), EngineError> {
    let [from, to] = [from, to].map(quote_identifier);
    let tables = kept.tables.iter();
    let all: Vec<String> = tables
        .map(|name| format!("ALTER TABLE {from}.{} SET SCHEMA {to}; ", quote_identifier(name)))
        .collect();
    let moved = admin.run(
        "keeping the tables",
        &format!("BEGIN; SET LOCAL lock_timeout = '{LOCK_MAX}'; {}COMMIT", all.concat()),
    );
    moved.inspect_err(|_| {
        // The first error is the one to report.
        let _ = admin.run("keeping the tables", "ROLLBACK");
    })
}
