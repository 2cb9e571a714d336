//! Waits of a PostgreSQL server: sampled where it does not count them, exact where it does, with
//! the kernel's figures of its processes' time where they run on this machine.
//!
//! Nothing here changes the server: its sessions are read-only and have the application name
//! [`OBSERVER`].
//!
//! `sources` is what is sampled (see [`servers::activity`]); `accounting` turns the samples of
//! sessions into waits; `counters` reads what the server counts itself; `tasks` asks who waits for
//! whom now; `used` reads the pages and the processors that a load used. [`PostgresCollector`]
//! watches the sessions of a trial, [`PostgresObserver`] a whole server. `types` is the table of
//! wait events.

mod accounting;
mod counters;
mod observer;
mod sources;
mod tasks;
mod types;
mod used;

pub use counters::FLUSH_OWN_COUNTERS;
pub(super) use observer::PostgresObserver;
pub use sources::{ACTIVITY, PROFILE, sampler};
pub use types::{WAIT_TYPES, class};

use super::admin::ADMIN;
use super::while_doing;
use crate::client::{Client, Config};
use accounting::SessionSamples;
use counters::{Counters, ServerCounts};
use engine::{
    Collected, EngineError, ObserveOptions, ServerError, SessionPart, WaitCollector, lock,
};
use observations::Operation;
use servers::activity::{ROSTER_PERIOD, Sampler, Window};
use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use used::Used;
use work::{Cancel, Stop};

/// Application name of observing connections, which are left out of their reports.
pub const OBSERVER: &str = "steelbench observer";

/// Opens a connection that can change nothing and takes few resources. After a request to stop, it
/// waits for answers for the duration beside it.
fn connect(config: &Config, stop: Option<(&Stop, Duration)>) -> Result<Client, ServerError> {
    let mut config = config.clone().with_application_name(OBSERVER);
    config = stop.map_or(config.clone(), |(stop, _)| config.with_stop(stop.clone()));
    let mut client = Client::connect(&config).map_err(while_doing("connecting"))?;
    client.set_answer_timeout(Some(work::silence_max()));
    if let Some((stop, grace)) = stop {
        client.set_stop(stop.clone(), grace);
    }
    let major = client.server_version() / 10_000;
    if major < 14 {
        let what = format!(
            "the server is PostgreSQL {major}; observing waits requires version 14 or \
                     later"
        );
        return Err(ServerError::new(what));
    }
    super::leave_no_statistics(&mut client);
    // The settings of a database or a role may be made for other work than ours.
    let settings = "SET default_transaction_read_only = on; SET statement_timeout = '30s'; SET \
                    lock_timeout = 0; SET idle_session_timeout = 0; SET \
                    idle_in_transaction_session_timeout = 0; SET jit = off; SET \
                    max_parallel_workers_per_gather = 0; SET datestyle = 'ISO'; SET search_path = \
                    pg_catalog";
    client.batch(settings).map_err(while_doing("preparing the connection"))?;
    Ok(client)
}

/// Observation of a server: samples, and the server's own counters.
#[derive(Debug)]
struct Watch {
    sampler: Sampler,
    /// For queries that run once in a window.
    client: Client,
    counters: Counters,
    /// Those at the beginning of the window before, where it was seen to its end.
    earlier: Option<Counters>,
}

impl Watch {
    /// Begins the first window, on two connections for observing.
    fn start(
        [mut client, sampled]: [Client; 2],
        options: ObserveOptions,
        roster_period: Duration,
    ) -> Result<Self, ServerError> {
        let counters = Counters::read(&mut client)?;
        let sampler = sources::sampler_on(sampled, options, roster_period)?;
        Ok(Self { sampler, client, counters, earlier: None })
    }

