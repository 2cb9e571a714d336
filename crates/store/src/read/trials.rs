use super::RecordedTrial;
use crate::names::unreadable;
use crate::numbers::real;
use crate::parts::Part;
use observations::{Observations, TimeUse, TrialRecord, TrialStatus, Work};
use rusqlite::{Connection, Row, params};

pub(super) fn recorded(connection: &Connection, run: i64) -> rusqlite::Result<Vec<RecordedTrial>> {
    let mut query = connection.prepare(
        "SELECT c.position, t.block, t.sequence, t.attempt, t.status, t.cause, t.wall_s
         FROM trials t JOIN configurations c ON c.id = t.configuration WHERE t.run = ?1 ORDER BY t.id",
    )?;
    let trials = query.query_map(params![run], |row| {
        Ok(RecordedTrial {
            configuration: row.get(0)?,
            block: row.get(1)?,
            sequence: row.get(2)?,
            attempt: row.get(3)?,
            status: status(row, 4)?,
            wall_s: real(row, 6)?,
        })
    })?;
    trials.collect()
}

/// All trials of a run: one ordered query a table, merged by trial, so that the time is linear in
/// the rows.
pub(super) fn read(connection: &Connection, run: i64) -> rusqlite::Result<Vec<TrialRecord>> {
    let mut trials = Trials::read(connection, run)?;
    trials.each(|trial, hook| {
        trial.hooks.push(hook);
        Ok(())
    })?;
    trials.seen(|seen, response| seen.responses.push(response))?;
    trials.seen(|seen, fact| seen.facts.push(fact))?;
    trials.seen(|seen, wait| seen.waits.push(wait))?;
    trials.seen(|seen, latency| seen.latencies.push(latency))?;
    trials.seen(|seen, operation| seen.operations.push(operation))?;
    trials.seen(|seen, series| seen.series.push(series))?;
    trials.seen(|seen, load| seen.load = load)?;
    trials.seen(|seen, machine| seen.machine = machine)?;
    trials.seen(|seen, device| seen.devices.push(device))?;
    trials.seen(|seen, profile| seen.profile = Some(profile))?;
    trials.seen(|seen, warning| seen.warnings.push(warning))?;
    Ok(trials.records)
}

/// The trials of a run while their parts are added, table by table.
struct Trials<'a> {
    connection: &'a Connection,
    run: i64,
    /// Ids in ascending order, one a record.
    ids: Vec<i64>,
    records: Vec<TrialRecord>,
}

impl<'a> Trials<'a> {
    fn read(connection: &'a Connection, run: i64) -> rusqlite::Result<Self> {
        let mut query = connection.prepare(
            "SELECT t.id, c.position, t.block, t.sequence, t.attempt, t.started_ms, t.wall_s, t.status, t.cause,
                 t.observed, t.elapsed_s, t.connections, t.work_unit, t.work_amount, t.transactions, t.errors,
                 t.retries, t.session_s, t.cpu_s, t.cpu_user_s, t.synthetic
             FROM trials t JOIN configurations c ON c.id = t.configuration WHERE t.run = ?1 ORDER BY t.id",
        )?;
        let rows = query.query_map(params![run], |row| Ok((row.get::<_, i64>(0)?, trial(row)?)))?;
        let (ids, records) = rows.collect::<rusqlite::Result<_>>()?;
        Ok(Self { connection, run, ids, records })
    }

    /// Hands each part of one kind to the trial that it belongs to.
    fn each<P: Part>(
        &mut self,
        mut add: impl FnMut(&mut TrialRecord, P) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        // CROSS JOIN fixes the order of the loops: by trial, then along the table's key, unsorted.
        let order = if P::IS_ONE { "" } else { ", position" };
        let sql = format!(
            "SELECT trial, {} FROM (SELECT id AS of_trial FROM trials WHERE run = ?1)
             CROSS JOIN {} ON trial = of_trial ORDER BY of_trial{order}",
            P::COLUMNS.join(", "),
            P::TABLE
        );
        let mut query = self.connection.prepare(&sql)?;
        let mut rows = query.query(params![self.run])?;
        let mut at = 0;
        while let Some(row) = rows.next()? {
            let id: i64 = row.get(0)?;
            at += self.ids[at..].iter().take_while(|&&other| other != id).count();
            let trial =
                self.records.get_mut(at).ok_or_else(|| unreadable(0, "parts of a trial out of order"))?;
            add(trial, P::read(row)?)?;
        }
        Ok(())
    }

    /// The same for the parts of what a trial saw.
    fn seen<P: Part>(&mut self, mut add: impl FnMut(&mut Observations, P)) -> rusqlite::Result<()> {
        self.each(|trial, part| match &mut trial.observations {
            Some(seen) => {
                add(seen, part);
                Ok(())
            }
            None => Err(unreadable(0, "observations of a trial that saw nothing")),
        })
    }
}

fn status(row: &Row, column: usize) -> rusqlite::Result<TrialStatus> {
    Ok(match row.get_ref(column)?.as_str()? {
        "done" => TrialStatus::Done,
        _ => TrialStatus::Failed { cause: row.get(column + 1)? },
    })
}

fn trial(row: &Row) -> rusqlite::Result<TrialRecord> {
    Ok(TrialRecord {
        configuration: row.get(1)?,
        block: row.get(2)?,
        sequence: row.get(3)?,
        attempt: row.get(4)?,
        started_ms: row.get(5)?,
        wall_s: real(row, 6)?,
        status: status(row, 7)?,
        observations: if row.get(9)? { Some(observations(row)?) } else { None },
        hooks: Vec::new(),
    })
}

fn observations(row: &Row) -> rusqlite::Result<Observations> {
    Ok(Observations {
        elapsed_s: real(row, 10)?,
        connections: row.get(11)?,
        work: Work {
            unit: row.get(12)?,
            amount: row.get(13)?,
            transactions: row.get(14)?,
            errors: row.get(15)?,
            retries: row.get(16)?,
        },
        time: TimeUse { session_s: real(row, 17)?, cpu_s: real(row, 18)?, cpu_user_s: row.get(19)? },
        synthetic: row.get(20)?,
        ..Observations::default()
    })
}
