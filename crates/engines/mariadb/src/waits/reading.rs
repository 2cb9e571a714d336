//! Counters of server and kernel at a moment.

use crate::client::Client;
use crate::errors::failed_at;
use engine::{Result, Row, Rows};
use observations::{CounterReadings, Operation};
use observe::ThreadTimes;
use std::collections::BTreeMap;
use std::time::Instant;

/// The unit of the Performance Schema.
const PICOSECONDS: f64 = 1e-12;

/// Of which sessions waits are read.
#[derive(Debug, Clone, Copy)]
pub enum Scope<'a> {
    /// Of these.
    Sessions(&'a [u32]),
    /// Of all that clients have or had, but these: a session that has ended is in the sums of its
    /// account.
    AllBut(&'a [u32]),
}

/// A reading of counters.
#[derive(Debug)]
pub struct Reading {
    pub at: Instant,
    /// By number of the session (0: of all) and name of the event: how often, and picoseconds.
    events: BTreeMap<(u32, String), (u64, u64)>,
    /// The number of times that events were counted by account, before ours are subtracted: it only
    /// grows.
    of_accounts: BTreeMap<String, u64>,
    /// The time that sessions that have nothing to do have waited for their next statement, in
    /// seconds: no event has it yet.
    idle_s: f64,
    /// The time that sessions have waited for the row locks that they wait for now: the counter has
    /// it when they have them.
    row_locks_s: f64,
    /// `InnoDB`'s counters, by name.
    status: BTreeMap<String, u64>,
    /// Operations on files, of all threads of the server, and `InnoDB`'s waits for row locks.
    operations: Vec<Operation>,
    /// Operations on data files, which come and go.
    data_files: Vec<Operation>,
    /// Of the sessions' threads, where the kernel reports them.
    pub sessions: Option<ThreadTimes>,
    /// Processor seconds of the server, all threads.
    pub server: Option<f64>,
}

/// Counters that were reset between two readings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Resets {
    /// Waits by event.
    pub events: bool,
    /// Operations on files, and `InnoDB`'s counters.
    pub operations: bool,
}

impl Resets {
    /// The missing figures, one sentence each.
    pub fn lost(self) -> impl Iterator<Item = String> {
        let causes = [
            (self.events, "Waits counted by the server"),
            (self.operations, "Reads and writes of files"),
        ];
        causes.into_iter().filter(|(was_reset, _)| *was_reset).map(|(_, what)| {
            format!("{what}: the counters were reset during the interval; measure again.")
        })
    }
}

/// A wait on a table contains those below it.
const NOT_NESTED: &str = "count_star > 0 AND event_name NOT LIKE 'wait/io/table/%' AND \
                              event_name NOT LIKE 'wait/lock/table/%'";

/// A wait for a lock of metadata contains the wait for its condition.
pub(crate) const METADATA: &str = "wait/lock/metadata/sql/mdl";
const METADATA_CONDITION: &str = "wait/synch/cond/sql/MDL_context::COND_wait_status";

const FILES: &str = "SELECT event_name, count_read, sum_number_of_bytes_read, sum_timer_read, \
                     count_write, sum_number_of_bytes_write, sum_timer_write, count_misc, 0, \
                     sum_timer_misc FROM performance_schema.file_summary_by_event_name WHERE \
                     count_star > 0";

/// Data files by the folder of their database and their name.
const DATA_FILES: &str = "SELECT substring_index(file_name, '/', -2), sum(count_read), \
     sum(sum_number_of_bytes_read), sum(sum_timer_read), sum(count_write), \
     sum(sum_number_of_bytes_write), sum(sum_timer_write), sum(count_misc), 0, \
     sum(sum_timer_misc) FROM performance_schema.file_summary_by_instance WHERE event_name = \
     'wait/io/file/innodb/innodb_data_file' AND count_star > 0 GROUP BY 1";