    /// Ends the window and begins the next.
    fn window(&mut self) -> Result<Watched, ServerError> {
        self.earlier = None;
        let window = match self.sampler.window() {
            Ok(window) => window,
            Err(error) => {
                let window = self.sampler.rest().ok_or_else(|| error.clone())?;
                return Ok(Watched { window, operations: Err(error.clone()), lost: Some(error) });
            }
        };
        let counted = Counters::read(&mut self.client);
        let lost = counted.as_ref().err().cloned();
        let operations = counted.and_then(|now| {
            let before = std::mem::replace(&mut self.counters, now);
            self.counters.since(self.earlier.insert(before))
        });
        Ok(Watched { window, operations, lost })
    }
}

/// Observations of a window.
struct Watched {
    /// The samples.
    window: Window,
    /// The server's counts, unless its counters were reset.
    operations: Result<Vec<Operation>, ServerError>,
    /// Why it could not be asked any more.
    lost: Option<ServerError>,
}

/// The time that the server may still take for an answer when the trial was asked to stop.
const STOPPING: Duration = Duration::from_secs(1);

/// The interval at which the processes are listed where they are not our load's: these may come and
/// go.
const ROSTER_PERIOD_OF_OTHERS: Duration = Duration::from_millis(100);

/// Collects the waits of the sessions of a load. Workers of their parallel queries are not
/// sessions: a session waits for its workers. Where we open none, the load is another program's:
/// then all sessions of clients in the database are, but our own.
///
/// `stop` is to be called while the sessions are still connected: the kernel forgets a process when
/// it ends. Their counters are complete if each session has run [`FLUSH_OWN_COUNTERS`] before
/// `start` and after its last transaction (from 15 on). Otherwise up to a second of its work is
/// missing at the end, and as much of its earlier work may be counted.
pub struct PostgresCollector {
    config: Config,
    options: ObserveOptions,
    sessions: Arc<Mutex<Vec<i32>>>,
    cancel: Cancel,
    running: Option<Watch>,
    /// The parts that have ended, of a measurement that is divided.
    ended: Vec<Window>,
    /// Use at the start.
    before: Used,
}

impl PostgresCollector {
    /// A collector for the sessions with these process numbers, which may still be added to.
    /// Waiting for the server ends when the trial is asked to stop.
    pub fn new(
        config: Config,
        options: ObserveOptions,
        sessions: Arc<Mutex<Vec<i32>>>,
        cancel: Cancel,
    ) -> Self {
        let (running, ended, before) = (None, Vec::new(), Used::default());
        Self { config, options, sessions, cancel, running, ended, before }
    }

    /// Returns whether it is a session of another program in our database.
    fn is_of_others(&self, window: &Window, pid: i32) -> bool {
        window.processes.get(&pid).is_some_and(|process| {
            process.kind == "client backend"
                && process.database == self.config.database
                && process.application != ADMIN
        })
    }

    /// The sessions in a window: those of the load, or of another program.
    fn select(&self, window: &Window) -> SessionSamples {
        let ours: HashSet<i32> = lock(&self.sessions).iter().copied().collect();
        if ours.is_empty() {
            return SessionSamples::select(window, |pid| self.is_of_others(window, pid), None);
        }
        // They count as connected for the whole window.
        let session_s = ours.len() as f64 * window.elapsed.as_secs_f64();
        let samples = SessionSamples::select(window, |pid| ours.contains(&pid), None);
        SessionSamples { session_s, ..samples }
    }

    /// A part of the measurement, by its samples: sessions report what the server counts up to a
    /// second late.
    fn part(&self, window: &Window, version: u32) -> SessionPart {
        let (waits, time) = self.select(window).account(ServerCounts { operations: &[], version });
        SessionPart { session_s: time.session_s, cpu_s: time.cpu_s, waits }
    }

    /// After a request to stop the trial, any error is reported as the cancellation.
    fn or_cancelled(&self, error: ServerError) -> EngineError {
        if self.cancel.is_cancelled() { EngineError::Cancelled } else { error.into() }
    }
}

