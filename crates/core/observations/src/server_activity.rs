//! A server's activity during an interval, by `steelbench waits`.

use crate::{Operation, TimeUse, Wait, WaitClass, WaitedResource};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An observation in a results file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ActivityRecord {
    /// Number within the results file, from 1.
    pub id: i64,
    /// Start in milliseconds since 1970 UTC.
    pub started_ms: i64,
    /// Version of Steelbench that made it.
    pub steelbench: String,
    /// The server as it was named, without its password.
    pub address: String,
    /// The activity.
    pub activity: ServerActivity,
}

/// A live server, watched for a while without changing anything on it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerActivity {
    /// Name and version: `PostgreSQL 15.18`.
    pub server: String,
    /// Seconds watched.
    pub elapsed_s: f64,
    /// Why it ended early: the server was lost. The activity until then is here.
    pub ended: Option<String>,
    /// Why sessions or waits are hidden from this login: then an empty table means nothing.
    pub hidden: Option<String>,
    /// How the waits became known.
    pub sampling: Sampling,
    /// The place where the server counts and times every wait of every session, if it does:
    /// `sys.dm_os_wait_stats`. Samples then show only who waited for what.
    pub counted_in: Option<String>,
    /// Waits of the clients' sessions during their busy time; idle time is left out.
    pub waits: Vec<Wait>,
    /// Use of the sessions' time while they had something to do.
    pub time: TimeUse,
    /// True if the kernel gave `time` and the run queue in `waits`; else CPU time comes from
    /// samples without a wait.
    pub time_is_exact: bool,
    /// The samples, all processes, summed by what is the same.
    pub cells: Vec<ActivityCell>,
    /// The samples of processes that worked for clients, in consecutive parts of the interval:
    /// about a second each, or more in a long interval. Empty where the server itself samples.
    pub parts: Vec<ActivityPart>,
    /// Time of the processes by kind, where the kernel reports it.
    pub processes: Vec<ProcessUse>,
    /// I/O that the server counts and times itself.
    pub operations: Vec<Operation>,
    /// Further counters of the server: what they rose by in the interval.
    pub counters: Vec<CounterTable>,
    /// Resources that sampled sessions waited for, where the server names them; most samples first.
    pub resources: Vec<WaitedResource>,
    /// Text of the statements in `cells`.
    pub texts: BTreeMap<i64, String>,
    /// Meaning of each wait type, one sentence each.
    pub meanings: BTreeMap<String, String>,
    /// Sessions that waited at the end of the interval; `None` if the server no longer answered.
    pub tasks: Option<Vec<WaitingTask>>,
    /// Blockers and blocked statements of the whole interval, the longest time first.
    pub blocked: Vec<BlockedTime>,
    /// Limits of the observation with their reasons, one sentence each.
    pub lost: Vec<String>,
}

/// Time in which sessions that ran one statement waited for sessions that ran another, summed over
/// an interval by looks at the blocking sessions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BlockedTime {
    /// The statement of the blocker, its last one where it is idle.
    pub blocker: String,
    /// The state of the blocker.
    pub blocker_state: String,
    /// The client: `user application`.
    pub blocker_client: String,
    /// The statement that waited.
    pub victim: String,
    /// The wait.
    pub wait_type: String,
    /// The table or row of the longest wait.
    pub resource: Option<String>,
    /// Session seconds.
    pub seconds: f64,
    /// Sessions that waited at the same time, at most.
    pub sessions_max: u32,
    /// Looks in which it was so.
    pub looks: u32,
}

impl ServerActivity {
    /// Returns whether its counts can be summed; a file may hold anything.
    pub fn is_consistent(&self) -> bool {
        let samples = self.cells.iter().map(|cell| cell.samples);
        let counts = self.waits.iter().filter_map(|wait| wait.count);
        let sampled = self.waits.iter().filter_map(|wait| wait.source.samples());
        let waited_for = self.resources.iter().map(|resource| resource.samples);
        samples
            .chain(counts)
            .chain(sampled)
            .chain(waited_for)
            .try_fold(0, |sum: u64, count: u64| sum.checked_add(count))
            .is_some()
    }
}

/// Counters of a server at the start and end of an interval, as read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CounterReadings {
    /// The view: `sys.dm_os_wait_stats`.
    pub source: String,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The rows at the beginning: a text for each column, `None` for NULL.
    pub began: Vec<Vec<Option<String>>>,
    /// The rows at the end.
    pub ended: Vec<Vec<Option<String>>>,
}

impl CounterReadings {
    /// Rows without NULLs, at the beginning and at the end.
    pub fn from_rows<const COLUMNS: usize>(
        source: impl Into<String>,
        columns: [&str; COLUMNS],
        rows: [Vec<[String; COLUMNS]>; 2],
    ) -> Self {
        let [began, ended] =
            rows.map(|rows| rows.into_iter().map(|row| row.map(Some).into()).collect());
        Self { source: source.into(), columns: columns.map(str::to_owned).into(), began, ended }
    }
}

