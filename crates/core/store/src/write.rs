//! Writing: a run's plan once, then one transaction for each trial.

use crate::rows::{
    Field, Level, Owner, RoleOfSetting, Setting, Values, insert, insert_all, unrecordable,
};
use crate::{Result, Store};
use observations::{Environment, FactorRecord, Recording, Roles, TrialRecord};
use rusqlite::{OptionalExtension, Row, Transaction, params};
use std::slice::from_ref;

/// A trial that took fewer seconds may be lost to a power failure just after it: to sync it in full
/// takes about as long as to run it again.
const LOST_S_MAX: f64 = 1.0;

impl Store {
    /// Records the beginning of a run, of which the id is ignored, and returns its number. Trials
    /// refer to the plan's configurations by position. Fails with `Unrecordable` when the
    /// baseline is not a configuration; with `Full`, `ReadOnly`, `Busy`.
    pub fn begin_run(&mut self, plan: &Recording) -> Result<i64> {
        self.write(|transaction| insert_run(transaction, plan))
    }

    /// Records a run that is over, of which the id is ignored, in one transaction, and returns its
    /// number: when this fails, nothing of it is recorded. Fails as [`Store::begin_run`] and
    /// [`Store::record_trial`] do.
    pub fn record_run(&mut self, recording: &Recording) -> Result<i64> {
        self.write_with("EXTRA", |transaction| {
            let run = insert_run(transaction, recording)?;
            for trial in &recording.trials {
                insert_trial(transaction, run, trial)?;
            }
            Ok(run)
        })
    }

    /// Records that a run resumes with another version of its file, in which nothing changed that
    /// recorded trials depend on. From now on name, question, source, response, baseline, margin,
    /// adaptive repeats and label (if there is one) are those of the plan, and its files are the
    /// plan's. Configurations and levels of the plan after those recorded are added: an extension.
    /// Fails with `NoRun`; `Full`, `ReadOnly`, `Busy`.
    pub fn update_run(&mut self, id: i64, plan: &Recording) -> Result<()> {
        self.require_run(id)?;
        let run = &plan.run;
        self.write(|transaction| {
            let mut values = Values::default();
            run.name.write(&mut values)?;
            run.question.write(&mut values)?;
            run.source.write(&mut values)?;
            run.response.write(&mut values)?;
            run.baseline.write(&mut values)?;
            run.adaptive.write(&mut values)?;
            run.equivalence_margin.write(&mut values)?;
            run.label.write(&mut values)?;
            id.write(&mut values)?;
            let sql = "UPDATE runs SET name = ?1, question = ?2, source = ?3, response = ?4, \
                       baseline = ?5, blocks_min = ?6, blocks_max = ?7, blocks_until = ?8, \
                       equivalence_margin = ?9, label = coalesce(?10, label) WHERE id = ?11";
            values.execute(&mut transaction.prepare(sql)?)?;
            transaction.execute("DELETE FROM files WHERE run = ?1", [id])?;
            insert_all(transaction, Owner { column: "run", id }, &plan.files)?;
            add_levels(transaction, id, plan)?;
            insert_configurations(transaction, id, plan)
        })
    }

    /// Records that a resumed run continues in another environment. Fails with `NoRun`; `Full`,
    /// `ReadOnly`, `Busy`.
    pub fn add_environment(&mut self, run: i64, environment: &Environment) -> Result<()> {
        self.require_run(run)?;
        self.write(|transaction| {
            let sql = "SELECT count(*) FROM environments WHERE run = ?1";
            let known: i64 = transaction.query_row(sql, [run], |row| row.get(0))?;
            insert(transaction, &[("run", &run), ("position", &known)], environment)
        })?;
        Ok(())
    }

    /// Records a trial with all its observations in one transaction: when this returns, the end of
    /// the process takes nothing of it, and a power failure nothing of one that took
    /// [`LOST_S_MAX`]; when it fails, nothing of it is recorded. Fails with `NoRun`; `Unrecordable`
    /// when the run has no such configuration or a count exceeds 2^63; `Full`, `ReadOnly`,
    /// `Busy`.
    pub fn record_trial(&mut self, run: i64, trial: &TrialRecord) -> Result<()> {
        self.require_run(run)?;
        let synchronous = if trial.wall_s < LOST_S_MAX { "NORMAL" } else { "EXTRA" };
        self.write_with(synchronous, |transaction| insert_trial(transaction, run, trial))
    }
}

fn insert_run(transaction: &Transaction, plan: &Recording) -> rusqlite::Result<i64> {
    if plan.run.baseline.is_some_and(|baseline| baseline >= plan.configurations.len()) {
        return Err(unrecordable("its baseline is not one of its configurations"));
    }
    let run = insert(transaction, &[("seed", &plan.run.seed.to_string())], &plan.run)?;
    insert_all(transaction, Owner { column: "run", id: run }, &plan.environments)?;
    insert_factors(transaction, run, plan)?;
    insert_configurations(transaction, run, plan)?;
    insert_roles(transaction, run, &plan.roles)?;
    insert_all(transaction, Owner { column: "run", id: run }, &plan.files)?;
    Ok(run)
}

