//! Reading: the runs of a file, what a resumed run needs, and whole recordings.

mod trials;

use crate::names::unreadable;
use crate::numbers::real;
use crate::{Result, Store, StoreError};
use observations::{
    ConfigurationRecord, Environment, FactorRecord, LevelRecord, Recording, RunRecord, TrialStatus,
};
use rusqlite::{Connection, Row, params};

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
        self.sql(runs)
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
        self.sql(|connection| plan(connection, record))
    }

    /// A run with everything that it recorded, as of one moment: a run that is being written to
    /// can be read.
    ///
    /// # Errors
    /// `NoRun`, `Damaged`, `Busy`.
    pub fn read(&self, run: i64) -> Result<Recording> {
        // One read transaction, so that a trial that ends meanwhile is in all tables or in none.
        let snapshot = self.sql(Connection::unchecked_transaction)?;
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

fn runs(connection: &Connection) -> rusqlite::Result<Vec<RunRecord>> {
    let sql = "SELECT id, name, question, source, seed, response, baseline, started_ms, steelbench
               FROM runs ORDER BY id";
    connection.prepare(sql)?.query_map([], run)?.collect()
}

fn plan(connection: &Connection, run: RunRecord) -> rusqlite::Result<Recording> {
    Ok(Recording {
        environments: environments(connection, run.id)?,
        factors: factors(connection, run.id)?,
        configurations: configurations(connection, run.id)?,
        trials: Vec::new(),
        run,
    })
}

fn run(row: &Row) -> rusqlite::Result<RunRecord> {
    let seed: String = row.get(4)?;
    Ok(RunRecord {
        id: row.get(0)?,
        name: row.get(1)?,
        question: row.get(2)?,
        source: row.get(3)?,
        seed: seed.parse().map_err(|error: std::num::ParseIntError| unreadable(4, error))?,
        response: row.get(5)?,
        baseline: row.get(6)?,
        started_ms: row.get(7)?,
        steelbench: row.get(8)?,
    })
}

fn environments(connection: &Connection, run: i64) -> rusqlite::Result<Vec<Environment>> {
    let mut query = connection.prepare("SELECT json FROM environments WHERE run = ?1 ORDER BY position")?;
    let environments = query.query_map(params![run], |row| {
        serde_json::from_str(row.get_ref(0)?.as_str()?).map_err(|error| unreadable(0, error))
    })?;
    environments.collect()
}

fn factors(connection: &Connection, run: i64) -> rusqlite::Result<Vec<FactorRecord>> {
    let mut levels =
        connection.prepare("SELECT label, number FROM levels WHERE factor = ?1 ORDER BY position")?;
    let mut query = connection.prepare(
        "SELECT id, name, is_numeric, hard_to_change FROM factors WHERE run = ?1 ORDER BY position",
    )?;
    let factors = query.query_map(params![run], |row| {
        let levels =
            levels.query_map(params![row.get::<_, i64>(0)?], |row| Ok((row.get(0)?, real(row, 1)?)))?;
        let (levels, numbers): (Vec<String>, Vec<f64>) = levels.collect::<rusqlite::Result<_>>()?;
        Ok(FactorRecord {
            name: row.get(1)?,
            levels,
            numeric: row.get::<_, bool>(2)?.then_some(numbers),
            hard_to_change: row.get(3)?,
        })
    })?;
    factors.collect()
}

fn configurations(connection: &Connection, run: i64) -> rusqlite::Result<Vec<ConfigurationRecord>> {
    let mut levels = connection.prepare(
        "SELECT factor, level FROM configuration_levels WHERE configuration = ?1 ORDER BY position",
    )?;
    let mut settings =
        connection.prepare("SELECT path, value FROM settings WHERE configuration = ?1 ORDER BY position")?;
    let mut query =
        connection.prepare("SELECT id, key, label FROM configurations WHERE run = ?1 ORDER BY position")?;
    let configurations = query.query_map(params![run], |row| {
        let id: i64 = row.get(0)?;
        let level = |row: &Row| Ok(LevelRecord { factor: row.get(0)?, level: row.get(1)? });
        let setting = |row: &Row| {
            let value = observations::Value::from_json(row.get_ref(1)?.as_str()?);
            Ok((row.get(0)?, value.map_err(|error| unreadable(1, error))?))
        };
        Ok(ConfigurationRecord {
            key: row.get(1)?,
            label: row.get(2)?,
            levels: levels.query_map(params![id], level)?.collect::<rusqlite::Result<_>>()?,
            settings: settings.query_map(params![id], setting)?.collect::<rusqlite::Result<_>>()?,
        })
    })?;
    configurations.collect()
}
