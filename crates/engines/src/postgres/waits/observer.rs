use super::accounting::{KernelTime, SessionSamples};
use super::counters::ServerCounts;
use super::statement::{self, TEXT_MAX};
use super::types::WAIT_TYPES;
use super::window::{PROFILE, Part, Process, Sample, Window};
use super::{ROSTER_PERIOD, Watch, Watched, class, connect, tasks, while_doing};
use crate::{LiveObserver, ObserveOptions, ServerError, Stop, WaitType};
use observations::{
    ActivityCell, ActivityPart, ProcessUse, Sampling, ServerActivity, TimeUse, Wait, WaitingTask,
};
use pgclient::{Client, Config};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

/// How long the server may take for what was seen until somebody asked to stop.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// Watches all processes of a server, whoever they work for.
#[derive(Debug)]
pub struct PostgresObserver {
    watch: Watch,
    /// What the server itself says of its wait events, `Type:Event` in lower case.
    meanings: HashMap<String, String>,
    options: ObserveOptions,
}

impl LiveObserver for PostgresObserver {
    fn window(&mut self) -> Result<ServerActivity, ServerError> {
        let Watched { window, operations, lost: server_lost } = self.watch.window()?;
        let clients = ClientSamples::of(&window);
        let cells = cells(&window, &clients);
        let mut lost = lost(&window, &cells);
        let operations = operations.unwrap_or_else(|error| {
            lost.push(format!("What the server counts itself: {error}."));
            Vec::new()
        });
        let version = self.watch.client.server_version();
        let counted = ServerCounts { operations: &operations, version: version / 10_000 };
        let (waits, time) = clients.account(counted);
        Ok(ServerActivity {
            server: format!("PostgreSQL {}.{}", version / 10_000, version % 10_000),
            elapsed_s: window.elapsed.as_secs_f64(),
            ended: server_lost.map(|error| error.to_string()),
            sampling: Sampling {
                source: window.source.to_owned(),
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
            texts: self.statements(&window, &cells),
            parts: parts(&window),
            cells,
            lost,
            ..ServerActivity::default()
        })
    }

    fn is_lost(&self) -> bool {
        self.watch.sampler.is_lost()
    }

    fn tasks(&mut self) -> Result<Vec<WaitingTask>, ServerError> {
        tasks::waiting_tasks(&mut self.watch.client, self.options.literals)
    }
}

impl PostgresObserver {
    /// Connects, and begins the first interval.
    pub fn start(config: &Config, options: ObserveOptions, stop: &Stop) -> Result<Self, ServerError> {
        let connect = || connect(config, Some((stop, LAST_ANSWERS)));
        let mut client = connect()?;
        let meanings = meanings(&mut client)?;
        let watch = Watch::start([client, connect()?], options, ROSTER_PERIOD)?;
        Ok(Self { watch, meanings, options })
    }