/// The sessions of a server, with columns that both MariaDB and MySQL have: `id`, `command`,
/// `state`, `info`, `user`, `db`, `tid` (number of the thread in the system) and `time_ms` (in this
/// state).
pub fn sessions(client: &mut Client) -> &'static str {
    if client.is_mariadb() {
        "(SELECT id, command, coalesce(state, '') AS state, info, user, coalesce(db, '') AS db, \
         tid, time_ms FROM information_schema.processlist) AS sessions"
    } else if matches!(client.cell("SELECT @@performance_schema"), Ok(Some(off)) if off == "0") {
        "(SELECT id, command, coalesce(state, '') AS state, info, user, coalesce(db, '') AS db, \
         NULL AS tid, 1000 * time AS time_ms FROM information_schema.processlist) AS sessions"
    } else {
        "(SELECT processlist_id AS id, processlist_command AS command, coalesce(processlist_state, \
         '') AS state, processlist_info AS info, processlist_user AS user, \
         coalesce(processlist_db, '') AS db, thread_os_id AS tid, 1000 * processlist_time AS \
         time_ms FROM performance_schema.threads WHERE processlist_id IS NOT NULL) AS sessions"
    }
}

/// Times of threads of a process, summed; `None` when one cannot be seen.
fn thread_times(pid: i32, threads: &[i32]) -> Option<ThreadTimes> {
    let mut sum = ThreadTimes::default();
    for thread in threads {
        let times = ThreadTimes::read(pid, *thread)?;
        sum.cpu_ns += times.cpu_ns;
        sum.run_delay_ns += times.run_delay_ns;
    }
    Some(sum)
}

/// Numbers with commas; NULL for none, which nothing is in.
pub fn list(sessions: &[u32]) -> String {
    let numbers: Vec<String> = sessions.iter().map(u32::to_string).collect();
    if numbers.is_empty() { "NULL".into() } else { numbers.join(", ") }
}

/// Seconds that sessions have waited so far for row locks, in MariaDB. The start of a wait is known
/// to the second; the time in the present state, to the millisecond, is not shorter than the wait.
const ROW_LOCKS_OF_MARIADB: &str = "SELECT sum(least(time_ms / 1000, 1 + timestampdiff(SECOND, \
    trx_wait_started, now()))) FROM information_schema.innodb_trx JOIN \
    information_schema.processlist ON id = trx_mysql_thread_id WHERE trx_state = 'LOCK WAIT'";

/// Seconds of such waits in MySQL. The time of the statement is not shorter than its wait.
const ROW_LOCKS_OF_MYSQL: &str = "SELECT sum(timer_wait) / 1e12 FROM \
    information_schema.innodb_trx JOIN performance_schema.threads ON processlist_id = \
    trx_mysql_thread_id JOIN performance_schema.events_statements_current USING (thread_id) WHERE \
    trx_state = 'LOCK WAIT' AND end_event_id IS NULL AND nesting_event_level = 0";

/// Seconds that sessions have waited so far for the row locks that they wait for.
fn row_locks_s(client: &mut Client) -> f64 {
    let sql = if client.is_mariadb() { ROW_LOCKS_OF_MARIADB } else { ROW_LOCKS_OF_MYSQL };
    // Without the PROCESS privilege only the waits that have ended are known.
    client.cell(sql).ok().flatten().and_then(|seconds| seconds.parse().ok()).unwrap_or(0.0)
}

