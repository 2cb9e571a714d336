//! `steelbench waits` of a server: counters between two readings, samples in between, and who waits
//! for whom at the end.

use super::client::{Client, Error};
use super::config::Config;
use super::identity::Identity;
use super::reading::Reading;
use super::sampler::Sampler;
use super::samples::{Samples, name_pages};
use super::session::{LAST_ANSWERS, observing};
use super::tasks;
use super::views;
use crate::WAIT_TYPES;
use engine::view::ViewRows;
use engine::{LiveObserver, ObserveOptions, ServerError, View, while_doing};
use observations::{CounterReadings, Sampling, ServerActivity, TimeUse, WaitingTask};
use servers::activity::cells::meanings;
use std::collections::BTreeSet;
use std::time::Instant;
use work::Stop;
use work::sql::Syntax;
use work::sql::statement;

/// Statements whose text is read.
const TEXTS_MAX: usize = 100;

/// Watches all sessions of a server.
#[derive(Debug)]
pub(crate) struct SqlServerObserver {
    client: Client,
    identity: Identity,
    waits: &'static View,
    /// Why sessions are hidden from this login.
    hidden: Option<String>,
    before: Reading,
    /// That of the interval before, and the interval was seen to its end.
    earlier: Option<Reading>,
    sampler: Sampler,
    /// Waiting sessions at the end of the previous interval.
    tasks: Option<Vec<WaitingTask>>,
    options: ObserveOptions,
}

impl SqlServerObserver {
    /// Connects, and begins the first interval.
    pub fn start(
        config: &Config,
        options: ObserveOptions,
        stop: &Stop,
    ) -> Result<Self, ServerError> {
        let mut client = observing(config, stop, LAST_ANSWERS)?;
        let identity = Identity::read(&mut client)?;
        let waits = identity.waits();
        let permission = if identity.is_azure_database() {
            &views::DATABASE_PERMISSION
        } else {
            &views::PERMISSION
        };
        let may = client.view(permission).map_err(while_doing("reading permissions"))?;
        let hidden = hidden(permission.name, &may);
        let sampler = Sampler::start(
            observing(config, stop, LAST_ANSWERS)?,
            views::REQUESTS.sql(),
            options.hz,
        )?;
        let before =
            Reading::read(&mut client, waits).map_err(while_doing("reading its counters"))?;
        let (earlier, tasks) = (None, None);
        Ok(Self { client, identity, waits, hidden, before, earlier, sampler, tasks, options })
    }

    /// Returns the server's activity in an interval; empty if the server was lost.
    fn activity(&mut self, after: Result<Reading, Error>) -> ServerActivity {
        let samples = self.sampler.take();
        let (at, ended) = match &after {
            Ok(after) => (after.at, None),
            Err(error) => (Instant::now(), Some(error.to_string())),
        };
        let counted = after.as_ref().map(|after| self.before.until(after)).unwrap_or_default();
        let elapsed_s = at.saturating_duration_since(self.before.at).as_secs_f64();
        self.earlier = after.ok().map(|after| std::mem::replace(&mut self.before, after));
        let cells = samples.cells(elapsed_s);
        let mut lost = counted.lost;
        lost.extend(samples.failed.as_ref().map(|why| format!("Sampled session activity: {why}.")));
        let mut activity = ServerActivity {
            server: self.identity.shown(),
            elapsed_s,
            ended,
            hidden: self.hidden.clone().or_else(|| {
                let unread = counted.waits_unknown || samples.failed.is_some();
                unread
                    .then(|| "the server's waits or sessions could not be read (see below)".into())
            }),
            sampling: self.sampling(&samples),
            counted_in: self.before.waits.is_ok().then(|| self.waits.name.to_owned()),
            meanings: meanings(
                WAIT_TYPES,
                |_| None,
                counted.waits.iter().map(|wait| wait.wait_type.as_str()),
            ),
            waits: counted.waits,
            time: TimeUse::default(),
            counters: counted.counters,
            resources: samples.resources(),
            cells,
            lost,
            ..ServerActivity::default()
        };
        if activity.ended.is_none() {
            let lost = name_pages(&mut self.client, &mut activity.resources);
            activity.lost.extend(lost);
            self.add_texts(&mut activity);
        }
        activity
    }

    fn sampling(&self, samples: &Samples) -> Sampling {
        Sampling {
            source: views::REQUESTS.name.to_owned(),
            hz: self.sampler.hz,
            polls: samples.polls,
            missed: samples.missed,
            hides_waits: false,
        }
    }

    /// Asks who waits for whom now.
    fn waiting(&mut self, activity: &mut ServerActivity) -> Result<(), Error> {
        let tasks = self.client.view(&views::TASKS)?;
        let sessions = self.client.view(&views::SESSIONS)?;
        let mut lost = |what: &str, why| activity.lost.push(format!("{what}: {why}."));
        let sessions =
            sessions.map_err(|why| lost("Details of waiting sessions", why)).unwrap_or_default();
        let tasks = tasks.map_err(|why| lost("Blocking sessions", why)).ok();
        self.tasks = tasks.map(|tasks| tasks::waiting(&tasks, &sessions, self.options.literals));
        Ok(())
    }

    /// The texts of the statements that were sampled, where they are still in the cache of plans.
    fn add_texts(&mut self, activity: &mut ServerActivity) {
        let ids: BTreeSet<i64> =
            activity.cells.iter().filter_map(|cell| cell.query_id).take(TEXTS_MAX).collect();
        if !self.options.statements || ids.is_empty() {
            return;
        }
        let ids: Vec<String> = ids.iter().map(i64::to_string).collect();
        let sql = format!("{}{}{}", views::TEXTS, ids.join(", "), views::TEXTS_END);
        match self.client.query(&sql) {
            Ok(rows) => {
                activity.texts = rows
                    .iter()
                    .filter_map(|row| {
                        let shown = statement::shown(
                            row.get("statement")?,
                            Syntax::SqlServer,
                            self.options.literals,
                        );
                        Some((row.parse("query_id")?, shown))
                    })
                    .collect();
            }
            Err(error) => {
                activity.lost.push(format!("Statement texts: sys.dm_exec_query_stats: {error}."));
            }
        }
    }
}

/// Why sessions are hidden from a login without a permission; its lack causes no error; the views
/// show only the login's own sessions.
fn hidden(permission: &str, may: &ViewRows) -> Option<String> {
    let why = match may.as_ref().map(|rows| rows.first().and_then(|row| row.get("may"))) {
        Ok(Some("1")) => return None,
        Ok(Some(_)) => format!("GRANT {permission}"),
        Ok(None) => format!("the server does not know the permission {permission}"),
        Err(why) => why.to_string(),
    };
    Some(format!("this login may see its own sessions only; {why}"))
}

impl LiveObserver for SqlServerObserver {
    fn window(&mut self) -> Result<ServerActivity, ServerError> {
        let after = Reading::read(&mut self.client, self.waits);
        let mut activity = self.activity(after);
        if activity.ended.is_none()
            && let Err(error) = self.waiting(&mut activity)
        {
            activity.ended = Some(format!("reading blocking sessions: {error}"));
        }
        Ok(activity)
    }

    fn is_lost(&self) -> bool {
        self.sampler.is_lost()
    }

    fn tasks(&mut self) -> Result<Option<Vec<WaitingTask>>, ServerError> {
        Ok(self.tasks.take())
    }

    fn readings(&self) -> Vec<CounterReadings> {
        self.earlier.iter().flat_map(|earlier| earlier.pairs(&self.before, self.waits)).collect()
    }
}
