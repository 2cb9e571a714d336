use crate::names::word;
use crate::{Result, Store, StoreError, numbers, profile};
use observations::{
    DeviceUse, Fact, HookOutput, Latency, LoadHealth, MachineLoad, Observations, Operation, Response, Series,
    TrialRecord, TrialStatus, Wait, WaitSource, Warning,
};
use rusqlite::{OptionalExtension, Transaction, TransactionBehavior, params};

impl Store {
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
            insert_hooks(&transaction, id, &trial.hooks)?;
            if let Some(observations) = &trial.observations {
                insert_observations(&transaction, id, observations)?;
            }
            transaction.commit()
        })
    }
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
    insert_responses(transaction, trial, &seen.responses)?;
    insert_facts(transaction, trial, &seen.facts)?;
    insert_waits(transaction, trial, &seen.waits)?;
    insert_latencies(transaction, trial, &seen.latencies)?;
    insert_operations(transaction, trial, &seen.operations)?;
    insert_series(transaction, trial, &seen.series)?;
    insert_load_health(transaction, trial, &seen.load)?;
    insert_machine_load(transaction, trial, &seen.machine)?;
    insert_devices(transaction, trial, &seen.devices)?;
    if let Some(seen) = &seen.profile {
        profile::insert(transaction, trial, seen)?;
    }
    insert_warnings(transaction, trial, &seen.warnings)
}

fn insert_responses(transaction: &Transaction, trial: i64, responses: &[Response]) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare(
        "INSERT INTO responses (trial, position, name, unit, direction, value) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    for (position, response) in responses.iter().enumerate() {
        let direction = word(&response.direction)?;
        insert.execute(params![trial, position, response.name, response.unit, direction, response.value])?;
    }
    Ok(())
}

fn insert_facts(transaction: &Transaction, trial: i64, facts: &[Fact]) -> rusqlite::Result<()> {
    let mut insert = transaction
        .prepare("INSERT INTO facts (trial, position, name, unit, value) VALUES (?1, ?2, ?3, ?4, ?5)")?;
    for (position, fact) in facts.iter().enumerate() {
        insert.execute(params![trial, position, fact.name, fact.unit, fact.value])?;
    }
    Ok(())
}

fn insert_waits(transaction: &Transaction, trial: i64, waits: &[Wait]) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare(
        "INSERT INTO waits (trial, position, wait_type, class, count, resource_s, signal_s, source, sampled_hz)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?;
    for (position, wait) in waits.iter().enumerate() {
        let (source, hz) = match wait.source {
            WaitSource::Counted => ("counted", None),
            WaitSource::Sampled { hz } => ("sampled", Some(hz)),
        };
        insert.execute(params![
            trial,
            position,
            wait.wait_type,
            wait.class.name(),
            wait.count,
            wait.resource_s,
            wait.signal_s,
            source,
            hz
        ])?;
    }
    Ok(())
}

fn insert_latencies(transaction: &Transaction, trial: i64, latencies: &[Latency]) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare(
        "INSERT INTO latencies
             (trial, position, name, count, min_ns, mean_ns, p50_ns, p95_ns, p99_ns, p999_ns, max_ns, histogram)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
    )?;
    for (position, latency) in latencies.iter().enumerate() {
        let histogram = &latency.histogram;
        let (min, mean, max) = histogram.min_mean_max_ns();
        insert.execute(params![
            trial,
            position,
            latency.name,
            histogram.len(),
            min,
            mean,
            histogram.percentile_ns(50.0),
            histogram.percentile_ns(95.0),
            histogram.percentile_ns(99.0),
            histogram.percentile_ns(99.9),
            max,
            histogram.to_bytes()
        ])?;
    }
    Ok(())
}

fn insert_operations(
    transaction: &Transaction,
    trial: i64,
    operations: &[Operation],
) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare(
        "INSERT INTO operations (trial, position, name, count, bytes, wall_s) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    for (position, operation) in operations.iter().enumerate() {
        let Operation { name, count, bytes, wall_s } = operation;
        insert.execute(params![trial, position, name, count, bytes, wall_s])?;
    }
    Ok(())
}

fn insert_series(transaction: &Transaction, trial: i64, series: &[Series]) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare(
        "INSERT INTO series (trial, position, name, unit, start_s, interval_s, interval_values)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    for (position, series) in series.iter().enumerate() {
        let values = numbers::to_json(&series.values);
        let Series { name, unit, start_s, interval_s, .. } = series;
        insert.execute(params![trial, position, name, unit, start_s, interval_s, values])?;
    }
    Ok(())
}

fn insert_load_health(transaction: &Transaction, trial: i64, load: &LoadHealth) -> rusqlite::Result<()> {
    transaction.execute(
        "INSERT INTO load_health
             (trial, client_share, run_delay_share, sends_intended, sends_missed, send_delay_us_max)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![
            trial,
            load.client_share,
            load.run_delay_share,
            load.sends_intended,
            load.sends_missed,
            load.send_delay_us_max
        ],
    )?;
    Ok(())
}

fn insert_machine_load(transaction: &Transaction, trial: i64, load: &MachineLoad) -> rusqlite::Result<()> {
    transaction.execute(
        "INSERT INTO machine_load (trial, cpus, busy_s, own_s, steal_s, iowait_s) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![trial, load.cpus, load.busy_s, load.own_s, load.steal_s, load.iowait_s],
    )?;
    Ok(())
}

fn insert_devices(transaction: &Transaction, trial: i64, devices: &[DeviceUse]) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare(
        "INSERT INTO devices (trial, position, volume, device, reads, read_bytes, read_s, writes, write_bytes,
             write_s, flushes, flush_s, busy_s, queue_s, elapsed_s)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
    )?;
    for (position, used) in devices.iter().enumerate() {
        insert.execute(params![
            trial,
            position,
            used.volume,
            used.device,
            used.reads,
            used.read_bytes,
            used.read_s,
            used.writes,
            used.write_bytes,
            used.write_s,
            used.flushes,
            used.flush_s,
            used.busy_s,
            used.queue_s,
            used.elapsed_s
        ])?;
    }
    Ok(())
}

fn insert_warnings(transaction: &Transaction, trial: i64, warnings: &[Warning]) -> rusqlite::Result<()> {
    let mut insert = transaction
        .prepare("INSERT INTO warnings (trial, position, kind, detail) VALUES (?1, ?2, ?3, ?4)")?;
    for (position, warning) in warnings.iter().enumerate() {
        insert.execute(params![trial, position, word(&warning.kind)?, warning.detail])?;
    }
    Ok(())
}

fn insert_hooks(transaction: &Transaction, trial: i64, hooks: &[HookOutput]) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare(
        "INSERT INTO hooks (trial, position, hook, command, exit_code, elapsed_s, output)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    for (position, output) in hooks.iter().enumerate() {
        let HookOutput { hook, command, exit_code, elapsed_s, output } = output;
        insert.execute(params![trial, position, hook, command, exit_code, elapsed_s, output])?;
    }
    Ok(())
}