impl WaitCollector for PostgresCollector {
    fn start(&mut self) -> Result<(), EngineError> {
        let stop = self.cancel.stop();
        let connect = || connect(&self.config, Some((&stop, STOPPING)));
        let is_ours = !lock(&self.sessions).is_empty();
        let roster_period = if is_ours { ROSTER_PERIOD } else { ROSTER_PERIOD_OF_OTHERS };
        let watch = || Watch::start([connect()?, connect()?], self.options, roster_period);
        let mut watch = watch().map_err(|error| self.or_cancelled(error))?;
        self.before = Used::read(&mut watch.client, &self.config.user, &lock(&self.sessions));
        self.running = Some(watch);
        Ok(())
    }

    fn divide(&mut self) -> Result<(), EngineError> {
        let window = self.running.as_ref().map(|watch| watch.sampler.window()).transpose();
        self.ended.extend(window.map_err(|error| self.or_cancelled(error))?);
        Ok(())
    }

    fn stop(&mut self) -> Result<Collected, EngineError> {
        let mut watch =
            self.running.take().ok_or_else(|| ServerError::new("the observer is not running"))?;
        let version = watch.client.server_version() / 10_000;
        let mut finish = || {
            let Watched { window, operations, lost } = watch.window()?;
            lost.map_or(Ok(()), Err)?;
            let used = Used::read(&mut watch.client, &self.config.user, &lock(&self.sessions));
            Ok((window, operations?, used.since(&self.before), untimed(&mut watch.client)))
        };
        let (last, operations, used, untimed) =
            finish().map_err(|error| self.or_cancelled(error))?;
        let mut windows = std::mem::take(&mut self.ended);
        windows.push(last);
        let divided = if windows.len() > 1 { &windows[..] } else { &[] };
        let parts = divided.iter().map(|own| self.part(own, version)).collect();
        let window = windows.into_iter().reduce(|mut sum, next| {
            sum.add(&next);
            sum
        });
        let window = window.unwrap_or_default();
        let lost = hidden(&window).into_iter().chain(untimed).collect();
        let samples = self.select(&window);
        let (waits, time) = samples.account(ServerCounts { operations: &operations, version });
        // Workers of parallel queries are counted when they have ended: many live too short to be
        // seen.
        let all = window.kernel.iter().flatten().filter(|(pid, _)| {
            window.processes.get(pid).is_none_or(|own| own.kind != "parallel worker")
        });
        let server_cpu_s = all.map(|(_, times)| times.cpu_ns as f64 / 1e9).sum::<f64>();
        let server_cpu_s = server_cpu_s + used.worker_cpu_s.unwrap_or(0.0);
        let time = Some(time);
        Ok(Collected {
            waits,
            parts,
            operations,
            time,
            server_cpu_s,
            used,
            lost,
            ..Collected::default()
        })
    }
}

/// The number of processes whose work this role does not see.
fn hidden_processes(window: &Window) -> Option<String> {
    let hidden = window.processes.values().filter(|process| process.hidden).count();
    (hidden > 0).then(|| {
        format!(
            "waits of {hidden} of {} processes are hidden, because other roles own them",
            window.processes.len()
        )
    })
}

/// Describes the hidden parts of processes.
fn hidden(window: &Window) -> Vec<String> {
    let hidden = hidden_processes(window).map(|hidden| {
        format!(
            "Some processes: {hidden}. GRANT pg_monitor (or pg_read_all_stats) TO this role to \
             see them."
        )
    });
    let kernel = window.without_kernel().map(|why| {
        format!(
            "Exact CPU and run-queue time: {why}. Time without a wait event is shown as CPU \
                 time."
        )
    });
    hidden.into_iter().chain(kernel).collect()
}

/// Names timing that the server could do and does not; a failed query counts as unknown.
fn untimed(client: &mut Client) -> Option<String> {
    (client.cell("SHOW track_io_timing").ok()?? == "off").then(|| {
        "Duration of the server's reads and writes: the server counts them but does not time \
         them. Set track_io_timing = on."
            .to_owned()
    })
}