fn insert_trial(transaction: &Transaction, run: i64, trial: &TrialRecord) -> rusqlite::Result<()> {
    let sql = "SELECT id FROM configurations WHERE run = ?1 AND position = ?2";
    let configuration: Option<i64> = transaction
        .prepare_cached(sql)?
        .query_row(params![run, trial.configuration], |row| row.get(0))
        .optional()?;
    let configuration = configuration.ok_or_else(|| {
        unrecordable(format!("run {run} has no configuration {}", trial.configuration))
    })?;
    let id = insert(transaction, &[("run", &run), ("configuration", &configuration)], trial)?;
    let of_trial = Owner { column: "trial", id };
    insert_all(transaction, of_trial, &trial.hooks)?;
    let Some(observations) = &trial.observations else { return Ok(()) };
    insert_all(transaction, of_trial, &observations.responses)?;
    insert_all(transaction, of_trial, &observations.facts)?;
    insert_all(transaction, of_trial, &observations.plans)?;
    insert_all(transaction, of_trial, &observations.waits)?;
    insert_all(transaction, of_trial, &observations.resources)?;
    insert_all(transaction, of_trial, &observations.latencies)?;
    insert_all(transaction, of_trial, &observations.statements)?;
    insert_all(transaction, of_trial, &observations.operations)?;
    insert_all(transaction, of_trial, &observations.series)?;
    insert_all(transaction, of_trial, from_ref(&observations.load))?;
    insert_all(transaction, of_trial, from_ref(&observations.machine))?;
    insert_all(transaction, of_trial, &observations.devices)?;
    insert_all(transaction, of_trial, observations.profile.as_slice())?;
    insert_all(transaction, of_trial, &observations.warnings)
}

fn insert_factors(transaction: &Transaction, run: i64, plan: &Recording) -> rusqlite::Result<()> {
    for (position, factor) in plan.factors.iter().enumerate() {
        let numeric = factor.numeric.as_deref();
        if numeric.is_some_and(|numbers| numbers.len() != factor.levels.len()) {
            let detail =
                format!("factor {} has different numbers of labels and values", factor.name);
            return Err(unrecordable(detail));
        }
        let id = insert(transaction, &[("run", &run), ("position", &position)], factor)?;
        for position in 0..factor.levels.len() {
            insert_level(transaction, id, factor, position)?;
        }
    }
    Ok(())
}

fn insert_level(
    transaction: &Transaction,
    id: i64,
    factor: &FactorRecord,
    position: usize,
) -> rusqlite::Result<()> {
    let level = Level {
        label: factor.levels[position].clone(),
        number: factor.numeric.as_ref().map_or(f64::NAN, |numbers| numbers[position]),
    };
    insert(transaction, &[("factor", &id), ("position", &position)], &level)?;
    Ok(())
}

/// Adds the levels of the plan that follow those recorded.
fn add_levels(transaction: &Transaction, run: i64, plan: &Recording) -> rusqlite::Result<()> {
    for (position, factor) in plan.factors.iter().enumerate() {
        let sql = "SELECT id, (SELECT count(*) FROM levels WHERE factor = factors.id) FROM factors \
                   WHERE run = ?1 AND position = ?2";
        let known = |row: &Row| Ok((row.get::<_, i64>(0)?, row.get::<_, usize>(1)?));
        let (id, known) = transaction.query_row(sql, params![run, position], known)?;
        for position in known..factor.levels.len() {
            insert_level(transaction, id, factor, position)?;
        }
    }
    Ok(())
}

fn insert_roles(transaction: &Transaction, run: i64, roles: &Roles) -> rusqlite::Result<()> {
    let all = roles.iter().map(|(path, role)| RoleOfSetting { path: path.into(), role });
    insert_all(transaction, Owner { column: "run", id: run }, &all.collect::<Vec<_>>())
}

/// Inserts the configurations of the plan that follow those recorded.
fn insert_configurations(
    transaction: &Transaction,
    run: i64,
    plan: &Recording,
) -> rusqlite::Result<()> {
    let sql = "SELECT count(*) FROM configurations WHERE run = ?1";
    let known: usize = transaction.query_row(sql, [run], |row| row.get(0))?;
    for (position, configuration) in plan.configurations.iter().enumerate().skip(known) {
        let id = insert(transaction, &[("run", &run), ("position", &position)], configuration)?;
        insert_all(transaction, Owner { column: "configuration", id }, &configuration.levels)?;
        let settings = configuration.settings.iter();
        let settings =
            settings.map(|(path, value)| Setting { path: path.clone(), value: value.clone() });
        insert_all(
            transaction,
            Owner { column: "configuration", id },
            &settings.collect::<Vec<_>>(),
        )?;
    }
    Ok(())
}
