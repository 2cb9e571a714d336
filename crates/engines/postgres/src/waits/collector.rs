//! The waits of the sessions of a trial.

use super::accounting::SessionSamples;
use super::counters::ServerCounts;
use super::used::Used;
use super::watch::{Watch, Watched, hidden};
use crate::admin::ADMIN;
use crate::client::{Client, Config};
use crate::connecting::observer;
use engine::{
    Collection, EngineError, ObserveOptions, Result, ServerError, SessionPart, WaitCollector, lock,
};
use servers::activity::{ROSTER_PERIOD, Window};
use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use work::Cancel;

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
/// it ends. Their counters are complete if each session has run [`super::FLUSH_OWN_COUNTERS`]
/// before `start` and after its last transaction (from 15 on). Otherwise up to a second of its work
/// is missing at the end, and as much of its earlier work may be counted.
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
    fn start(&mut self) -> Result<()> {
        let stop = self.cancel.stop();
        let connect = || observer(&self.config, Some((&stop, STOPPING)));
        let is_ours = !lock(&self.sessions).is_empty();
        let roster_period = if is_ours { ROSTER_PERIOD } else { ROSTER_PERIOD_OF_OTHERS };
        let watch = || Watch::start([connect()?, connect()?], self.options, roster_period);
        let mut watch = watch().map_err(|error| self.or_cancelled(error))?;
        self.before = Used::read(&mut watch.client, &self.config.user, &lock(&self.sessions));
        self.running = Some(watch);
        Ok(())
    }

    fn divide(&mut self) -> Result<()> {
        let window = self.running.as_ref().map(|watch| watch.sampler.window()).transpose();
        self.ended.extend(window.map_err(|error| self.or_cancelled(error))?);
        Ok(())
    }

    fn stop(&mut self) -> Result<Collection> {
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
        let parts = divided.iter().map(|shares| self.part(shares, version)).collect();
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
            window.processes.get(pid).is_none_or(|process| process.kind != "parallel worker")
        });
        let server_cpu_s = all.map(|(_, times)| times.cpu_ns as f64 / 1e9).sum::<f64>();
        let server_cpu_s = server_cpu_s + used.worker_cpu_s.unwrap_or(0.0);
        let time = Some(time);
        Ok(Collection {
            waits,
            parts,
            operations,
            time,
            server_cpu_s,
            used,
            lost,
            ..Collection::default()
        })
    }
}

/// Names timing that the server could do and does not; a failed query counts as unknown.
fn untimed(client: &mut Client) -> Option<String> {
    (client.cell("SHOW track_io_timing").ok()?? == "off").then(|| {
        "Duration of the server's reads and writes: the server counts them but does not time \
         them. Set track_io_timing = on."
            .to_owned()
    })
}
