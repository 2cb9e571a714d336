//! Writing: a run's plan once, then one transaction for each trial.

use crate::{Result, Store, StoreError, parts};
use observations::{
    ConfigurationRecord, Environment, FactorRecord, Observations, RunRecord, TrialRecord, TrialStatus,
};
use rusqlite::{OptionalExtension, Transaction, TransactionBehavior, params};
use std::slice::from_ref;

/// What is known when a run begins.
#[derive(Debug, Clone, Copy)]
pub struct NewRun<'a> {
    /// The run; its `id` is ignored, the store gives it one.
    pub run: &'a RunRecord,
    /// Factors in the order of the file.
    pub factors: &'a [FactorRecord],
    /// Configurations; trials refer to them by position.
    pub configurations: &'a [ConfigurationRecord],
    /// The environment at the start.
    pub environment: &'a Environment,
}

impl Store {
    /// Records the beginning of a run and returns its number.
    ///
    /// # Errors
    /// `Unrecordable` when the baseline is no configuration; `Full`, `ReadOnly`, `Busy`.
    pub fn begin_run(&mut self, new: &NewRun) -> Result<i64> {
        if new.run.baseline.is_some_and(|baseline| baseline >= new.configurations.len()) {
            let detail = "its baseline is none of its configurations".to_owned();
            return Err(StoreError::Unrecordable { path: self.path().to_owned(), detail });
        }
        self.sql_mut(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let run = insert_run(&transaction, new.run)?;
            insert_environment(&transaction, run, new.environment)?;
            insert_factors(&transaction, run, new.factors)?;
            insert_configurations(&transaction, run, new.configurations)?;
            transaction.commit()?;
            Ok(run)
        })
    }

    /// Records that a run goes on with another version of its file, one that recorded trials do not
    /// depend on: its name, question, source, response and baseline are those of `run` from now on.
    ///
    /// # Errors
    /// `NoRun`; `Full`, `ReadOnly`, `Busy`.
    pub fn update_run(&mut self, id: i64, run: &RunRecord) -> Result<()> {
        self.require_run(id)?;
        self.sql_mut(|connection| {
            connection.execute(
                "UPDATE runs SET name = ?2, question = ?3, source = ?4, response = ?5, baseline = ?6
                 WHERE id = ?1",
                params![id, run.name, run.question, run.source, run.response, run.baseline],
            )?;
            Ok(())
        })
    }

    /// Records that a resumed run goes on in another environment.
    ///
    /// # Errors
    /// `NoRun`; `Full`, `ReadOnly`, `Busy`.
    pub fn add_environment(&mut self, run: i64, environment: &Environment) -> Result<()> {
        self.require_run(run)?;
        self.sql_mut(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            insert_environment(&transaction, run, environment)?;
            transaction.commit()
        })
    }

    /// Records a trial with all its observations in one transaction: when this returns, it is on
    /// disk; when it fails, nothing of it is.
    ///
    /// # Errors
    /// `NoRun`; `Unrecordable` when the run has no such configuration or a count exceeds 2^63;
    /// `Full`, `ReadOnly`, `Busy`.
    pub fn record_trial(&mut self, run: i64, trial: &TrialRecord) -> Result<()> {
        self.require_run(run)?;
        let configuration = self.sql(|connection| {
            let sql = "SELECT id FROM configurations WHERE run = ?1 AND position = ?2";
            connection
                .query_row(sql, params![run, trial.configuration], |row| row.get::<_, i64>(0))
                .optional()
        })?;
        let Some(configuration) = configuration else {
            let detail = format!("run {run} has no configuration {}", trial.configuration);
            return Err(StoreError::Unrecordable { path: self.path().to_owned(), detail });
        };
        self.sql_mut(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            insert_trial(&transaction, run, configuration, trial)?;
            let id = transaction.last_insert_rowid();
            parts::insert(&transaction, id, &trial.hooks)?;
            if let Some(observations) = &trial.observations {
                insert_observations(&transaction, id, observations)?;
            }
            transaction.commit()
        })
    }
}

fn insert_run(transaction: &Transaction, run: &RunRecord) -> rusqlite::Result<i64> {
    transaction.execute(
        "INSERT INTO runs (name, question, source, seed, response, baseline, started_ms, steelbench)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        params![
            run.name,
            run.question,
            run.source,
            run.seed.to_string(),
            run.response,
            run.baseline,
            run.started_ms,
            run.steelbench
        ],
    )?;
    Ok(transaction.last_insert_rowid())
}

