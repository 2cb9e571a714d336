//! Data sets that stay on a private server: while no trial works on them their tables are in a
//! database of their own.

use super::admin::{Admin, DATABASE};
use super::dialect::MariaDialect;
use super::fill;
use super::server::{MariaProduct, PrivateServer};
use crate::client::quote_identifier;
use engine::{Dialect, EngineError};
use servers::data_sets::KeptTables;
use servers::private::Keeper;
use work::{Cancel, Fill, Work};

/// The database of tables that no trial works on.
const DATABASE_MEANWHILE: &str = "steelbench_kept";

/// The seconds that a session of a load may hold a table that is to be put back.
const LOCK_MAX_S: u32 = 10;

/// Loads data sets and gives their tables to a trial.
pub(crate) struct MariaKeeper<'a> {
    /// The connection of administration of the trial.
    pub admin: &'a Admin,
    /// How the tables are written.
    pub dialect: &'a MariaDialect,
    /// Stop request of the trial.
    pub cancel: &'a Cancel,
}

impl Keeper<MariaProduct> for MariaKeeper<'_> {
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
        let admin = Admin::take_database(&server.config(), self.cancel)?;
        let tables = &work.tables[..kept.count()];
        fill::make(&admin, self.dialect, tables, 0, fills, self.cancel)?;
        put_back(kept, &admin)
    }

    fn move_to(&self, server: &PrivateServer) -> Result<(), EngineError> {
        self.admin.move_to(&server.config())
    }

    fn take(&self, kept: &KeptTables) -> Result<(), EngineError> {
        move_tables(kept, self.admin, DATABASE_MEANWHILE, DATABASE)
    }
}

/// Puts the tables back.
pub fn put_back(kept: &KeptTables, admin: &Admin) -> Result<(), EngineError> {
    let database =
        format!("CREATE DATABASE IF NOT EXISTS {}", quote_identifier(DATABASE_MEANWHILE));
    admin.run("keeping the tables", &database)?;
    move_tables(kept, admin, DATABASE, DATABASE_MEANWHILE)
}

/// All of them or none (<https://mariadb.com/kb/en/rename-table/>).
fn move_tables(kept: &KeptTables, admin: &Admin, from: &str, to: &str) -> Result<(), EngineError> {
    let [from, to] = [from, to].map(quote_identifier);
    let all: Vec<String> = kept
        .tables
        .iter()
        .map(|name| format!("{from}.{0} TO {to}.{0}", quote_identifier(name)))
        .collect();
    let sql = format!(
        "SET lock_wait_timeout = {LOCK_MAX_S}; RENAME TABLE {}; SET lock_wait_timeout = DEFAULT",
        all.join(", ")
    );
    admin.run("keeping the tables", &sql)
}
