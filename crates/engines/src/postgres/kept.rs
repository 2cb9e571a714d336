//! Data sets that stay on a private server: while no trial works on them their tables are in a schema of their own.

use super::admin::{Admin, SCHEMA};
use crate::{EngineError, Work};
use observations::fnv1a;
use pgclient::quote_identifier;

/// The schema of tables that no trial works on.
const SCHEMA_MEANWHILE: &str = "steelbench_kept";

/// How long a session of a load may hold a table that is to be put back.
const LOCK_MAX: &str = "10s";

/// The tables of a trial's data set.
pub struct KeptTables {
    /// A name of the data set: a hash of its identity.
    pub name: String,
    /// All that it follows from.
    pub identity: String,
    /// Whether the trial changes it.
    pub changed: bool,
    tables: Vec<&'static str>,
}

impl KeptTables {
    /// Those of this work.
    pub fn of(work: &Work) -> Option<Self> {
        let data = work.data.as_ref()?;
        let tables = work.tables.get(..data.tables)?;
        let identity = format!("{} {tables:?}", data.identity);
        Some(Self {
            name: fnv1a(&identity),
            identity,
            changed: data.changed,
            tables: tables.iter().map(|table| table.name).collect(),
        })
    }

    /// How many tables there are.
    pub fn count(&self) -> usize {
        self.tables.len()
    }

    /// Moves the tables to the schema of trials.
    pub fn take(&self, admin: &Admin) -> Result<(), EngineError> {
        self.move_tables(admin, SCHEMA_MEANWHILE, SCHEMA)
    }

    /// Puts the tables back.
    pub fn put_back(&self, admin: &Admin) -> Result<(), EngineError> {
        let schema = format!("CREATE SCHEMA IF NOT EXISTS {}", quote_identifier(SCHEMA_MEANWHILE));
        admin.run("keeping the tables", &schema)?;
        self.move_tables(admin, SCHEMA, SCHEMA_MEANWHILE)
    }

    fn move_tables(&self, admin: &Admin, from: &str, to: &str) -> Result<(), EngineError> {
        let [from, to] = [from, to].map(quote_identifier);
        let alter = |name: &&str| format!("ALTER TABLE {from}.{} SET SCHEMA {to}; ", quote_identifier(name));
        let all: String = self.tables.iter().map(alter).collect();
        let moved = admin
            .run("keeping the tables", &format!("BEGIN; SET LOCAL lock_timeout = '{LOCK_MAX}'; {all}COMMIT"));
        moved.inspect_err(|_| {
            // The first error is the one to report.
            let _ = admin.run("keeping the tables", "ROLLBACK");
        })
    }
}
