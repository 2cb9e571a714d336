use super::accounting::{Counts, Instruments};
use super::collector::instrumented;
use super::reading::{METADATA, Reading, Scope};
use super::sampler::Samples;
use super::source::{MariaSource, local_process};
use super::tasks;
use super::types::{IDLE, ROW_LOCK, WAIT_TYPES};
use crate::client::{Client, Config};
use crate::observing::{connect_to_observe, product};
use engine::{LiveObserver, ObserveOptions, Result, ServerError, WaitType};
use observations::{CounterReadings, Operation, ServerActivity, WaitClass, WaitingTask};
use observe::ThreadTimes;
use servers::activity::{Process, ROSTER_PERIOD, Sample, Sampler, Window, cells};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use work::Stop;

/// Events of one session's waits for another.
const CONDITIONS: &str = "wait/synch/cond/sql/";

fn is_of_commit(event: &str) -> bool {
    WaitType::class_of(WAIT_TYPES, event) == WaitClass::Log
}

/// Watches all sessions of a server, including those of other clients.
#[derive(Debug)]
pub(crate) struct MariaObserver {
    sampler: Sampler,
    /// For queries that run once in an interval.
    client: Client,
    /// The connections of Steelbench.
    connections: [u32; 2],
    before: Reading,
    /// That of the interval before, where it was seen to its end.
    earlier: Option<Reading>,
    /// Why sessions are hidden from this user.
    hidden: Option<String>,
    literals: bool,
}

impl MariaObserver {
    /// Connects, and begins the first interval.
    pub fn start(
        config: &Config,
        options: ObserveOptions,
        stop: &Stop,
    ) -> Result<Self, ServerError> {
        // The sampler ends its connection by asking itself to stop.
        let is_over = Arc::new(AtomicBool::new(false));
        let (over, stopped) = (is_over.clone(), stop.clone());
        let or_over = Stop::when(move || over.load(Ordering::Relaxed) || stopped.is_asked());
        let mut client = connect_to_observe(config, stop)?;
        let sampled = connect_to_observe(config, &or_over)?;
        let connection_ids = [client.connection_id(), sampled.connection_id()];
        let pid = local_process(&mut client, config);
        let source = MariaSource::new(sampled, options, &connection_ids, pid)?;
        let before = Reading::read(&mut client, Scope::AllBut(&connection_ids), None)
            .map_err(ServerError::new)?;
        let disconnect = Box::new(move || is_over.store(true, Ordering::Relaxed));
        let sampler = Sampler::start(Box::new(source), options.hz, ROSTER_PERIOD, disconnect)?;
        Ok(Self {
            sampler,
            client,
            connections: connection_ids,
            before,
            earlier: None,
            hidden: None,
            literals: options.literals,
        })
    }

    /// Returns the server's counts since the last call, and the missing ones.
    fn counted(&mut self, window: &Window) -> Result<(Counts, Vec<Operation>, Vec<String>)> {
        let scope = Scope::AllBut(&self.connections);
        self.earlier = None;
        let now = Reading::read(&mut self.client, scope, None)?;
        let before = std::mem::replace(&mut self.before, now);
        let (instruments, mut lost) = instrumented(&mut self.client, window.kernel.is_some())?;
        let may_see =
            self.client.cell("SELECT count(*) FROM information_schema.innodb_trx").is_ok();
        self.hidden = (!may_see).then(|| {
            "other users' sessions and row lock waits are hidden, because this user lacks the \
             PROCESS privilege"
                .into()
        });
        let resets = self.before.resets_since(&before);
        lost.extend(resets.lost());
        let mut events = self.before.events_since(&before, scope);
        // An event counts when it ends, with all the time before: what lasts longer than an
        // interval is better sampled.
        events.retain(|name, _| {
            name != IDLE
                && !resets.events
                && !(name == METADATA || (name.starts_with(CONDITIONS) && !is_of_commit(name)))
        });
        let instruments = if resets.events { Instruments::default() } else { instruments };
        let instruments = Instruments { conditions: false, metadata: false, ..instruments };
        let row_locks = self.before.row_locks_since(&before);
        let counted = Counts { events, row_locks, instruments, ..Counts::default() };
        let mut operations = self.before.operations_since(&before);
        operations.retain(|_| !resets.operations);
        self.earlier = Some(before);
        Ok((counted, operations, lost))
    }
}