    /// What the waits mean: in our words, else in those of the server, else in general.
    fn explain(&self, waits: &[Wait]) -> BTreeMap<String, String> {
        let explained = waits.iter().filter_map(|wait| {
            let ours = WaitType::find(WAIT_TYPES, &wait.wait_type)?;
            let theirs = self.meanings.get(&wait.wait_type.to_lowercase()).filter(|_| ours.is_pattern());
            Some((wait.wait_type.clone(), theirs.cloned().unwrap_or_else(|| sentence(ours.meaning))))
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
        let shown = |text: &str| statement::shown(text, self.options.literals);
        let text = |id: &i64| Some((*id, shown(window.statements.get(id)?)));
        let mut texts: BTreeMap<i64, String> = sampled.iter().filter_map(text).collect();
        let missing: Vec<String> =
            sampled.iter().filter(|id| !texts.contains_key(id)).map(ToString::to_string).collect();
        if missing.is_empty() {
            return texts;
        }
        let schema = "SELECT quote_ident(n.nspname) FROM pg_extension e JOIN pg_namespace n \
                      ON n.oid = e.extnamespace WHERE e.extname = 'pg_stat_statements'";
        let Ok(Some(schema)) = self.watch.client.cell(schema) else { return texts };
        let sql = format!(
            "SELECT DISTINCT ON (queryid) queryid, left(query, {TEXT_MAX}) FROM {schema}.pg_stat_statements \
             WHERE queryid IN ({})",
            missing.join(", ")
        );
        // Not loaded or not readable: the statements have only their numbers.
        let rows = self.watch.client.query(&sql, &[]).unwrap_or_default();
        texts.extend(rows.iter().filter_map(|row| Some((row.parse(0)?, shown(row.get(1)?)))));
        texts
    }
}

/// What the server says its wait events mean, from 17 on.
fn meanings(client: &mut Client) -> Result<HashMap<String, String>, ServerError> {
    if client.server_version() < 170_000 {
        return Ok(HashMap::new());
    }
    let sql = "SELECT lower(type || ':' || name), description FROM pg_wait_events";
    let rows = client.query(sql, &[]).map_err(while_doing("reading pg_wait_events"))?;
    Ok(rows.iter().filter_map(|row| Some((row.parse(0)?, row.parse(1)?))).collect())
}

/// A meaning as a sentence of its own.
fn sentence(meaning: &str) -> String {
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
    if window.source == PROFILE {
        lost.push(
            "Clients that leave a transaction open: the profile of pg_wait_sampling does not tell this from idle \
             time."
                .to_owned(),
        );
    }
    lost
}

/// The samples of what works for clients.
///
/// Sessions that used no processor at all tell nothing about what samples missed of it: they are kept
/// apart, so that many idle sessions do not hide the few that work.
struct ClientSamples {
    worked: SessionSamples,
    rested: SessionSamples,
}

/// The pseudo wait, for its client, of a session that has nothing to do.
const IDLE: &str = "Client:Idle";

impl ClientSamples {
    fn of(window: &Window) -> Self {
        let for_client = |pid: i32| window.processes.get(&pid).is_none_or(Process::for_client);
        let clients = |worked| {
            let is_chosen = |pid| for_client(pid) && has_worked(window, pid) == worked;
            SessionSamples::of(window, is_chosen, Some(IDLE))
        };
        Self { worked: clients(true), rested: clients(false) }
    }

    /// Waits and CPU time while sessions had something to do: also while they waited for a processor
    /// to begin with it.
    fn account(&self, counted: ServerCounts) -> (Vec<Wait>, TimeUse) {
        let (mut waits, mut time) = self.worked.account(counted);
        let (others, other_time) = self.rested.account(ServerCounts::default());
        time.session_s += other_time.session_s;
        time.cpu_s += other_time.cpu_s;
        let sum = |a: Option<f64>, b: Option<f64>| a.zip(b).map(|(a, b)| a + b);
        time.sampled_running_s = sum(time.sampled_running_s, other_time.sampled_running_s);
        time.corrected_s = sum(time.corrected_s, other_time.corrected_s);
        for other in others {
            match waits.iter_mut().find(|wait| wait.wait_type == other.wait_type) {
                Some(wait) => wait.add(&other),
                None => waits.push(other),
            }
        }
        let idle_s: f64 = waits.iter().filter(|wait| wait.wait_type == IDLE).map(Wait::wait_s).sum();
        time.session_s -= idle_s;
        waits.retain(|wait| wait.wait_type != IDLE);
        (waits, time)
    }
}

/// Whether a process used a processor, as far as that is known.
fn has_worked(window: &Window, pid: i32) -> bool {
    window.kernel.as_ref().is_none_or(|kernel| kernel.get(&pid).is_some_and(|times| times.cpu_ns > 0))
}

/// Sums the samples by what is worth telling apart.
fn cells(window: &Window, clients: &ClientSamples) -> Vec<ActivityCell> {
    let unknown = Process { kind: "client backend".to_owned(), ..Process::default() };
    let (running, waiting) = clients.worked.correction();
    let mut sums: HashMap<(Sample, &Process), (u64, f64)> = HashMap::new();
    for (sample, count) in &window.samples {
        let process = window.processes.get(&sample.pid).unwrap_or(&unknown);
        let factor = match sample.wait {
            _ if !process.for_client() || !has_worked(window, sample.pid) => 1.0,
            None => running,
            Some(_) => waiting,
        };
        let sum = sums.entry((Sample { pid: 0, ..sample.clone() }, process)).or_insert((0, 0.0));
        sum.0 += count;
        sum.1 += *count as f64 * factor * window.sample_s();
    }
    let cell = |((sample, process), (samples, seconds)): ((Sample, &Process), (u64, f64))| ActivityCell {
        process: process.kind.clone(),
        for_client: process.for_client(),
        class: sample.wait.as_deref().map(class),
        wait_type: sample.wait,
        idle: sample.idle,
        state: sample.state,
        query_id: sample.query_id,
        application: process.application.clone(),
        user: process.user.clone(),
        database: process.database.clone(),
        samples,
        seconds,
    };
    let mut cells: Vec<ActivityCell> = sums.into_iter().map(cell).collect();
    cells.sort_by_cached_key(|cell| {
        let names = [&cell.application, &cell.user, &cell.state].map(Clone::clone);
        (Reverse(cell.samples), cell.wait_type.clone(), cell.query_id, names)
    });
    cells
}

/// The parts of the window, each sorted so that the same is always recorded alike.
fn parts(window: &Window) -> Vec<ActivityPart> {
    let part = |part: &Part| {
        let samples = part.samples.iter().map(|((wait, query_id), count)| (wait.clone(), *query_id, *count));
        let mut samples: Vec<_> = samples.collect();
        samples.sort_unstable();
        ActivityPart { polls: part.polls, samples }
    };
    window.parts.iter().map(part).collect()
}

/// Time of the processes by their kind.
fn process_use(window: &Window) -> Vec<ProcessUse> {
    let mut kinds: BTreeMap<&str, (bool, Vec<_>)> = BTreeMap::new();
    for (pid, times) in window.kernel.iter().flatten() {
        let Some(process) = window.processes.get(pid) else { continue };
        kinds.entry(&process.kind).or_insert((process.for_client(), Vec::new())).1.push(times);
    }
    let kind = |(kind, (for_client, times)): (&str, (bool, Vec<_>))| {
        let sum = KernelTime::sum(times.into_iter());
        ProcessUse { process: kind.to_owned(), for_client, cpu_s: sum.cpu_s, run_queue_s: sum.run_queue_s }
    };
    kinds.into_iter().map(kind).collect()
}
