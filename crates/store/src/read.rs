//! Reading: the runs of a file, what a resumed run needs, and whole recordings.

mod plan;
mod trials;

use crate::{Result, Store, StoreError};
use observations::{Recording, RunRecord, TrialStatus};
use rusqlite::params;

/// What resuming and estimating need to know of a trial.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedTrial {
    /// Position of its configuration.
    pub configuration: usize,
    /// Block, from 1.
    pub block: u32,
    /// Position in the planned order, from 1.
    pub sequence: u32,
    /// 1 for the first try.
    pub attempt: u32,
    /// Done or failed.
    pub status: TrialStatus,
    /// Seconds of the whole trial.
    pub wall_s: f64,
}

impl Store {
    /// All runs, oldest first.
    ///
    /// # Errors
    /// `Damaged`, `Busy`.
    pub fn runs(&self) -> Result<Vec<RunRecord>> {
        self.sql(plan::runs)
    }

    /// The run that began last, if any.
    ///
    /// # Errors
    /// `Damaged`, `Busy`.
    pub fn latest_run(&self) -> Result<Option<RunRecord>> {
        Ok(self.runs()?.pop())
    }

    /// The trials of a run in the order in which they ended, without what they saw.
    ///
    /// # Errors
    /// `NoRun`, `Damaged`, `Busy`.
    pub fn recorded_trials(&self, run: i64) -> Result<Vec<RecordedTrial>> {
        self.require_run(run)?;
        self.sql(|connection| trials::recorded(connection, run))
    }

    /// A run without its trials: factors, configurations, environments.
    ///
    /// # Errors
    /// `NoRun`, `Damaged`, `Busy`.
    pub fn read_plan(&self, run: i64) -> Result<Recording> {
        let record = self.runs()?.into_iter().find(|record| record.id == run);
        let record = record.ok_or_else(|| StoreError::NoRun { path: self.path().to_owned(), run })?;
        self.sql(|connection| plan::read(connection, record))
    }

    /// A run with everything that it recorded, as of one moment: a run that is being written to
    /// can be read.
    ///
    /// # Errors
    /// `NoRun`, `Damaged`, `Busy`.
    pub fn read(&self, run: i64) -> Result<Recording> {
        // One read transaction, so that a trial that ends meanwhile is in all tables or in none.
        let snapshot = self.sql(rusqlite::Connection::unchecked_transaction)?;
        let mut recording = self.read_plan(run)?;
        recording.trials = self.sql(|connection| trials::read(connection, run))?;
        self.sql(|_| snapshot.commit())?;
        Ok(recording)
    }

    /// The run that began last with everything that it recorded, if there is one.
    ///
    /// # Errors
    /// `Damaged`, `Busy`.
    pub fn read_latest(&self) -> Result<Option<Recording>> {
        self.latest_run()?.map(|record| self.read(record.id)).transpose()
    }

    /// Refuses a run that the file does not have.
    pub(crate) fn require_run(&self, run: i64) -> Result<()> {
        let exists = self.sql(|connection| {
            connection.query_row("SELECT count(*) FROM runs WHERE id = ?1", params![run], |row| {
                row.get::<_, i64>(0)
            })
        })?;
        if exists == 0 { Err(StoreError::NoRun { path: self.path().to_owned(), run }) } else { Ok(()) }
    }
}
