//! Reading: the runs of a file, what a resumed run needs, and whole recordings.

use crate::rows::{Columns, HISTOGRAM, Level, Record, RoleOfSetting, Setting, select, unreadable};
use crate::{Fault, Result, Store};
use observations::{
    ConfigurationRecord, FactorRecord, Observations, Recording, Roles, RunRecord, TrialRecord,
    range,
};
use rusqlite::Connection;

impl Store {
    /// All runs, oldest first. Fails with `Damaged`, `Busy`.
    pub fn runs(&self) -> Result<Vec<RunRecord>> {
        self.runs_of("ORDER BY id", [])
    }

    /// The run that began last, if any. Fails with `Damaged`, `Busy`.
    pub fn latest_run(&self) -> Result<Option<RunRecord>> {
        Ok(self.runs_of("ORDER BY id DESC LIMIT 1", [])?.pop())
    }

    fn runs_of(&self, rest: &str, parameters: impl rusqlite::Params) -> Result<Vec<RunRecord>> {
        self.sql(|connection| {
            select(connection, &["id", "seed"], rest, parameters, |row, run: RunRecord| {
                let seed = row.get_ref(1)?.as_str()?.parse();
                Ok(RunRecord {
                    id: row.get(0)?,
                    seed: seed.map_err(|error: std::num::ParseIntError| unreadable(1, error))?,
                    equivalence_margin: range::figure(run.equivalence_margin).max(0.0),
                    ..run
                })
            })
        })
    }

    /// The trials of a run in the order in which they ended, without hooks and with little of what
    /// they saw: what resuming and estimating need to know. Fails with `NoRun`, `Damaged`,
    /// `Busy`.
    pub fn recorded_trials(&self, run: i64) -> Result<Vec<TrialRecord>> {
        self.require_run(run)?;
        let mut records = self.sql(|connection| Trials::read(connection, run))?.records;
        records.retain(|trial| trial.block > 0);
        Ok(records)
    }

    /// A run without its trials: factors, configurations, files, environments. Fails with `NoRun`,
    /// `Damaged`, `Busy`.
    pub fn read_plan(&self, run: i64) -> Result<Recording> {
        let record = self.runs_of("WHERE id = ?1", [run])?.pop();
        let record = record.ok_or_else(|| self.fault(Fault::NoRun(run)))?;
        let mut plan = self.sql(|connection| {
            Ok(Recording {
                environments: owned(connection, "run", run)?,
                factors: factors(connection, run)?,
                configurations: configurations(connection, run)?,
                roles: roles(connection, run)?,
                files: owned(connection, "run", run)?,
                run: record,
                ..Recording::default()
            })
        })?;
        if plan.roles.is_empty() {
            plan.roles = self.declared.roles(&plan);
        }
        Ok(plan)
    }

    /// A run with everything that it recorded, as of one moment: a run that is being written to
    /// can be read. Figures that nothing can have measured are unknown. Fails with `NoRun`,
    /// `Damaged`, `Busy`.
    pub fn read(&self, run: i64) -> Result<Recording> {
        self.read_exact(run).map(Recording::in_range)
    }

    /// Reads a run with every bit of its figures, which may not be computed with. Fails likewise.
    pub fn read_exact(&self, run: i64) -> Result<Recording> {
        self.read_with(run, true)
    }

    /// Reads a run without the histograms of latencies: only their count, minimum, mean and
    /// maximum, as texts need. Fails likewise.
    pub fn read_figures(&self, run: i64) -> Result<Recording> {
        self.read_with(run, false).map(Recording::in_range)
    }

    fn read_with(&self, run: i64, histograms: bool) -> Result<Recording> {
        // One read transaction, so that a trial that ends during the read is in all tables or in
        // none.
        let snapshot = self.sql(Connection::unchecked_transaction)?;
        let mut recording = self.read_plan(run)?;
        let all = self.sql(|connection| trials(connection, run, histograms))?;
        (recording.trials, recording.checks) = all.into_iter().partition(|trial| trial.block > 0);
        self.sql(|_| snapshot.commit())?;
        Ok(recording)
    }

    /// Refuses a run that the file does not have.
    pub(crate) fn require_run(&self, run: i64) -> Result<()> {
        let sql = "SELECT count(*) FROM runs WHERE id = ?1";
        let count: i64 =
            self.sql(|connection| connection.query_row(sql, [run], |row| row.get(0)))?;
        if count == 0 { Err(self.fault(Fault::NoRun(run))) } else { Ok(()) }
    }
}

/// The records whose column `owner` has this number, in their order.
fn owned<R: Record>(connection: &Connection, owner: &str, number: i64) -> rusqlite::Result<Vec<R>> {
    let rest = format!("WHERE {owner} = ?1 ORDER BY position");
    select(connection, &[], &rest, [number], |_, record| Ok(record))
}

fn factors(connection: &Connection, run: i64) -> rusqlite::Result<Vec<FactorRecord>> {
    let rest = "WHERE run = ?1 ORDER BY position";
    select(connection, &["id"], rest, [run], |row, mut factor: FactorRecord| {
        for level in owned::<Level>(connection, "factor", row.get(0)?)? {
            factor.levels.push(level.label);
            factor.numeric.iter_mut().for_each(|numbers| numbers.push(level.number));
        }
        factor.numeric.take_if(|numbers| numbers.iter().any(|number| !range::has(*number)));
        Ok(factor)
    })
}