impl Reading {
    #[expect(clippy::too_many_lines, reason = "one list of steps, wrapped at 100 columns")]
    pub fn read(client: &mut Client, scope: Scope<'_>, pid: Option<i32>) -> Result<Self> {
        let rows = |client: &mut Client, sql: &str| {
            client.query(sql).map_err(failed_at("reading the server's counters"))
        };
        let (listed, others) = match scope {
            Scope::Sessions(sessions) => (list(sessions), false),
            Scope::AllBut(excluded) => (list(excluded), true),
        };
        let chosen =
            if others { format!("id NOT IN (0, {listed})") } else { format!("id IN ({listed})") };
        let of_sessions = sessions(client);
        let sql = format!("SELECT tid, command, time_ms FROM {of_sessions} WHERE {chosen}");
        let (mut threads, mut idle_s) = (Vec::new(), 0.0);
        for row in rows(client, &sql)?.iter() {
            threads.extend(row.parse::<i32>(0));
            if row.get(1) == Some("Sleep") {
                idle_s += row.parse(2).unwrap_or(0.0) / 1e3;
            }
        }
        let sessions =
            pid.and_then(|pid| thread_times(pid, &threads).filter(|_| !threads.is_empty()));
        let server = pid.and_then(observe::process_cpu_s);
        let row_locks_s = if others { row_locks_s(client) } else { 0.0 };
        let at = Instant::now();
        let (mut events, mut of_accounts) = (BTreeMap::new(), BTreeMap::new());
        let by_thread = format!(
            "SELECT processlist_id, event_name, count_star, sum_timer_wait FROM \
             performance_schema.events_waits_summary_by_thread_by_event_name JOIN \
             performance_schema.threads USING (thread_id) WHERE processlist_id IN ({listed}) AND \
             {NOT_NESTED}"
        );
        let by_thread = rows(client, &by_thread)?;
        let of_own = by_thread.iter().map(event);
        if others {
            let by_account = format!(
                "SELECT 0, event_name, sum(count_star), sum(sum_timer_wait) FROM \
                 performance_schema.events_waits_summary_by_account_by_event_name WHERE user IS \
                 NOT NULL AND {NOT_NESTED} GROUP BY event_name"
            );
            events.extend(rows(client, &by_account)?.iter().map(event));
            let counted = events.iter();
            of_accounts.extend(counted.map(|((_, name), (count, _))| (name.clone(), *count)));
            for ((_, name), (count, time)) in of_own {
                let all: &mut (u64, u64) = events.entry((0, name)).or_default();
                *all = (all.0.saturating_sub(count), all.1.saturating_sub(time));
            }
        } else {
            events.extend(of_own);
        }
        // MariaDB and MySQL keep these in tables of different names.
        let status = rows(client, "SHOW GLOBAL STATUS LIKE 'Innodb%'")?;
        let status: BTreeMap<String, u64> =
            status.iter().map(|row| (row.text(0).to_lowercase(), number(row, 1))).collect();
        let mut operations: Vec<Operation> = rows(client, FILES)?.iter().flat_map(file).collect();
        // Where the server counts no files, InnoDB does.
        let has_files = !operations.is_empty();
        let of_innodb = OF_INNODB.iter().filter(|(.., is_of_files)| !(*is_of_files && has_files));
        operations.extend(of_innodb.filter_map(|(name, counters, _)| {
            let [count, bytes, wall_ms] = counters.map(|counter| status.get(counter).copied());
            let wall_s = wall_ms.unwrap_or(0) as f64 / 1e3;
            Some(Operation {
                name: (*name).into(),
                count: count?,
                bytes: bytes.unwrap_or(0),
                wall_s,
            })
        }));
        let data_files = if others { rows(client, DATA_FILES)? } else { Rows::default() };
        let data_files = data_files.iter().flat_map(file).collect();
        Ok(Self {
            at,
            events,
            of_accounts,
            idle_s,
            row_locks_s,
            status,
            operations,
            data_files,
            sessions,
            server,
        })
    }

    /// Returns the waits of these sessions since an earlier reading: event name, count and wall
    /// seconds. A session also waits for its next statement across readings, which adds one event
    /// on each side.
    pub fn events_since(&self, before: &Self, scope: Scope<'_>) -> BTreeMap<String, (u64, f64)> {
        let mut sums: BTreeMap<String, (u64, f64)> = BTreeMap::new();
        for ((session, name), (count, time)) in &self.events {
            let then = before.events.get(&(*session, name.clone())).copied().unwrap_or_default();
            let (count, time) = (count.saturating_sub(then.0), time.saturating_sub(then.1));
            let is_chosen = match scope {
                Scope::Sessions(sessions) => sessions.contains(session),
                Scope::AllBut(_) => true,
            };
            if count > 0 && is_chosen {
                let sum = sums.entry(name.clone()).or_default();
                *sum = (sum.0 + count, sum.1 + time as f64 * PICOSECONDS);
            }
        }
        if sums.contains_key(METADATA) {
            sums.remove(METADATA_CONDITION);
        }
        if let Some((_, idle_s)) = sums.get_mut("idle") {
            *idle_s = (*idle_s + self.idle_s - before.idle_s).max(0.0);
        }
        sums
    }

