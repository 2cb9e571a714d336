use super::accounting::SessionSamples;
use super::counters::ServerCounts;
use super::sources::PROFILE;
use super::tasks;
use super::types::WAIT_TYPES;
use super::watch::{Watch, Watched, hidden, hidden_processes};
use crate::client::{Client, Config};
use crate::connecting::observer;
use engine::{LiveObserver, ObserveOptions, ServerError, while_doing};
use observations::{ActivityCell, CounterReadings, ServerActivity, TimeUse, Wait, WaitingTask};
use servers::activity::{Process, ROSTER_PERIOD, Window, cells};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;
use work::Stop;
use work::sql::Syntax;
use work::sql::statement::{self, TEXT_MAX};

/// Timeout for reading the last window after the user asked to stop.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// Watches all processes of a server, including those of other clients.
#[derive(Debug)]
pub(crate) struct PostgresObserver {
    watch: Watch,
    /// The server's own meanings of its wait events, by `Type:Event` in lower case.
    meanings: HashMap<String, String>,
    options: ObserveOptions,
}

impl LiveObserver for PostgresObserver {
    fn window(&mut self) -> Result<ServerActivity, ServerError> {
        let Watched { window, operations, lost: server_lost } = self.watch.window()?;
        let clients = ClientSamples::from_window(&window);
        let (running, waiting) = clients.worked.correction();
        let cells = cells::cells(&window, WAIT_TYPES, |sample, process| match sample.wait {
            _ if !process.for_client() || !has_worked(&window, sample.pid) => 1.0,
            None => running,
            Some(_) => waiting,
        });
        let mut lost = lost(&window, &cells);
        let operations = operations.unwrap_or_else(|error| {
            lost.push(format!("The server's own counters: {error}."));
            Vec::new()
        });
        let version = self.watch.client.server_version();
        let counted = ServerCounts { operations: &operations, version: version / 10_000 };
        let (waits, time) = clients.account(counted);
        // A server that is lost is not asked again: that would wait as long again.
        let texts = match &server_lost {
            None => self.statements(&window, &cells),
            Some(_) => BTreeMap::new(),
        };
        Ok(ServerActivity {
            server: format!("PostgreSQL {}.{}", version / 10_000, version % 10_000),
            ended: server_lost.map(|error| error.to_string()),
            hidden: hidden_processes(&window),
            meanings: cells::meanings(
                WAIT_TYPES,
                |name| self.meanings.get(&name.to_lowercase()).cloned(),
                waits.iter().map(|wait| wait.wait_type.as_str()),
            ),
            waits,
            time,
            operations,
            texts,
            cells,
            lost,
            ..cells::activity(&window, false)
        })
    }

    fn is_lost(&self) -> bool {
        self.watch.sampler.is_lost()
    }

    fn tasks(&mut self) -> Result<Option<Vec<WaitingTask>>, ServerError> {
        tasks::waiting_tasks(&mut self.watch.client, self.options.literals).map(Some)
    }

    fn readings(&self) -> Vec<CounterReadings> {
        self.watch.earlier.iter().map(|earlier| earlier.pairs(&self.watch.counters)).collect()
    }
}

impl PostgresObserver {
    /// Connects, and begins the first interval.
    pub fn start(
        config: &Config,
        options: ObserveOptions,
        stop: &Stop,
    ) -> Result<Self, ServerError> {
        let connect = || observer(config, Some((stop, LAST_ANSWERS)));
        let mut client = connect()?;
        let meanings = meanings(&mut client)?;
        let watch = Watch::start([client, connect()?], options, ROSTER_PERIOD)?;
        Ok(Self { watch, meanings, options })
    }

