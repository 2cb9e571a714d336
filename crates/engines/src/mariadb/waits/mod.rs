//! What sessions wait for.
//!
//! The Performance Schema counts and times the waits of each session's thread
//! (<https://mariadb.com/kb/en/performance-schema-events_waits_summary_by_thread_by_event_name-table/>): their differences
//! over the measurement are taken. A wait on a table (`wait/io/table`, `wait/lock/table`) contains the file operations and
//! mutexes below it and the processor time of the engine: it is left out, so that nothing counts twice. Row locks are
//! `InnoDB`'s own counter, and what the server does not time, waiting for the redo log, is sampled; `accounting` has the
//! arithmetic.

mod accounting;
mod sampler;
mod types;

pub use types::WAIT_TYPES;

use super::failed_at;
use super::load::Sessions;
use crate::{Cancel, Collected, EngineError, EngineUse, PageUse, WaitCollector, lock};
use accounting::{Counted, SessionTimes};
use mysqlclient::{Client, Config};
use observations::Operation;
use sampler::Sampler;
use std::collections::BTreeMap;
use std::time::Instant;

/// The unit of the Performance Schema.
const PICOSECONDS: f64 = 1e-12;

/// Takes the differences of the server's counters over a measurement.
pub struct MariaCollector {
    config: Config,
    sessions: Sessions,
    /// The server's process, where it is one of this machine that we may look at.
    pid: Option<i32>,
    hz: f64,
    cancel: Cancel,
    running: Option<Running>,
}

struct Running {
    client: Client,
    sampler: Sampler,
    before: Reading,
}

/// What server and kernel have counted until a moment.
struct Reading {
    at: Instant,
    /// By number of the session and name of the event: how often, and picoseconds.
    events: BTreeMap<(u32, String), (u64, u64)>,
    /// `InnoDB`'s counters, by name.
    status: BTreeMap<String, u64>,
    /// Operations on files, of all threads of the server.
    files: Vec<Operation>,
    sessions: Option<SessionTimes>,
    /// Processor seconds of the server, all threads.
    server: Option<f64>,
}

impl MariaCollector {
    /// A collector for the sessions with these numbers; `hz`: looks a second.
    pub fn new(config: Config, sessions: Sessions, pid: Option<i32>, hz: f64, cancel: Cancel) -> Self {
        Self { config, sessions, pid, hz, cancel, running: None }
    }

    fn connect(&self) -> Result<Client, EngineError> {
        let config = self.config.clone().with_stop(self.cancel.stop());
        let mut client = Client::connect(&config).map_err(failed_at("observing the server's waits"))?;
        client.set_stop(self.cancel.stop());
        Ok(client)
    }
}

impl WaitCollector for MariaCollector {
    fn start(&mut self) -> Result<(), EngineError> {
        let sessions = lock(&self.sessions).clone();
        let sampler = Sampler::start(self.connect()?, &sessions, self.hz)?;
        let mut client = self.connect()?;
        let before = Reading::of(&mut client, &sessions, self.pid)?;
        self.running = Some(Running { client, sampler, before });
        Ok(())
    }

    fn stop(&mut self) -> Result<Collected, EngineError> {
        let not_started = || EngineError::failed("observing the server's waits", "nothing was started");
        let Running { mut client, sampler, before } = self.running.take().ok_or_else(not_started)?;
        let samples = sampler.stop()?;
        let sessions = lock(&self.sessions).clone();
        let after = Reading::of(&mut client, &sessions, self.pid)?;
        let counted = Counted {
            session_s: sessions.len() as f64 * after.at.duration_since(before.at).as_secs_f64(),
            events: after.events_since(&before, &sessions),
            row_locks: (
                after.status_since(&before, "innodb_row_lock_waits"),
                after.status_since(&before, "innodb_row_lock_time") as f64 / 1e3,
            ),
            times: after.sessions.zip(before.sessions).map(|(after, before)| after.since(before)),
        };
        let (waits, time) = counted.account(&samples);
        let server_cpu_s =
            after.server.zip(before.server).map_or(0.0, |(after, before)| (after - before).max(0.0));
        let reads = after.status_since(&before, "innodb_buffer_pool_reads");
        let requests = after.status_since(&before, "innodb_buffer_pool_read_requests");
        let pages = Some(PageUse { hits: requests.saturating_sub(reads), reads });
        let used = EngineUse { pages, ..EngineUse::default() };
        let lost = lost(&mut client, self.pid.is_some())?;
        let operations = after.operations_since(&before);
        Ok(Collected { waits, operations, time: Some(time), server_cpu_s, used, lost })
    }
}