    /// The rows of this reading and of `after`: waits of all sessions by event, `InnoDB`'s
    /// counters, operations on files.
    pub fn pairs(&self, after: &Self) -> Vec<CounterReadings> {
        let readings = [self, after];
        vec![
            CounterReadings::from_rows(
                "performance_schema.events_waits_summary_by_account_by_event_name",
                ["event_name", "count_star", "sum_timer_wait"],
                readings.map(|reading| {
                    reading
                        .events
                        .iter()
                        .filter(|((session, _), _)| *session == 0)
                        .map(|((_, name), (count, time))| {
                            [name.clone(), count.to_string(), time.to_string()]
                        })
                        .collect()
                }),
            ),
            CounterReadings::from_rows(
                "SHOW GLOBAL STATUS LIKE 'Innodb%'",
                ["name", "value"],
                readings.map(|reading| {
                    reading
                        .status
                        .iter()
                        .map(|(name, value)| [name.clone(), value.to_string()])
                        .collect()
                }),
            ),
            CounterReadings::from_rows(
                "performance_schema.file_summary_by_event_name",
                ["name", "count", "bytes", "s"],
                readings.map(|reading| {
                    reading
                        .operations
                        .iter()
                        .chain(&reading.data_files)
                        .map(|Operation { name, count, bytes, wall_s }| {
                            [name.clone(), count.to_string(), bytes.to_string(), wall_s.to_string()]
                        })
                        .collect()
                }),
            ),
        ]
    }

    /// The counters that fell since an earlier reading: they were reset, and have no difference.
    pub fn resets_since(&self, before: &Self) -> Resets {
        let fell = |then: u64, now: Option<u64>| now.is_none_or(|now| now < then);
        let mut accounts = before.of_accounts.iter();
        let mut sessions = self.events.iter().filter(|((session, _), _)| *session != 0);
        Resets {
            events: accounts.any(|(name, then)| fell(*then, self.of_accounts.get(name).copied()))
                || sessions.any(|(key, now)| before.events.get(key).is_some_and(|t| now.0 < t.0)),
            operations: before.operations.iter().any(|then| {
                let now = self.operations.iter().find(|now| now.name == then.name);
                fell(then.count, now.map(|now| now.count))
            }),
        }
    }

    pub fn status_since(&self, before: &Self, name: &str) -> u64 {
        let of = |reading: &Self| reading.status.get(name).copied().unwrap_or(0);
        of(self).saturating_sub(of(before))
    }

    /// Returns the number of times that `InnoDB` waited for a row lock, and seconds.
    pub fn row_locks_since(&self, before: &Self) -> (u64, f64) {
        let ended_s = self.status_since(before, "innodb_row_lock_time") as f64 / 1e3;
        let seconds = ended_s + self.row_locks_s - before.row_locks_s;
        (self.status_since(before, "innodb_row_lock_waits"), seconds.max(0.0))
    }

    pub fn operations_since(&self, before: &Self) -> Vec<Operation> {
        self.operations
            .iter()
            .chain(&self.data_files)
            .map(|now| {
                let mut earlier = before.operations.iter().chain(&before.data_files);
                // A file that was made again under its name counts from then on.
                let then = earlier.find(|then| then.name == now.name && then.count <= now.count);
                let (count, bytes, wall_s) =
                    then.map_or((0, 0, 0.0), |then| (then.count, then.bytes, then.wall_s));
                Operation {
                    name: now.name.clone(),
                    count: now.count.saturating_sub(count),
                    bytes: now.bytes.saturating_sub(bytes),
                    wall_s: (now.wall_s - wall_s).max(0.0),
                }
            })
            .filter(|operation| operation.count > 0)
            .collect()
    }
}

