//! `steelbench waits` of a server: counters between two readings, samples meanwhile, who waits for whom at the end.

use super::client::{Client, Error};
use super::config::Config;
use super::reading::{Reading, ask};
use super::rows::Rows;
use super::sampler::Sampler;
use super::samples::Samples;
use super::views::{self, View};
use super::{Identity, tasks, while_doing};
use crate::sqlserver::{PageId, WAIT_TYPES};
use crate::{LiveObserver, ObserveOptions, ServerError, Stop, WaitType};
use observations::statement::{self, Quotes};
use observations::{Sampling, ServerActivity, TimeUse, WaitedResource, WaitingTask};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// How long the server may take for what was seen until somebody asked to stop.
const LAST_ANSWERS: Duration = Duration::from_secs(5);
/// Hot pages whose table is asked for.
const OWNERS_MAX: usize = 5;
/// Statements whose text is asked for.
const TEXTS_MAX: usize = 100;

/// Watches all sessions of a server.
#[derive(Debug)]
pub struct SqlServerObserver {
    client: Client,
    identity: Identity,
    waits: &'static View,
    before: Reading,
    sampler: Sampler,
    options: ObserveOptions,
}

impl SqlServerObserver {
    /// Connects, and begins the first interval.
    pub fn start(config: &Config, options: ObserveOptions, stop: &Stop) -> Result<Self, ServerError> {
        let connect = || -> Result<Client, ServerError> {
            let mut client =
                Client::connect(config, stop, LAST_ANSWERS).map_err(while_doing("connecting"))?;
            client.query(views::SESSION).map_err(while_doing("preparing the connection"))?;
            Ok(client)
        };
        let mut client = connect()?;
        let identity = Identity::of(&mut client)?;
        let waits = if identity.is_azure_database() { &views::DATABASE_WAITS } else { &views::WAITS };
        let sampler = Sampler::start(connect()?, options.hz)?;
        let before = Reading::of(&mut client, waits).map_err(while_doing("reading its counters"))?;
        Ok(Self { client, identity, waits, before, sampler, options })
    }

    /// What the server was seen to do in an interval; nothing is counted in one in which it was lost.
    fn activity(&mut self, after: Result<Reading, Error>) -> ServerActivity {
        let samples = self.sampler.take();
        let (at, ended) = match &after {
            Ok(after) => (after.at, None),
            Err(error) => (Instant::now(), Some(error.to_string())),
        };
        let counted = after.as_ref().map(|after| self.before.until(after)).unwrap_or_default();
        let elapsed_s = at.saturating_duration_since(self.before.at).as_secs_f64();
        self.before = after.unwrap_or_else(|_| self.before.clone());
        let cells = samples.cells(elapsed_s);
        let mut lost = counted.lost;
        lost.extend(samples.failed.as_ref().map(|why| format!("What sessions do, by sample: {why}.")));
        let mut activity = ServerActivity {
            server: self.identity.shown(),
            elapsed_s,
            ended,
            sampling: self.sampling(&samples),
            counted_in: self.before.waits.is_ok().then(|| self.waits.name.to_owned()),
            meanings: meanings(counted.waits.iter().map(|wait| wait.wait_type.as_str())),
            waits: counted.waits,
            time: TimeUse::default(),
            counters: counted.counters,
            resources: samples.resources(),
            cells,
            lost,
            ..ServerActivity::default()
        };
        if activity.ended.is_none() {
            self.name_pages(&mut activity);
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

    /// Says of hot pages that hold rows which table they belong to.
    fn name_pages(&mut self, activity: &mut ServerActivity) {
        let holds_rows = |resource: &WaitedResource| {
            let page: PageId = resource.resource.parse().ok()?;
            (resource.kind.is_some() && !page.kind().is_allocation).then_some(page)
        };
        let pages: Vec<(usize, PageId)> = activity
            .resources
            .iter()
            .enumerate()
            .filter_map(|(at, one)| Some((at, holds_rows(one)?)))
            .collect();
        for (at, page) in pages.into_iter().take(OWNERS_MAX) {
            match self.client.query(&views::page_owner(page.database, page.file, page.page)) {
                Ok(rows) => activity.resources[at].kind = owner(&rows).or(activity.resources[at].kind.take()),
                Err(error) => {
                    activity
                        .lost
                        .push(format!("Which tables hot pages belong to: sys.dm_db_page_info: {error}."));
                    return;
                }
            }
        }
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
                let text = |row: super::rows::Row| {
                    let shown =
                        statement::shown(row.get("statement")?, Quotes::TransactSql, self.options.literals);
                    Some((row.parse("query_id")?, shown))
                };
                activity.texts = rows.iter().filter_map(text).collect();
            }
            Err(error) => {
                activity.lost.push(format!("Texts of statements: sys.dm_exec_query_stats: {error}."));
            }
        }
    }
}

impl LiveObserver for SqlServerObserver {
    fn window(&mut self) -> Result<ServerActivity, ServerError> {
        let after = Reading::of(&mut self.client, self.waits);
        Ok(self.activity(after))
    }

    fn is_lost(&self) -> bool {
        self.sampler.is_lost()
    }

    fn tasks(&mut self) -> Result<Vec<WaitingTask>, ServerError> {
        let doing = while_doing("asking who waits for whom");
        let asked = ask(&mut self.client, &views::TASKS)
            .and_then(|tasks| Ok((tasks, ask(&mut self.client, &views::SESSIONS)?)));
        let (waiting, sessions) = asked.map_err(doing)?;
        // What may not be read was said of the counters.
        let (waiting, sessions) = (waiting.unwrap_or_default(), sessions.unwrap_or_default());
        Ok(tasks::waiting(&waiting, &sessions, self.options.literals))
    }
}

/// `page of dbo.orders, index 1`, of the rows of [`views::page_owner`].
fn owner(rows: &Rows) -> Option<String> {
    let row = rows.first()?;
    let owner = row.get("owner").filter(|owner| !owner.is_empty())?;
    Some(format!("page of {owner}, index {}", row.get("index_id")?))
}

/// What the waits mean, one sentence each.
fn meanings<'a>(waits: impl Iterator<Item = &'a str>) -> BTreeMap<String, String> {
    let meaning = |name: &str| {
        let known = WaitType::find(WAIT_TYPES, name)?;
        let mut letters = known.meaning.chars();
        let sentence: String = letters.next()?.to_uppercase().chain(letters).collect();
        Some((name.to_owned(), sentence))
    };
    waits.filter_map(meaning).collect()
}