fn roles(connection: &Connection, run: i64) -> rusqlite::Result<Roles> {
    let all = owned::<RoleOfSetting>(connection, "run", run)?;
    Ok(all.into_iter().map(|entry| (entry.path, entry.role)).collect())
}

fn configurations(connection: &Connection, run: i64) -> rusqlite::Result<Vec<ConfigurationRecord>> {
    let rest = "WHERE run = ?1 ORDER BY position";
    let rows = select(connection, &["id"], rest, [run], |row, id| Ok((row.get::<_, i64>(0)?, id)))?;
    let (ids, mut all): (_, Vec<ConfigurationRecord>) = rows.into_iter().unzip();
    let table = ("configuration", "configurations", "position");
    let owners = Owners { connection, run, table, ids, histograms: true };
    owners.each(|at, level| {
        all[at].levels.push(level);
        Ok(())
    })?;
    owners.each(|at, Setting { path, value }| {
        all[at].settings.insert(path, value);
        Ok(())
    })?;
    Ok(all)
}

/// All trials of a run: one ordered query a table, merged by trial, so that the time is linear in
/// the rows.
fn trials(
    connection: &Connection,
    run: i64,
    histograms: bool,
) -> rusqlite::Result<Vec<TrialRecord>> {
    let mut trials = Trials::read(connection, run)?;
    trials.owners.histograms = histograms;
    let records = &mut trials.records;
    trials.owners.each(|at, hook| {
        records[at].hooks.push(hook);
        Ok(())
    })?;
    trials.add_parts(|trial, response| trial.responses.push(response))?;
    trials.add_parts(|trial, fact| trial.facts.push(fact))?;
    trials.add_parts(|trial, plan| trial.plans.push(plan))?;
    trials.add_parts(|trial, wait| trial.waits.push(wait))?;
    trials.add_parts(|trial, resource| trial.resources.push(resource))?;
    trials.add_parts(|trial, latency| trial.latencies.push(latency))?;
    trials.add_parts(|trial, statement| trial.statements.push(statement))?;
    trials.add_parts(|trial, operation| trial.operations.push(operation))?;
    trials.add_parts(|trial, series| trial.series.push(series))?;
    trials.add_parts(|trial, load| trial.load = load)?;
    trials.add_parts(|trial, machine| trial.machine = machine)?;
    trials.add_parts(|trial, device| trial.devices.push(device))?;
    trials.add_parts(|trial, profile| trial.profile = Some(profile))?;
    trials.add_parts(|trial, warning| trial.warnings.push(warning))?;
    Ok(trials.records)
}

/// The trials of a run while their parts are added, table by table.
struct Trials<'a> {
    owners: Owners<'a>,
    records: Vec<TrialRecord>,
}

impl<'a> Trials<'a> {
    fn read(connection: &'a Connection, run: i64) -> rusqlite::Result<Self> {
        let rest = "JOIN configurations c ON c.id = configuration WHERE trials.run = ?1 ORDER BY \
                    trials.id";
        let rows = select(
            connection,
            &["trials.id", "c.position"],
            rest,
            [run],
            |row: &rusqlite::Row, trial: TrialRecord| {
                Ok((row.get::<_, i64>(0)?, TrialRecord { configuration: row.get(1)?, ..trial }))
            },
        )?;
        let (ids, records) = rows.into_iter().unzip();
        let table = ("trial", "trials", "id");
        Ok(Self { owners: Owners { connection, run, table, ids, histograms: true }, records })
    }

    /// Hands each part of one kind to what the trial saw that it belongs to.
    fn add_parts<R: Record>(
        &mut self,
        mut add: impl FnMut(&mut Observations, R),
    ) -> rusqlite::Result<()> {
        let records = &mut self.records;
        self.owners.each(|at, part| match &mut records[at].observations {
            Some(observations) => {
                add(observations, part);
                Ok(())
            }
            None => Err(unreadable(0, "observations of a trial that has none")),
        })
    }
}

/// Rows of a run that records of other tables belong to.
struct Owners<'a> {
    connection: &'a Connection,
    run: i64,
    /// Column that names one of them in other tables, their own table, and the column that orders
    /// them.
    table: (&'static str, &'static str, &'static str),
    /// In that order.
    ids: Vec<i64>,
    /// True if histograms are read; else only their figures.
    histograms: bool,
}

impl Owners<'_> {
    /// Hands over each record of one kind with the place of its owner.
    fn each<R: Record>(
        &self,
        mut add: impl FnMut(usize, R) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        let (owner, table, order) = self.table;
        let position = if R::IS_SINGLE { "" } else { ", position" };
        let mut columns = R::COLUMNS.join(", ");
        if !self.histograms {
            columns = columns.replace(HISTOGRAM, "NULL");
        }
        // CROSS JOIN fixes the order of the loops: by owner, then along the table's key, unsorted.
        let sql = format!(
            "SELECT {owner}, {columns} FROM (SELECT id AS of_owner, {order} AS owner_order FROM \
             {table} WHERE run = ?1)
             CROSS JOIN {} ON {owner} = of_owner ORDER BY owner_order{position}",
            R::TABLE
        );
        let mut query = self.connection.prepare(&sql)?;
        let mut rows = query.query([self.run])?;
        let mut at = 0;
        while let Some(row) = rows.next()? {
            let id: i64 = row.get(0)?;
            at += self.ids[at..].iter().take_while(|&&other| other != id).count();
            if at == self.ids.len() {
                return Err(unreadable(0, "parts of a trial or a configuration out of order"));
            }
            add(at, R::read(&mut Columns::after(1, row))?)?;
        }
        Ok(())
    }
}
