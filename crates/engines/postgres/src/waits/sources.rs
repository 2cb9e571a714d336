//! The sources of samples of PostgreSQL: `pg_stat_activity`, or the profile of `pg_wait_sampling`.

use super::counters;
use crate::client::{Client, Config, Statement, quote_identifier};
use crate::connecting::{OBSERVER, is_local, observer};
use engine::{ObserveOptions, ServerError, while_doing};
use observe::ProcessTimes;
use servers::activity::{Idle, Process, Roster, Sample, Sampler, Source};
use std::collections::HashMap;
use std::time::Duration;
use work::sql::statement::TEXT_MAX;

/// Samples come from polls of this view, or from the profile that this extension keeps in the
/// server.
pub const ACTIVITY: &str = "pg_stat_activity";
/// The extension.
pub const PROFILE: &str = "pg_wait_sampling";

/// A snapshot of the processes, as cheap as we know: about 0.1 ms of the server's time for 64
/// connections. Idle sessions are left out, as are those that our role may not see.
const SAMPLE: &str = "SELECT pid, state, wait_event_type, wait_event, query_id FROM \
                      pg_stat_get_activity(NULL) WHERE wait_event_type IS DISTINCT FROM \
                      'Activity' AND (wait_event IS DISTINCT FROM 'ClientRead' OR state IS \
                      DISTINCT FROM 'idle') AND backend_type IS NOT NULL AND pid <> \
                      pg_backend_pid()";

/// A connection on which a server is sampled.
#[derive(Debug)]
struct PostgresSource {
    client: Client,
    sample: Statement,
    list: Statement,
    roster: Roster,
    profile: Option<Profile>,
    is_local: bool,
}

/// Connects, and begins to sample.
///
/// # Errors
/// When the server refuses, or no thread can be started.
pub fn sampler(config: &Config, options: ObserveOptions) -> Result<Sampler, ServerError> {
    sampler_on(observer(config, None)?, options, servers::activity::ROSTER_PERIOD)
}

/// Creates a sampler on an observing connection.
pub(super) fn sampler_on(
    mut client: Client,
    options: ObserveOptions,
    roster_period: Duration,
) -> Result<Sampler, ServerError> {
    let disconnector = client.disconnector().map_err(while_doing("connecting"))?;
    let text =
        if options.statements { format!("left(query, {TEXT_MAX})") } else { "NULL".to_owned() };
    let list = format!(
        "SELECT pid, backend_type, application_name, usename, datname, query_id, {text} AS query, \
         query = '<insufficient privilege>' AS hidden FROM pg_stat_activity"
    );
    let user =
        client.cell("SELECT session_user").map_err(while_doing("identifying this session"))?;
    // `of` fails where the kernel does not keep the time of the run queue.
    let is_local = is_local(&client, &user.unwrap_or_default())
        && ProcessTimes::read(client.backend_pid()).is_some();
    let source = PostgresSource {
        sample: client.prepare(SAMPLE).map_err(while_doing("preparing to sample"))?,
        list: client.prepare(&list).map_err(while_doing("listing the server's processes"))?,
        roster: Roster::default(),
        profile: options.use_profile.then(|| Profile::find(&mut client)).flatten(),
        is_local,
        client,
    };
    Sampler::start(
        Box::new(source),
        options.hz,
        roster_period,
        Box::new(move || disconnector.disconnect()),
    )
}

impl Source for PostgresSource {
    fn name(&self) -> &'static str {
        if self.profile.is_some() { PROFILE } else { ACTIVITY }
    }

    fn sample(&mut self) -> Result<Vec<Sample>, ServerError> {
        let rows =
            self.client.query_prepared(&self.sample, &[]).map_err(while_doing("sampling"))?;
        Ok(rows
            .iter()
            .filter_map(|row| {
                Some(Sample {
                    pid: row.parse(0)?,
                    state: row.text(1),
                    wait: row.get(2).zip(row.get(3)).map(|(kind, event)| format!("{kind}:{event}")),
                    query_id: row.parse(4),
                    idle: false,
                    runnable: None,
                })
            })
            .collect())
    }

    fn list(&mut self) -> Result<(), ServerError> {
        let doing = "listing the server's processes";
        let rows = self.client.query_prepared(&self.list, &[]).map_err(while_doing(doing))?;
        self.roster.present.clear();
        for row in rows.iter() {
            let Some(pid) = row.parse(0) else { continue };
            let process = Process {
                kind: row.text(1),
                application: row.text(2),
                user: row.text(3),
                database: row.text(4),
                hidden: row.get(7) == Some("t"),
            };
            if process.application == OBSERVER {
                self.roster.observers.insert(pid);
                continue;
            }
            if let (Some(id), Some(query)) = (row.parse(5), row.get(6)) {
                self.roster.keep(id, query);
            }
            // The number of an observer that has ended may be reused by any process.
            self.roster.observers.remove(&pid);
            self.roster.present.insert(pid, process);
        }
        Ok(())
    }

    fn roster(&self) -> &Roster {
        &self.roster
    }

    fn times(&self, pid: i32) -> Option<ProcessTimes> {
        ProcessTimes::read(pid)
    }

    fn is_runnable(&self, pid: i32) -> Option<bool> {
        observe::processes::is_runnable(pid, pid)
    }

    fn is_local(&self) -> bool {
        self.is_local
    }

    fn idle(&self) -> Idle {
        Idle { state: "idle", client: "Client:ClientRead", background: "Activity:Idle" }
    }

    fn own_hz(&self) -> Option<f64> {
        self.profile.as_ref().map(|profile| profile.hz)
    }

    fn own_samples(&mut self) -> Result<HashMap<Sample, u64>, ServerError> {
        let profile = self.profile.as_mut();
        profile.map_or(Ok(HashMap::new()), |profile| profile.advance(&mut self.client))
    }
}

/// The profile of waits that the extension `pg_wait_sampling` keeps: it looks at every process once
/// in `pg_wait_sampling.profile_period` and counts the waits that it sees.
#[derive(Debug)]
struct Profile {
    read: Statement,
    /// Samples of each line. Without a wait: on a processor (versions 1.1.6 and later).
    before: HashMap<Sample, u64>,
    hz: f64,
}

impl Profile {
    /// The profile, where the extension is installed in this database, loaded, readable for us,
    /// and distinguishes processes.
    fn find(client: &mut Client) -> Option<Self> {
        let setting = "SELECT quote_ident(n.nspname), \
                       current_setting('pg_wait_sampling.profile_period', true)::float8, \
                       current_setting('pg_wait_sampling.profile_pid', true)::bool FROM \
                       pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE \
                       e.extname = 'pg_wait_sampling'";
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

    /// Returns the counts since the last call.
    fn advance(&mut self, client: &mut Client) -> Result<HashMap<Sample, u64>, ServerError> {
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
                runnable: None,
            };
            *now.entry(sample).or_insert(0) += row.parse(4).unwrap_or(0);
        }
        let before = std::mem::replace(&mut self.before, now);
        if before
            .iter()
            .any(|(sample, count)| self.before.get(sample).is_none_or(|now| now < count))
        {
            return Err(counters::reset("pg_wait_sampling_profile"));
        }
        let more = |(sample, now): (&Sample, &u64)| {
            (sample.clone(), now - before.get(sample).copied().unwrap_or(0))
        };
        Ok(self.before.iter().map(more).filter(|(_, more)| *more > 0).collect())
    }
}