/// Counters of one kind that a server keeps.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CounterTable {
    /// Name of the counters: `Latch classes`.
    pub title: String,
    /// Their source. `sys.dm_os_latch_stats`.
    pub source: String,
    /// Name of a row: `Latch class`.
    pub rows_are: String,
    /// Names and units of the values.
    pub columns: Vec<CounterColumn>,
    /// The rows, what matters most first.
    pub rows: Vec<CounterRow>,
}

/// A column of a [`CounterTable`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CounterColumn {
    /// The heading.
    pub heading: String,
    /// Unit of its values.
    pub unit: CounterUnit,
}

/// The unit of counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CounterUnit {
    /// A number of something.
    Count,
    /// Seconds.
    Seconds,
    /// Bytes.
    Bytes,
}

/// A row of a [`CounterTable`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CounterRow {
    /// Name of the counter.
    pub name: String,
    /// A value for each column, where there is one.
    pub values: Vec<Option<f64>>,
}

/// The method of sampling.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// Their source: `pg_stat_activity`, `pg_wait_sampling`, `the process list`.
    pub source: String,
    /// Samples a second that were asked for.
    pub hz: f64,
    /// Samples taken of each process.
    pub polls: u64,
    /// Samples that were due but not taken, because the sample before took too long.
    pub missed: u64,
    /// They do not show all waits: a sample without a wait may be of a session that waits for a
    /// file or a latch. `waits` has what the server counts.
    #[serde(default)]
    pub hides_waits: bool,
}

/// A part of an interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ActivityPart {
    /// Samples taken of each process.
    pub polls: u64,
    /// The number of samples of processes in a wait (`None`: on a processor, or ready for one) for
    /// a statement (`None`: it has no number). Sessions that had nothing to do are left out.
    pub samples: Vec<(Option<String>, Option<i64>, u64)>,
}

/// Samples of processes that did the same for the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ActivityCell {
    /// Kind of process: `client backend`, `checkpointer`.
    pub process: String,
    /// True if it works for a client: the client's process, or a worker of its query.
    pub for_client: bool,
    /// The wait; `None`: running, or ready to run.
    pub wait_type: Option<String>,
    /// Our class of the wait; `None` with `wait_type`.
    pub class: Option<WaitClass>,
    /// True if the session was idle.
    pub idle: bool,
    /// The engine's word for the state of the session: `active`, `idle in transaction`.
    pub state: String,
    /// The engine's number of the statement.
    pub query_id: Option<i64>,
    /// Application name of the client.
    pub application: String,
    /// User of the session.
    pub user: String,
    /// The database.
    pub database: String,
    /// Number of samples.
    pub samples: u64,
    /// Seconds that they represent; corrected to the running time of processes where the kernel
    /// reports it.
    pub seconds: f64,
}

/// Time that the processes of one kind used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProcessUse {
    /// Kind of process.
    pub process: String,
    /// True if they work for clients.
    pub for_client: bool,
    /// Seconds on a processor.
    pub cpu_s: f64,
    /// Seconds ready to run, waiting for a processor.
    pub run_queue_s: f64,
}

/// A session that waits, now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WaitingTask {
    /// The waiting session.
    pub session: TaskSession,
    /// The wait type.
    pub wait_type: String,
    /// Seconds that it has waited, where the engine reports it.
    pub waited_s: Option<f64>,
    /// The wanted resource by name: `row 3 of page 7 of public.accounts`.
    pub resource: Option<String>,
    /// The lock that it wants.
    pub lock_mode: Option<String>,
    /// The sessions that block it.
    pub blocked_by: Vec<TaskSession>,
}

/// A session that waits or is waited for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskSession {
    /// The engine's number of the session; 0 of a prepared transaction.
    pub pid: i32,
    /// Kind of process: `client backend`, `autovacuum worker`.
    pub process: String,
    /// The session whose query it works for, if it is a worker of one.
    pub leader: Option<i32>,
    /// Name of the prepared transaction, which no session has any more.
    pub prepared: Option<String>,
    /// User of the session.
    pub user: String,
    /// Application name of the client.
    pub application: String,
    /// The database.
    pub database: String,
    /// `active`, `idle in transaction`; empty where our role may not see it.
    pub state: String,
    /// Seconds in this state.
    pub state_s: Option<f64>,
    /// The statement, or its last one.
    pub statement: String,
    /// Seconds since the statement began.
    pub statement_s: Option<f64>,
    /// Seconds since the transaction began, or was prepared.
    pub transaction_s: Option<f64>,
    /// The statement that ends the session and rolls its transaction back: `KILL 53`.
    pub ended_by: Option<String>,
}

impl TaskSession {
    /// Returns whether it keeps a transaction with its locks open while its client is idle.
    pub fn is_idle_in_transaction(&self) -> bool {
        self.state.starts_with("idle in transaction")
    }
}