/// A counter; a value that is not a number counts as 0.
fn number(row: Row<'_>, column: usize) -> u64 {
    row.parse(column).unwrap_or(0)
}

fn event(row: Row<'_>) -> ((u32, String), (u64, u64)) {
    ((number(row, 0) as u32, row.text(1)), (number(row, 2), number(row, 3)))
}

/// `InnoDB`'s own counters: status variables (<https://mariadb.com/kb/en/innodb-status-variables/>)
/// of the count, bytes and milliseconds, if any; and whether the Performance Schema counts it by
/// file, where it counts files.
#[rustfmt::skip]
const OF_INNODB: [(&str, [&str; 3], bool); 8] = [
    ("InnoDB row lock wait", ["innodb_row_lock_waits", "", "innodb_row_lock_time"], false),
    ("InnoDB doublewrite page", ["innodb_dblwr_pages_written", "", ""], false),
    ("InnoDB wait for a free page", ["innodb_buffer_pool_wait_free", "", ""], false),
    ("InnoDB wait for room in the log buffer", ["innodb_log_waits", "", ""], false),
    ("InnoDB data read", ["innodb_data_reads", "innodb_data_read", ""], true),
    ("InnoDB data write", ["innodb_data_writes", "innodb_data_written", ""], true),
    ("InnoDB data sync", ["innodb_data_fsyncs", "", ""], true),
    ("InnoDB log write", ["innodb_log_writes", "innodb_os_log_written", ""], true),
];

/// The operations of a row of `file_summary_by_event_name`: reads, writes, and others, such as
/// syncs.
fn file(row: Row<'_>) -> [Operation; 3] {
    let name = row.get(0).unwrap_or_default();
    let name = name.strip_prefix("wait/io/file/").unwrap_or(name);
    [("read", 1), ("write", 4), ("other", 7)].map(|(kind, at)| Operation {
        name: format!("{name} {kind}"),
        count: number(row, at),
        bytes: number(row, at + 1),
        wall_s: number(row, at + 2) as f64 * PICOSECONDS,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operation(name: &str, count: u64) -> Operation {
        Operation { name: name.into(), count, bytes: count * 10, wall_s: count as f64 }
    }

    /// A reading of all sessions, with these numbers of waits, log reads and data file reads.
    fn reading(waits: u64, log: u64, data: u64) -> Reading {
        let name = "wait/io/file/sql/binlog".to_owned();
        Reading {
            at: Instant::now(),
            events: [((0, name.clone()), (waits, waits))].into(),
            of_accounts: [(name, waits)].into(),
            idle_s: 0.0,
            row_locks_s: 0.0,
            status: BTreeMap::new(),
            operations: vec![operation("sql/binlog read", log)],
            data_files: vec![operation("d/t.ibd read", data)],
            sessions: None,
            server: None,
        }
    }

    #[test]
    fn counters_that_fell_were_reset() {
        let before = reading(5, 6, 7);
        let of = |after: Reading| after.resets_since(&before);
        assert_eq!(of(reading(5, 6, 9)), Resets::default());
        assert_eq!(of(reading(4, 8, 7)), Resets { events: true, operations: false });
        let gone = Reading { operations: Vec::new(), ..reading(9, 9, 9) };
        assert_eq!(of(gone), Resets { events: false, operations: true });
        let lost: Vec<String> = of(reading(1, 1, 1)).lost().collect();
        assert!(lost.len() == 2 && lost.iter().all(|gap| gap.contains("were reset")), "{lost:?}");
    }

    #[test]
    fn a_data_file_that_was_made_again_counts_from_then_on() {
        let counts = |after: Reading| -> Vec<u64> {
            after.operations_since(&reading(5, 6, 7)).iter().map(|wait| wait.count).collect()
        };
        assert_eq!(counts(reading(5, 8, 9)), [2, 2]);
        assert_eq!(counts(reading(5, 8, 3)), [2, 3]);
    }
}
