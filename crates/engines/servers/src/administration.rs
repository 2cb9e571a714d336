//! The connection of administration of a trial, which holds the schema of trials on a server: there
//! tables are made and filled.

use engine::{Dialect, Result};
use work::{Cancel, Fill, Table};

/// Name of the schema of trials.
pub const SCHEMA: &str = "steelbench";

/// Name of the schema of tables that no trial works on.
pub(crate) const KEPT: &str = "steelbench_kept";

/// The purpose of statements that move tables between the two.
pub const KEEPING: &str = "keeping the tables";

/// A connection that holds the schema of trials: made by us, marked as ours, dropped by us.
pub trait Administration: Sized {
    /// The address of a server and the login.
    type Config;

    /// Connects, and takes the schema, emptied, for the life of the connection.
    ///
    /// # Errors
    /// When another run has it, when there is one that we did not make, or when we may not make
    /// one.
    fn take(config: &Self::Config, cancel: &Cancel) -> Result<Self>;
    /// Connects to a private server that has other data now, and takes the schema there, emptied.
    fn move_to(&self, config: &Self::Config) -> Result<()>;
    /// Runs statements.
    fn run(&self, doing: &str, sql: &str) -> Result<()>;
    /// Has the pages of the trial's tables written that are not.
    fn checkpoint(&self) -> Result<()>;
    /// Moves tables from one schema to another, all of them or none.
    fn move_tables(&self, tables: &[&str], from: &str, to: &str) -> Result<()>;

    /// Moves tables to where no trial works on them.
    fn put_back(&self, tables: &[&str]) -> Result<()> {
        self.run(KEEPING, &format!("CREATE SCHEMA IF NOT EXISTS {KEPT}"))?;
        self.move_tables(tables, SCHEMA, KEPT)
    }
}

/// A connection that fills tables.
pub trait BulkLoad: Administration {
    /// How tables are written.
    type Dialect: Dialect;

    /// Fills an empty table.
    fn fill(
        &self,
        dialect: &Self::Dialect,
        table: &Table,
        fill: Fill,
        cancel: &Cancel,
    ) -> Result<()>;
    /// Completes tables once all are there, and filled if any are.
    fn finish(&self, _dialect: &Self::Dialect, _tables: &[Table], _is_filled: bool) -> Result<()> {
        Ok(())
    }

    /// Creates the tables from `first` on, fills them, and does what is left to do then.
    fn make(
        &self,
        dialect: &Self::Dialect,
        tables: &[Table],
        first: usize,
        fills: Vec<Fill>,
        cancel: &Cancel,
    ) -> Result<()> {
        for table in &tables[first..] {
            for statement in dialect.create(table)? {
                self.run("creating the tables", &statement)?;
            }
        }
        let is_filled = !fills.is_empty();
        for fill in fills {
            self.fill(dialect, &tables[fill.table], fill, cancel)?;
        }
        self.finish(dialect, &tables[first..], is_filled)
    }
}
