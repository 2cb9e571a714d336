//! Data sets that stay on a private server from one trial to the next: meanwhile their tables are in a schema of their own.

use super::admin::{Admin, SCHEMA};
use super::failed_at;
use crate::{EngineError, Work};
use observations::fnv1a;
use pgclient::{quote_identifier, quote_literal};

/// So many data sets stay on a server at most; further ones are loaded for each trial.
const KEPT_MAX: usize = 16;

/// How the names of their schemas begin.
const PREFIX: &str = "steelbench_kept_";

/// How long a session of a load may hold a table that is to be put back.
const LOCK_MAX: &str = "10s";

/// The tables of a trial's data set.
pub struct KeptTables {
    schema: String,
    names: Vec<&'static str>,
}

impl KeptTables {
    /// Those of this work, unless it changes them.
    pub fn of(work: &Work) -> Option<Self> {
        let data = work.data.as_ref().filter(|data| !data.changed)?;
        let tables = work.tables.get(..data.tables)?;
        let schema = format!("{PREFIX}{}", fnv1a(&format!("{} {tables:?}", data.identity)));
        Some(Self { schema, names: tables.iter().map(|table| table.name).collect() })
    }

    /// How many tables there are.
    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// Moves the tables to the schema of trials, if they are on the server; says whether they are.
    pub fn take(&self, admin: &Admin) -> Result<bool, EngineError> {
        let count =
            format!("SELECT count(*) FROM pg_tables WHERE schemaname = {}", quote_literal(&self.schema));
        if number(admin, &count)? != self.names.len() {
            return Ok(false);
        }
        self.move_tables(admin, &self.schema, SCHEMA).map(|()| true)
    }

    /// Puts the tables back, unless the server keeps as many data sets as it may.
    pub fn put_back(&self, admin: &Admin) -> Result<(), EngineError> {
        let name = quote_literal(&self.schema);
        let others =
            format!("SELECT count(*) FROM pg_namespace WHERE nspname ^@ '{PREFIX}' AND nspname <> {name}");
        if number(admin, &others)? >= KEPT_MAX {
            return Ok(());
        }
        let schema = format!("CREATE SCHEMA IF NOT EXISTS {}", quote_identifier(&self.schema));
        admin.run("keeping the tables", &schema)?;
        self.move_tables(admin, SCHEMA, &self.schema)
    }

    fn move_tables(&self, admin: &Admin, from: &str, to: &str) -> Result<(), EngineError> {
        let [from, to] = [from, to].map(quote_identifier);
        let alter = |name: &&str| format!("ALTER TABLE {from}.{} SET SCHEMA {to}; ", quote_identifier(name));
        let all: String = self.names.iter().map(alter).collect();
        let moved = admin
            .run("keeping the tables", &format!("BEGIN; SET LOCAL lock_timeout = '{LOCK_MAX}'; {all}COMMIT"));
        moved.inspect_err(|_| {
            // The first error is the one to report.
            let _ = admin.run("keeping the tables", "ROLLBACK");
        })
    }
}

/// The number that answers a question.
fn number(admin: &Admin, sql: &str) -> Result<usize, EngineError> {
    let answer = admin.ask(|client| client.cell(sql).map_err(failed_at("looking for tables")))?;
    Ok(answer.and_then(|number| number.parse().ok()).unwrap_or(0))
}
