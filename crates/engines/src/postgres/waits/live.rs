use super::connection::connect;
use super::counters::Counters;
use super::error::while_doing;
use super::sampler::{ObserveOptions, Sampler};
use super::summing::{ClientSamples, cells, process_use};
use super::window::{Source, Window};
use super::{WaitsError, meaning, tasks};
use observations::{ActivityCell, Sampling, ServerActivity, Wait, WaitingTask};
use pgclient::{Client, Config};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Watches all processes of a server, whoever they work for.
#[derive(Debug)]
pub struct LiveObserver {
    sampler: Sampler,
    /// For what is asked once in a window.
    client: Client,
    counters: Counters,
    /// What the server itself says of its wait events, `Type:Event` in lower case.
    meanings: HashMap<String, String>,
    options: ObserveOptions,
}

impl LiveObserver {
    /// Connects, and begins the first interval.
    ///
    /// # Errors
    /// When the server refuses.
    pub fn start(config: &Config, options: ObserveOptions) -> Result<Self, WaitsError> {
        let mut client = connect(config)?;
        let meanings = meanings(&mut client)?;
        let counters = Counters::read(&mut client)?;
        let sampler = Sampler::start(config, options)?;
        Ok(Self { sampler, client, counters, meanings, options })
    }

    /// Ends the interval, begins the next one, and returns what was seen.
    ///
    /// # Errors
    /// When the server failed meanwhile.
    pub fn window(&mut self) -> Result<ServerActivity, WaitsError> {
        let window = self.sampler.window()?;
        let clients = ClientSamples::of(&window);
        let cells = cells(&window, &clients);
        let (waits, time) = clients.account();
        let mut lost = lost(&window, &cells);
        let now = Counters::read(&mut self.client)?;
        let operations = now.since(&self.counters).unwrap_or_else(|reset| {
            lost.push(format!("What the server counts itself: {reset}."));
            Vec::new()
        });
        self.counters = now;
        let (major, minor) = (self.client.server_version() / 10_000, self.client.server_version() % 10_000);
        Ok(ServerActivity {
            server: format!("PostgreSQL {major}.{minor}"),
            elapsed_s: window.elapsed.as_secs_f64(),
            sampling: Sampling {
                source: window.source.name().to_owned(),
                hz: window.hz,
                polls: window.polls,
                missed: window.missed,
            },
            meanings: self.explain(&waits),
            waits,
            time,
            time_is_exact: window.kernel.is_some(),
            processes: process_use(&window),
            operations,
            statements: self.statements(&window, &cells),
            cells,
            tasks: None,
            lost,
        })
    }

    /// Who waits for what now.
    ///
    /// # Errors
    /// When the server fails.
    pub fn tasks(&mut self) -> Result<Vec<WaitingTask>, WaitsError> {
        tasks::waiting_tasks(&mut self.client)
    }

    fn explain(&self, waits: &[Wait]) -> BTreeMap<String, String> {
        let explained = waits.iter().filter_map(|wait| {
            let theirs = || self.meanings.get(&wait.wait_type.to_lowercase()).cloned();
            Some((wait.wait_type.clone(), meaning(&wait.wait_type).map(ours).or_else(theirs)?))
        });
        explained.collect()
    }

    /// Texts of the statements that were sampled. Many run only between two lists of who is
    /// connected; those `pg_stat_statements` knows, where it is installed and readable.
    fn statements(&mut self, window: &Window, cells: &[ActivityCell]) -> BTreeMap<i64, String> {
        if !self.options.statements {
            return BTreeMap::new();
        }
        let sampled: BTreeSet<i64> = cells.iter().filter_map(|cell| cell.query_id).collect();
        let text = |id: &i64| Some((*id, window.statements.get(id)?.clone()));
        let mut texts: BTreeMap<i64, String> = sampled.iter().filter_map(text).collect();
        let missing: Vec<String> =
            sampled.iter().filter(|id| !texts.contains_key(id)).map(ToString::to_string).collect();
        if missing.is_empty() {
            return texts;
        }
        let schema = "SELECT quote_ident(n.nspname) FROM pg_extension e JOIN pg_namespace n \
                      ON n.oid = e.extnamespace WHERE e.extname = 'pg_stat_statements'";
        let Ok(rows) = self.client.query(schema, &[]) else { return texts };
        let Some(schema) = rows.iter().next().and_then(|row| row.get(0).map(str::to_owned)) else {
            return texts;
        };
        let sql = format!(
            "SELECT DISTINCT ON (queryid) queryid, left(query, 1000) FROM {schema}.pg_stat_statements \
             WHERE queryid IN ({})",
            missing.join(", ")
        );
        // Not loaded or not readable: the statements have only their numbers.
        if let Ok(rows) = self.client.query(&sql, &[]) {
            let found =
                rows.iter().filter_map(|row| Some((row.get(0)?.parse().ok()?, row.get(1)?.to_owned())));
            texts.extend(found);
        }
        texts
    }
}

/// What the server says its wait events mean, from 17 on.
fn meanings(client: &mut Client) -> Result<HashMap<String, String>, WaitsError> {
    if client.server_version() < 170_000 {
        return Ok(HashMap::new());
    }
    let sql = "SELECT lower(type || ':' || name), description FROM pg_wait_events";
    let rows = client.query(sql, &[]).map_err(while_doing("reading pg_wait_events"))?;
    let pair = |name: Option<&str>, meaning: Option<&str>| Some((name?.to_owned(), meaning?.to_owned()));
    Ok(rows.iter().filter_map(|row| pair(row.get(0), row.get(1))).collect())
}

/// A meaning of ours as a sentence of its own.
fn ours(meaning: &str) -> String {
    let mut letters = meaning.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// What could not be seen, in words.
fn lost(window: &Window, cells: &[ActivityCell]) -> Vec<String> {
    let mut lost = window.lost();
    let working =
        |cell: &ActivityCell| cell.for_client && !cell.idle && matches!(cell.state.as_str(), "active" | "");
    if cells.iter().any(working) && cells.iter().all(|cell| cell.query_id.is_none()) {
        lost.push(
            "Which statements waited: the server does not number them. Set compute_query_id = on there, or load \
             pg_stat_statements."
                .to_owned(),
        );
    }
    if window.source == Source::Profile {
        lost.push(
            "Clients that leave a transaction open: the profile of pg_wait_sampling does not tell this from idle \
             time."
                .to_owned(),
        );
    }
    lost
}
