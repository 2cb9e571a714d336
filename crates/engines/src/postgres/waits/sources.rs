//! What samples are completed by: who is connected, the profile of `pg_wait_sampling`, the kernel's times.

use super::statement::TEXT_MAX;
use super::window::{Process, Sample};
use super::{OBSERVER, counters, while_doing};
use crate::ServerError;
use crate::postgres::is_local;
use observations::redacted;
use observe::ProcessTimes;
use pgclient::{Client, Statement, quote_identifier};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

/// Who is connected: read about once a second, because it costs more than a sample.
#[derive(Debug)]
pub(super) struct Roster {
    list: Statement,
    /// The processes there are, without our own.
    pub(super) present: HashMap<i32, Process>,
    /// Connections of ours, and of other observers like us, which are not reported.
    pub(super) observers: HashSet<i32>,
    /// Texts of statements seen, by their number.
    pub(super) statements: HashMap<i64, String>,
    text_bytes: usize,
}

/// Most bytes of statements' texts that are kept; the others have only their number.
const TEXT_BYTES_MAX: usize = 16 << 20;

impl Roster {
    /// Prepares it; statements' texts are kept only if they are asked for.
    pub(super) fn prepare(client: &mut Client, with_statements: bool) -> Result<Self, ServerError> {
        let text = if with_statements { format!("left(query, {TEXT_MAX})") } else { "NULL".to_owned() };
        let sql = format!(
            "SELECT pid, backend_type, application_name, usename, datname, query_id, {text} AS query, \
             query = '<insufficient privilege>' AS hidden FROM pg_stat_activity"
        );
        let list = client.prepare(&sql).map_err(while_doing("listing the server's processes"))?;
        Ok(Self {
            list,
            present: HashMap::new(),
            observers: HashSet::new(),
            statements: HashMap::new(),
            text_bytes: 0,
        })
    }

    pub(super) fn read(&mut self, client: &mut Client) -> Result<(), ServerError> {
        let rows =
            client.query_prepared(&self.list, &[]).map_err(while_doing("listing the server's processes"))?;
        self.present.clear();
        for row in rows.iter() {
            let Some(pid) = row.parse(0) else { continue };
            let process = Process {
                kind: row.text(1),
                application: redacted(&row.text(2)),
                user: row.text(3),
                database: row.text(4),
                hidden: row.get(7) == Some("t"),
            };
            if process.application == OBSERVER {
                self.observers.insert(pid);
                continue;
            }
            if let (Some(id), Some(query)) = (row.parse(5), row.parse::<String>(6))
                && let Entry::Vacant(unknown) = self.statements.entry(id)
                && self.text_bytes + query.len() <= TEXT_BYTES_MAX
            {
                self.text_bytes += query.len();
                unknown.insert(query);
            }
            // The number of an observer that has ended may be given to anybody.
            self.observers.remove(&pid);
            self.present.insert(pid, process);
        }
        Ok(())
    }
}

/// The profile of waits that the extension `pg_wait_sampling` keeps: it looks at every process once
/// in `pg_wait_sampling.profile_period` and counts the waits that it sees.
#[derive(Debug)]
pub(super) struct Profile {
    read: Statement,
    /// Samples of each line. Without a wait: on a processor (versions 1.1.6 and later).
    before: HashMap<Sample, u64>,
    pub(super) hz: f64,
}

impl Profile {
    /// The profile, where the extension is installed in this database, loaded, readable for us,
    /// and tells processes apart.
    pub(super) fn find(client: &mut Client) -> Option<Self> {
        let setting = "SELECT quote_ident(n.nspname), \
                       current_setting('pg_wait_sampling.profile_period', true)::float8, \
                       current_setting('pg_wait_sampling.profile_pid', true)::bool \
                       FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace \
                       WHERE e.extname = 'pg_wait_sampling'";
        let rows = client.query(setting, &[]).ok()?;
        let row = rows.iter().next()?;
        let period_ms = row.parse::<f64>(1).filter(|period| *period > 0.0)?;
        if row.get(2) != Some("t") {
            return None;
        }
        let sql = format!(
            "SELECT pid, event_type, event, queryid, count FROM {}.{}",
            row.get(0)?,
            quote_identifier("pg_wait_sampling_profile")
        );
        let read = client.prepare(&sql).ok()?;
        let mut profile = Self { read, before: HashMap::new(), hz: 1000.0 / period_ms };
        // Reading fails where the extension is installed but not loaded, or not for our role.
        profile.advance(client).ok()?;
        Some(profile)
    }