fn insert_environment(
    transaction: &Transaction,
    run: i64,
    environment: &Environment,
) -> rusqlite::Result<()> {
    let json = serde_json::to_string(environment)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    transaction.execute(
        "INSERT INTO environments (run, position, json)
         SELECT ?1, count(*), ?2 FROM environments WHERE run = ?1",
        params![run, json],
    )?;
    Ok(())
}

fn insert_factors(transaction: &Transaction, run: i64, factors: &[FactorRecord]) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare(
        "INSERT INTO factors (run, position, name, is_numeric, hard_to_change) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    let mut insert_level = transaction
        .prepare("INSERT INTO levels (factor, position, label, number) VALUES (?1, ?2, ?3, ?4)")?;
    for (position, factor) in factors.iter().enumerate() {
        let numeric = factor.numeric.as_deref();
        if numeric.is_some_and(|numbers| numbers.len() != factor.levels.len()) {
            let message = format!("factor {} has more labels than numbers, or fewer", factor.name);
            return Err(rusqlite::Error::ToSqlConversionFailure(message.into()));
        }
        insert.execute(params![run, position, factor.name, numeric.is_some(), factor.hard_to_change])?;
        let id = transaction.last_insert_rowid();
        for (position, label) in factor.levels.iter().enumerate() {
            let number = numeric.map(|numbers| numbers[position]);
            insert_level.execute(params![id, position, label, number])?;
        }
    }
    Ok(())
}

fn insert_configurations(
    transaction: &Transaction,
    run: i64,
    configurations: &[ConfigurationRecord],
) -> rusqlite::Result<()> {
    let mut insert = transaction
        .prepare("INSERT INTO configurations (run, position, key, label) VALUES (?1, ?2, ?3, ?4)")?;
    let mut insert_level = transaction.prepare(
        "INSERT INTO configuration_levels (configuration, position, factor, level) VALUES (?1, ?2, ?3, ?4)",
    )?;
    let mut insert_setting = transaction
        .prepare("INSERT INTO settings (configuration, position, path, value) VALUES (?1, ?2, ?3, ?4)")?;
    for (position, configuration) in configurations.iter().enumerate() {
        insert.execute(params![run, position, configuration.key, configuration.label])?;
        let id = transaction.last_insert_rowid();
        for (position, level) in configuration.levels.iter().enumerate() {
            insert_level.execute(params![id, position, level.factor, level.level])?;
        }
        for (position, (path, value)) in configuration.settings.iter().enumerate() {
            insert_setting.execute(params![id, position, path, value.to_json()])?;
        }
    }
    Ok(())
}

fn insert_trial(
    transaction: &Transaction,
    run: i64,
    configuration: i64,
    trial: &TrialRecord,
) -> rusqlite::Result<()> {
    let (status, cause) = match &trial.status {
        TrialStatus::Done => ("done", None),
        TrialStatus::Failed { cause } => ("failed", Some(cause)),
    };
    let seen = trial.observations.as_ref();
    transaction.execute(
        "INSERT INTO trials (run, configuration, block, sequence, attempt, started_ms, wall_s, status, cause,
             observed, elapsed_s, connections, work_unit, work_amount, transactions, errors, retries,
             session_s, cpu_s, cpu_user_s, synthetic)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21)",
        params![
            run,
            configuration,
            trial.block,
            trial.sequence,
            trial.attempt,
            trial.started_ms,
            trial.wall_s,
            status,
            cause,
            seen.is_some(),
            seen.map(|seen| seen.elapsed_s),
            seen.map(|seen| seen.connections),
            seen.map(|seen| &seen.work.unit),
            seen.map(|seen| seen.work.amount),
            seen.map(|seen| seen.work.transactions),
            seen.map(|seen| seen.work.errors),
            seen.map(|seen| seen.work.retries),
            seen.map(|seen| seen.time.session_s),
            seen.map(|seen| seen.time.cpu_s),
            seen.and_then(|seen| seen.time.cpu_user_s),
            seen.map(|seen| seen.synthetic),
        ],
    )?;
    Ok(())
}

fn insert_observations(transaction: &Transaction, trial: i64, seen: &Observations) -> rusqlite::Result<()> {
    parts::insert(transaction, trial, &seen.responses)?;
    parts::insert(transaction, trial, &seen.facts)?;
    parts::insert(transaction, trial, &seen.waits)?;
    parts::insert(transaction, trial, &seen.latencies)?;
    parts::insert(transaction, trial, &seen.operations)?;
    parts::insert(transaction, trial, &seen.series)?;
    parts::insert(transaction, trial, from_ref(&seen.load))?;
    parts::insert(transaction, trial, from_ref(&seen.machine))?;
    parts::insert(transaction, trial, &seen.devices)?;
    parts::insert(transaction, trial, seen.profile.as_slice())?;
    parts::insert(transaction, trial, &seen.warnings)
}