impl Reading {
    fn of(client: &mut Client, sessions: &[u32], pid: Option<i32>) -> Result<Self, EngineError> {
        let rows = |client: &mut Client, sql: &str| {
            client.query(sql).map(|rows| rows.rows).map_err(failed_at("reading the Performance Schema"))
        };
        let numbers = list(sessions);
        let threads = format!(
            "SELECT thread_os_id FROM performance_schema.threads WHERE processlist_id IN ({numbers})"
        );
        let threads: Vec<i32> =
            rows(client, &threads)?.into_iter().flatten().flatten().flat_map(|id| id.parse()).collect();
        let sessions = pid.and_then(|pid| SessionTimes::of(pid, &threads).filter(|_| !threads.is_empty()));
        let server = pid.and_then(observe::process_cpu_s);
        let at = Instant::now();
        let sql = format!(
            "SELECT processlist_id, event_name, count_star, sum_timer_wait \
             FROM performance_schema.events_waits_summary_by_thread_by_event_name \
             JOIN performance_schema.threads USING (thread_id) \
             WHERE processlist_id IN ({numbers}) AND count_star > 0 \
             AND event_name NOT LIKE 'wait/io/table/%' AND event_name NOT LIKE 'wait/lock/table/%'"
        );
        let mut events = BTreeMap::new();
        for row in rows(client, &sql)? {
            let [session, name, count, time] = cells(row);
            events.insert((number(&session) as u32, name), (number(&count), number(&time)));
        }
        // MariaDB and MySQL keep these in tables of different names.
        let status = rows(client, "SHOW GLOBAL STATUS LIKE 'Innodb%'")?.into_iter().map(cells);
        let status = status.map(|[name, value]: [String; 2]| (name.to_lowercase(), number(&value))).collect();
        let sql = "SELECT event_name, count_read, sum_number_of_bytes_read, sum_timer_read, count_write, \
                   sum_number_of_bytes_write, sum_timer_write, count_misc, 0, sum_timer_misc \
                   FROM performance_schema.file_summary_by_event_name WHERE count_star > 0";
        let files = rows(client, sql)?.into_iter().flat_map(operations).collect();
        Ok(Self { at, events, status, files, sessions, server })
    }

    fn events_since(&self, before: &Self, sessions: &[u32]) -> BTreeMap<String, (u64, f64)> {
        let mut sums: BTreeMap<String, (u64, f64)> = BTreeMap::new();
        for ((session, name), (count, time)) in &self.events {
            let then = before.events.get(&(*session, name.clone())).copied().unwrap_or_default();
            let (count, time) = (count.saturating_sub(then.0), time.saturating_sub(then.1));
            if count > 0 && sessions.contains(session) {
                let sum = sums.entry(name.clone()).or_default();
                *sum = (sum.0 + count, sum.1 + time as f64 * PICOSECONDS);
            }
        }
        sums
    }

    fn status_since(&self, before: &Self, name: &str) -> u64 {
        let of = |reading: &Self| reading.status.get(name).copied().unwrap_or(0);
        of(self).saturating_sub(of(before))
    }

    fn operations_since(&self, before: &Self) -> Vec<Operation> {
        let since = |now: &Operation| {
            let then = before.files.iter().find(|then| then.name == now.name);
            let (count, bytes, wall_s) =
                then.map_or((0, 0, 0.0), |then| (then.count, then.bytes, then.wall_s));
            Operation {
                name: now.name.clone(),
                count: now.count.saturating_sub(count),
                bytes: now.bytes.saturating_sub(bytes),
                wall_s: (now.wall_s - wall_s).max(0.0),
            }
        };
        self.files.iter().map(since).filter(|operation| operation.count > 0).collect()
    }
}

/// The operations of a row of `file_summary_by_event_name`: reads, writes, and others, such as syncs.
fn operations(row: Vec<Option<String>>) -> Vec<Operation> {
    let mut cells = row.into_iter().map(Option::unwrap_or_default);
    let name = cells.next().unwrap_or_default();
    let name = name.strip_prefix("wait/io/file/").unwrap_or(&name).to_owned();
    let mut next = || cells.next().map_or(0, |cell| number(&cell));
    ["read", "write", "other"]
        .map(|kind| Operation {
            name: format!("{name} {kind}"),
            count: next(),
            bytes: next(),
            wall_s: next() as f64 * PICOSECONDS,
        })
        .into()
}

/// Numbers with commas; NULL for none, which nothing is in.
fn list(sessions: &[u32]) -> String {
    let numbers: Vec<String> = sessions.iter().map(u32::to_string).collect();
    if numbers.is_empty() { "NULL".into() } else { numbers.join(", ") }
}

fn cells<const N: usize>(row: Vec<Option<String>>) -> [String; N] {
    let mut cells = row.into_iter().map(Option::unwrap_or_default);
    std::array::from_fn(|_| cells.next().unwrap_or_default())
}

/// A counter; what is no number counts nothing.
fn number(text: &str) -> u64 {
    text.parse().unwrap_or(0)
}

/// What this server does not let us observe.
fn lost(client: &mut Client, sees_threads: bool) -> Result<Vec<String>, EngineError> {
    let mut lost = Vec::new();
    let mut cell = |sql: &str| client.cell(sql).map_err(failed_at("asking what is instrumented"));
    if cell("SELECT @@performance_schema")?.as_deref() != Some("1") {
        lost.push("What sessions wait for but row locks: performance_schema is off there.".to_owned());
    } else if let Some(off) = cell(
        "SELECT count(*) FROM performance_schema.setup_instruments WHERE name LIKE 'wait/%' \
         AND NOT (enabled = 'YES' AND timed = 'YES')",
    )?
    .filter(|off| off != "0")
    {
        lost.push(format!(
            "Waits whose instruments are off: {off} of performance_schema.setup_instruments are not enabled and timed."
        ));
    }
    if !sees_threads {
        lost.push(
            "The processor time of the sessions: the server's threads cannot be seen from here.".into(),
        );
    }
    Ok(lost)
}