    /// What was counted since the last call.
    pub(super) fn advance(&mut self, client: &mut Client) -> Result<HashMap<Sample, u64>, ServerError> {
        let doing = "reading pg_wait_sampling's profile";
        let rows = client.query_prepared(&self.read, &[]).map_err(while_doing(doing))?;
        let mut now = HashMap::with_capacity(rows.len());
        for row in rows.iter() {
            let wait = row.get(1).zip(row.get(2)).filter(|(kind, _)| !kind.is_empty());
            let sample = Sample {
                pid: row.parse(0).unwrap_or(0),
                state: String::new(),
                wait: wait.map(|(kind, event)| format!("{kind}:{event}")),
                query_id: row.parse(3).filter(|id| *id != 0),
                idle: wait.is_some_and(|(kind, event)| kind == "Activity" || event == "ClientRead"),
            };
            *now.entry(sample).or_insert(0) += row.parse(4).unwrap_or(0);
        }
        let before = std::mem::replace(&mut self.before, now);
        let is_less =
            |(sample, count): (&Sample, &u64)| self.before.get(sample).is_none_or(|now| now < count);
        if before.iter().any(is_less) {
            return Err(counters::reset("pg_wait_sampling_profile"));
        }
        let more =
            |(sample, now): (&Sample, &u64)| (sample.clone(), now - before.get(sample).copied().unwrap_or(0));
        Ok(self.before.iter().map(more).filter(|(_, more)| *more > 0).collect())
    }
}

/// Follows the time that the server's processes use, as the kernel counts it.
///
/// Processes are read about once a second, so that one that ends is counted up to its last reading.
#[derive(Debug, Default)]
pub(super) struct KernelWatch {
    last: HashMap<i32, ProcessTimes>,
    /// What each process has used in this window, by its number.
    used: HashMap<i32, ProcessTimes>,
    begun: bool,
}

impl KernelWatch {
    /// A watch, if the server's processes are processes of this machine.
    pub(super) fn of(client: &Client, user: &str) -> Option<Self> {
        // `of` fails where the kernel does not keep the time of the run queue.
        (is_local(client, user) && ProcessTimes::of(client.backend_pid()).is_some()).then(Self::default)
    }

    /// Reads the processes that there are. The first call of a watch begins its first window.
    pub(super) fn read(&mut self, pids: impl Iterator<Item = i32>) {
        for pid in pids {
            let Some(times) = ProcessTimes::of(pid) else { continue };
            self.see(pid, times);
        }
        self.begun = true;
    }

    fn see(&mut self, pid: i32, times: ProcessTimes) {
        // A process that begins in a window, or has the number of one that has ended, began at 0.
        let newborn = ProcessTimes { started_ticks: times.started_ticks, ..ProcessTimes::default() };
        let last = self.last.insert(pid, times).filter(|last| last.started_ticks == times.started_ticks);
        let last = last.unwrap_or(if self.begun { newborn } else { times });
        add(self.used.entry(pid).or_default(), times.since(last));
    }

    /// Ends a window and begins the next: the time used by each process, by its number.
    pub(super) fn take(&mut self) -> HashMap<i32, ProcessTimes> {
        self.last.retain(|pid, _| self.used.contains_key(pid));
        std::mem::take(&mut self.used)
    }
}

fn add(sum: &mut ProcessTimes, more: ProcessTimes) {
    sum.cpu_ns += more.cpu_ns;
    sum.user_ticks += more.user_ticks;
    sum.system_ticks += more.system_ticks;
    sum.run_delay_ns += more.run_delay_ns;
    sum.started_ticks = more.started_ticks;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(started_ticks: u64, cpu_ns: u64) -> ProcessTimes {
        ProcessTimes { started_ticks, cpu_ns, run_delay_ns: cpu_ns / 10, ..ProcessTimes::default() }
    }

    fn cpu(used: &HashMap<i32, ProcessTimes>) -> Vec<(i32, u64)> {
        let mut used: Vec<_> = used.iter().map(|(pid, times)| (*pid, times.cpu_ns)).collect();
        used.sort_unstable();
        used
    }

    #[test]
    fn old_new_ended_and_replaced_processes_count_for_what_they_used() {
        let mut watch = KernelWatch::default();
        watch.see(1, times(5, 1000));
        watch.see(2, times(5, 1000));
        watch.begun = true;
        // 3 is new, 2 has ended and its number was given to another, 1 goes on.
        watch.see(2, times(5, 1300));
        watch.see(2, times(9, 50));
        watch.see(3, times(9, 70));
        watch.see(1, times(5, 1010));
        assert_eq!(cpu(&watch.take()), [(1, 10), (2, 350), (3, 70)]);
        // In the next window 3 is not seen any more and 1 goes on.
        watch.see(1, times(5, 1030));
        watch.see(2, times(9, 60));
        assert_eq!(cpu(&watch.take()), [(1, 20), (2, 10)]);
    }
}