    /// Texts of the statements that were sampled. Many run only between two lists of who is
    /// connected; those `pg_stat_statements` knows, where it is installed and readable.
    fn statements(&mut self, window: &Window, cells: &[ActivityCell]) -> BTreeMap<i64, String> {
        if !self.options.statements {
            return BTreeMap::new();
        }
        let sampled: BTreeSet<i64> = cells.iter().filter_map(|cell| cell.query_id).collect();
        let shown = |text: &str| statement::shown(text, Syntax::Postgres, self.options.literals);
        let mut texts: BTreeMap<i64, String> = sampled
            .iter()
            .filter_map(|id| Some((*id, shown(window.statements.get(id)?))))
            .collect();
        let missing: Vec<String> =
            sampled.iter().filter(|id| !texts.contains_key(id)).map(ToString::to_string).collect();
        if missing.is_empty() {
            return texts;
        }
        let schema = "SELECT quote_ident(n.nspname) FROM pg_extension e JOIN pg_namespace n ON \
                      n.oid = e.extnamespace WHERE e.extname = 'pg_stat_statements'";
        let Ok(Some(schema)) = self.watch.client.cell(schema) else { return texts };
        let sql = format!(
            "SELECT DISTINCT ON (queryid) queryid, left(query, {TEXT_MAX}) FROM \
             {schema}.pg_stat_statements WHERE queryid IN ({})",
            missing.join(", ")
        );
        // Not loaded or not readable: the statements have only their numbers.
        let rows = self.watch.client.query(&sql, &[]).unwrap_or_default();
        texts.extend(rows.iter().filter_map(|row| Some((row.parse(0)?, shown(row.get(1)?)))));
        texts
    }
}

/// Reads the server's meanings of wait events, from 17 on.
fn meanings(client: &mut Client) -> Result<HashMap<String, String>, ServerError> {
    if client.server_version() < 170_000 {
        return Ok(HashMap::new());
    }
    let sql = "SELECT lower(type || ':' || name), description FROM pg_wait_events";
    let rows = client.query(sql, &[]).map_err(while_doing("reading pg_wait_events"))?;
    Ok(rows.iter().filter_map(|row| Some((row.parse(0)?, row.parse(1)?))).collect())
}

/// Describes the limits of the observation.
fn lost(window: &Window, cells: &[ActivityCell]) -> Vec<String> {
    let mut lost = hidden(window);
    let works = cells
        .iter()
        .any(|cell| cell.for_client && !cell.idle && matches!(cell.state.as_str(), "active" | ""));
    if works && cells.iter().all(|cell| cell.query_id.is_none()) {
        lost.push(
            "Waits by statement: the server does not compute query identifiers. Set \
             compute_query_id = on, or load pg_stat_statements."
                .to_owned(),
        );
    }
    if window.source == PROFILE {
        lost.push(
            "Sessions idle in transaction: the profile of pg_wait_sampling does not distinguish \
             them from idle sessions."
                .to_owned(),
        );
    }
    lost
}

/// The samples of what works for clients.
///
/// Sessions that used no processor show nothing about what samples missed: they are kept apart, so
/// that many idle sessions do not hide the few that work.
struct ClientSamples {
    worked: SessionSamples,
    rested: SessionSamples,
}

/// The pseudo wait, for its client, of a session that has nothing to do.
const IDLE: &str = "Client:Idle";

impl ClientSamples {
    fn from_window(window: &Window) -> Self {
        let clients = |worked| {
            SessionSamples::select(
                window,
                |pid| {
                    window.processes.get(&pid).is_none_or(Process::for_client)
                        && has_worked(window, pid) == worked
                },
                Some(IDLE),
            )
        };
        Self { worked: clients(true), rested: clients(false) }
    }

    /// Waits and CPU time while sessions had something to do: also while they waited for a
    /// processor to begin with it.
    fn account(&self, counted: ServerCounts) -> (Vec<Wait>, TimeUse) {
        let (mut waits, mut time) = self.worked.account(counted);
        let (others, other_time) = self.rested.account(ServerCounts::default());
        time.session_s += other_time.session_s;
        time.cpu_s += other_time.cpu_s;
        let running = time.sampled_running_s.zip(other_time.sampled_running_s);
        time.sampled_running_s = running.map(|(sessions, others)| sessions + others);
        for other in others {
            match waits.iter_mut().find(|wait| wait.wait_type == other.wait_type) {
                Some(wait) => wait.add(&other),
                None => waits.push(other),
            }
        }
        let idle_s: f64 =
            waits.iter().filter(|wait| wait.wait_type == IDLE).map(Wait::wait_s).sum();
        time.session_s -= idle_s;
        waits.retain(|wait| wait.wait_type != IDLE);
        (waits, time)
    }
}

/// Returns whether a process used CPU time, as far as known.
fn has_worked(window: &Window, pid: i32) -> bool {
    window
        .kernel
        .as_ref()
        .is_none_or(|kernel| kernel.get(&pid).is_some_and(|times| times.cpu_ns > 0))
}