impl LiveObserver for MariaObserver {
    fn window(&mut self) -> Result<ServerActivity, ServerError> {
        let (window, mut ended) = match self.sampler.window() {
            Ok(window) => (window, None),
            Err(error) => {
                (self.sampler.rest().ok_or_else(|| error.clone())?, Some(error.to_string()))
            }
        };
        // A server that is lost is not asked again: that would wait as long again.
        let counted = match &ended {
            None => self.counted(&window).map_err(|error| error.to_string()),
            Some(error) => Err(error.clone()),
        };
        let (counted, operations, lost) = counted.unwrap_or_else(|error| {
            let lost = vec![format!("The server's own counters: {error}.")];
            ended.get_or_insert(error);
            (Counts::default(), Vec::new(), lost)
        });
        let samples = busy_samples(&window);
        let times = times(&window);
        // Sessions that run or are ready to are busy, even if samples of a short time miss them.
        let running_s = times.map_or(0.0, |times| (times.cpu_ns + times.run_delay_ns) as f64 / 1e9);
        let session_s = (samples.all as f64 * window.sample_s()).max(running_s);
        let cells = cells::cells(&window, WAIT_TYPES, row_lock_factor(&samples, &window, &counted));
        let (waits, time) = Counts { session_s, times, ..counted }.account(&samples);
        let names = waits.iter().map(|wait| wait.wait_type.as_str());
        Ok(ServerActivity {
            server: format!("{} {}", product(&self.client), self.client.version()),
            ended,
            hidden: self.hidden.clone(),
            meanings: cells::meanings(WAIT_TYPES, |_| None, names),
            waits,
            time,
            operations,
            cells,
            lost,
            texts: texts(&window),
            ..cells::activity(&window, true)
        })
    }

    fn readings(&self) -> Vec<CounterReadings> {
        self.earlier.iter().flat_map(|earlier| earlier.pairs(&self.before)).collect()
    }

    fn is_lost(&self) -> bool {
        self.sampler.is_lost()
    }

    fn tasks(&mut self) -> Result<Option<Vec<WaitingTask>>, ServerError> {
        tasks::waiting_tasks(&mut self.client, &self.connections, self.literals).map(Some)
    }
}

/// Texts of the statements that were sampled.
fn texts(window: &Window) -> BTreeMap<i64, String> {
    let sampled = window.samples.keys().filter_map(|sample| sample.query_id);
    sampled.filter_map(|id| Some((id, window.statements.get(&id)?.clone()))).collect()
}

/// The samples of clients' sessions that had something to do.
fn busy_samples(window: &Window) -> Samples {
    let mut samples = Samples { hz: window.hz, ..Samples::default() };
    for (sample, count) in window.samples.iter().filter(|(sample, _)| !sample.idle) {
        if window.processes.get(&sample.pid).is_none_or(Process::for_client) {
            samples.add(sample.wait.as_deref().unwrap_or_default(), *count);
        }
    }
    samples
}

/// The factor of the time that a sample stands for, so that samples of waits for row locks come to
/// what the server counts. The server shows such waits only ten times a second: samples miss
/// short ones, and take them for time without a wait.
fn row_lock_factor(
    samples: &Samples,
    window: &Window,
    counted: &Counts,
) -> impl Fn(&Sample, &Process) -> f64 {
    let seconds =
        |state: &str| samples.states.get(state).copied().unwrap_or(0) as f64 * window.sample_s();
    let (sampled_s, rest_s) = (seconds(ROW_LOCK), seconds(""));
    let counted_s = counted.row_locks.1;
    let is_known = counted_s > 0.0 && sampled_s > 0.0;
    let locked = if is_known { counted_s / sampled_s } else { 1.0 };
    let missed_s = if is_known { counted_s - sampled_s } else { 0.0 };
    let rest = if rest_s > 0.0 { (1.0 - missed_s / rest_s).max(0.0) } else { 1.0 };
    move |sample, process| match sample.wait.as_deref() {
        _ if sample.idle || !process.for_client() => 1.0,
        Some(ROW_LOCK) => locked,
        Some(_) => 1.0,
        None => rest,
    }
}

/// Returns the CPU use of the clients' threads, where the kernel reports it.
fn times(window: &Window) -> Option<ThreadTimes> {
    let of_clients = window
        .kernel
        .as_ref()?
        .iter()
        .filter(|(session, _)| window.processes.get(session).is_some_and(Process::for_client));
    let mut sum = ThreadTimes::default();
    for (_, times) in of_clients {
        sum.cpu_ns += times.cpu_ns;
        sum.run_delay_ns += times.run_delay_ns;
    }
    Some(sum)
}
