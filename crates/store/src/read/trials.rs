use super::RecordedTrial;
use crate::names::{unreadable, variant};
use crate::numbers::{self, real};
use crate::profile;
use observations::{
    DeviceUse, Fact, Histogram, HookOutput, Latency, LoadHealth, MachineLoad, Observations, Operation,
    Response, Series, TimeUse, TrialRecord, TrialStatus, Wait, WaitSource, Warning, Work,
};
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
    trials.each("hooks", "hook, command, exit_code, elapsed_s, output", |trial, row| {
        trial.hooks.push(hook(row)?);
        Ok(())
    })?;
    trials.seen("responses", "name, unit, direction, value", |seen, row| {
        seen.responses.push(response(row)?);
        Ok(())
    })?;
    trials.seen("facts", "name, unit, value", |seen, row| {
        seen.facts.push(Fact { name: row.get(1)?, unit: row.get(2)?, value: real(row, 3)? });
        Ok(())
    })?;
    trials.seen(
        "waits",
        "wait_type, class, count, resource_s, signal_s, source, sampled_hz",
        |seen, row| {
            seen.waits.push(wait(row)?);
            Ok(())
        },
    )?;
    trials.seen("latencies", "name, histogram", |seen, row| {
        seen.latencies.push(latency(row)?);
        Ok(())
    })?;
    trials.seen("operations", "name, count, bytes, wall_s", |seen, row| {
        seen.operations.push(operation(row)?);
        Ok(())
    })?;
    trials.seen("series", "name, unit, start_s, interval_s, interval_values", |seen, row| {
        seen.series.push(series(row)?);
        Ok(())
    })?;
    trials.seen(
        "load_health",
        "client_share, run_delay_share, sends_intended, sends_missed, send_delay_us_max",
        |seen, row| {
            seen.load = load_health(row)?;
            Ok(())
        },
    )?;
    trials.seen("machine_load", "cpus, busy_s, own_s, steal_s, iowait_s", |seen, row| {
        seen.machine = machine_load(row)?;
        Ok(())
    })?;
    trials.seen(
        "devices",
        "volume, device, reads, read_bytes, read_s, writes, write_bytes, write_s, flushes, flush_s, busy_s,
             queue_s, elapsed_s",
        |seen, row| {
            seen.devices.push(device(row)?);
            Ok(())
        },
    )?;
    trials.seen("profiles", profile::COLUMNS, |seen, row| {
        seen.profile = Some(profile::read(row)?);
        Ok(())
    })?;
    trials.seen("warnings", "kind, detail", |seen, row| {
        seen.warnings.push(Warning { kind: variant(row, 1)?, detail: row.get(2)? });
        Ok(())
    })?;
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

    /// Hands each row of a table to the trial that it belongs to. Column 0 is the trial, the
    /// columns asked for follow.
    fn each(
        &mut self,
        table: &str,
        columns: &str,
        mut add: impl FnMut(&mut TrialRecord, &Row) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        // CROSS JOIN fixes the order of the loops: by trial, then along the table's key, unsorted.
        let order =
            if matches!(table, "load_health" | "machine_load" | "profiles") { "" } else { ", position" };
        let sql = format!(
            "SELECT trial, {columns} FROM (SELECT id AS of_trial FROM trials WHERE run = ?1)
             CROSS JOIN {table} ON trial = of_trial ORDER BY of_trial{order}"
        );
        let mut query = self.connection.prepare(&sql)?;
        let mut rows = query.query(params![self.run])?;
        let mut at = 0;
        while let Some(row) = rows.next()? {
            let id: i64 = row.get(0)?;
            at += self.ids[at..].iter().take_while(|&&other| other != id).count();
            let trial =
                self.records.get_mut(at).ok_or_else(|| unreadable(0, "parts of a trial out of order"))?;
            add(trial, row)?;
        }
        Ok(())
    }

    /// The same for the parts of what a trial saw.
    fn seen(
        &mut self,
        table: &str,
        columns: &str,
        mut add: impl FnMut(&mut Observations, &Row) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        self.each(table, columns, |trial, row| match &mut trial.observations {
            Some(seen) => add(seen, row),
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

fn hook(row: &Row) -> rusqlite::Result<HookOutput> {
    Ok(HookOutput {
        hook: row.get(1)?,
        command: row.get(2)?,
        exit_code: row.get(3)?,
        elapsed_s: real(row, 4)?,
        output: row.get(5)?,
    })
}

fn response(row: &Row) -> rusqlite::Result<Response> {
    Ok(Response { name: row.get(1)?, unit: row.get(2)?, direction: variant(row, 3)?, value: real(row, 4)? })
}

fn wait(row: &Row) -> rusqlite::Result<Wait> {
    let source = match row.get_ref(6)?.as_str()? {
        "counted" => WaitSource::Counted,
        _ => WaitSource::Sampled { hz: real(row, 7)? },
    };
    Ok(Wait {
        wait_type: row.get(1)?,
        class: variant(row, 2)?,
        count: row.get(3)?,
        resource_s: real(row, 4)?,
        signal_s: real(row, 5)?,
        source,
    })
}

fn latency(row: &Row) -> rusqlite::Result<Latency> {
    let histogram =
        Histogram::from_bytes(row.get_ref(2)?.as_blob()?).map_err(|error| unreadable(2, error))?;
    Ok(Latency { name: row.get(1)?, histogram })
}

fn operation(row: &Row) -> rusqlite::Result<Operation> {
    Ok(Operation { name: row.get(1)?, count: row.get(2)?, bytes: row.get(3)?, wall_s: real(row, 4)? })
}

fn series(row: &Row) -> rusqlite::Result<Series> {
    let values = numbers::from_json(row.get_ref(5)?.as_str()?).map_err(|error| unreadable(5, error))?;
    Ok(Series {
        name: row.get(1)?,
        unit: row.get(2)?,
        start_s: real(row, 3)?,
        interval_s: real(row, 4)?,
        values,
    })
}

fn load_health(row: &Row) -> rusqlite::Result<LoadHealth> {
    Ok(LoadHealth {
        client_share: real(row, 1)?,
        run_delay_share: real(row, 2)?,
        sends_intended: row.get(3)?,
        sends_missed: row.get(4)?,
        send_delay_us_max: row.get(5)?,
    })
}

fn machine_load(row: &Row) -> rusqlite::Result<MachineLoad> {
    Ok(MachineLoad {
        cpus: row.get(1)?,
        busy_s: real(row, 2)?,
        own_s: real(row, 3)?,
        steal_s: real(row, 4)?,
        iowait_s: real(row, 5)?,
    })
}

fn device(row: &Row) -> rusqlite::Result<DeviceUse> {
    Ok(DeviceUse {
        volume: row.get(1)?,
        device: row.get(2)?,
        reads: row.get(3)?,
        read_bytes: row.get(4)?,
        read_s: real(row, 5)?,
        writes: row.get(6)?,
        write_bytes: row.get(7)?,
        write_s: real(row, 8)?,
        flushes: row.get(9)?,
        flush_s: real(row, 10)?,
        busy_s: real(row, 11)?,
        queue_s: real(row, 12)?,
        elapsed_s: real(row, 13)?,
    })
}
