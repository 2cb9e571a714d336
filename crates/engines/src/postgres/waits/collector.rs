use super::accounting::SessionSamples;
use super::counters::Counters;
use super::{ObserveError, Sampler, Window, connect, while_doing};
use crate::postgres::guard::until_cancelled;
use crate::{Cancel, Collected, EngineError, ObserveOptions, WaitCollector};
use observations::Operation;
use pgclient::{Client, Config, Disconnector};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long the server may still take for an answer when the trial was asked to stop.
const STOPPING: Duration = Duration::from_secs(1);

/// Collects the waits of the sessions of a load. Workers of their parallel queries are not sessions:
/// a session waits for its workers.
///
/// `stop` is to be called while the sessions are still connected: the kernel forgets a process when
/// it ends. Their counters are complete if each session has run [`super::FLUSH_OWN_COUNTERS`] before
/// `start` and after its last transaction (from 15 on): otherwise up to a second of its work is
/// missing at the end, and as much of what it did before may be counted.
pub struct PostgresCollector {
    config: Config,
    options: ObserveOptions,
    sessions: Arc<Mutex<Vec<i32>>>,
    lost: Arc<Mutex<Vec<String>>>,
    cancel: Cancel,
    running: Option<Running>,
}

struct Running {
    sampler: Sampler,
    client: Client,
    before: Counters,
}

impl PostgresCollector {
    /// A collector for the sessions with these process numbers, which may still be added to. What
    /// cannot be seen is told in `lost`. Waiting for the server ends when the trial is asked to stop.
    pub fn new(
        config: Config,
        options: ObserveOptions,
        sessions: Arc<Mutex<Vec<i32>>>,
        lost: Arc<Mutex<Vec<String>>>,
        cancel: Cancel,
    ) -> Self {
        Self { config, options, sessions, lost, cancel, running: None }
    }

    fn begin(&self) -> Result<Running, ObserveError> {
        let (mut client, sampled) = (connect(&self.config)?, connect(&self.config)?);
        let disconnectors = (disconnector(&client)?, disconnector(&sampled)?);
        self.watched([&disconnectors.0, &disconnectors.1], || {
            let before = Counters::read(&mut client)?;
            Ok(Running { sampler: Sampler::on(sampled, self.options)?, client, before })
        })
    }

    /// The window, and what the server has counted in it.
    fn end(&self, mut running: Running) -> Result<(Window, Vec<Operation>), ObserveError> {
        let counting = disconnector(&running.client)?;
        let (window, operations, untimed) =
            self.watched([&counting, running.sampler.disconnector()], || {
                let window = running.sampler.window()?;
                let operations = Counters::read(&mut running.client)?.since(&running.before)?;
                Ok((window, operations, untimed(&mut running.client)))
            })?;
        *self.lost.lock().unwrap_or_else(PoisonError::into_inner) =
            window.lost().into_iter().chain(untimed).collect();
        Ok((window, operations))
    }

    /// Does some work with connections, which are cut some time after the trial was asked to stop.
    fn watched<T>(
        &self,
        disconnectors: [&Disconnector; 2],
        work: impl FnOnce() -> Result<T, ObserveError>,
    ) -> Result<T, ObserveError> {
        let stop = |goes_on_for: &dyn Fn(Duration) -> bool| {
            if goes_on_for(STOPPING) {
                for disconnector in disconnectors {
                    disconnector.disconnect();
                }
            }
        };
        until_cancelled(&self.cancel, stop, work)
    }

    /// Of an error that came with the request to stop, only that is told.
    fn told(&self, error: ObserveError) -> EngineError {
        if self.cancel.is_cancelled() { EngineError::Cancelled } else { error.into() }
    }
}

impl WaitCollector for PostgresCollector {
    fn start(&mut self) -> Result<(), EngineError> {
        self.running = Some(self.begin().map_err(|error| self.told(error))?);
        Ok(())
    }

    fn stop(&mut self) -> Result<Collected, EngineError> {
        let running = self.running.take().ok_or(ObserveError::Ended)?;
        let (window, operations) = self.end(running).map_err(|error| self.told(error))?;
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let sessions: HashSet<i32> = sessions.iter().copied().collect();
        // They count as connected for the whole window.
        let session_s = sessions.len() as f64 * window.elapsed.as_secs_f64();
        let samples = SessionSamples::of(&window, |pid| sessions.contains(&pid), None);
        let (waits, time) = SessionSamples { session_s, ..samples }.account();
        let all = window.kernel.iter().flat_map(HashMap::values);
        let server_cpu_s = all.map(|times| times.cpu_ns as f64 / 1e9).sum();
        Ok(Collected { waits, operations, time: Some(time), server_cpu_s })
    }
}

fn disconnector(client: &Client) -> Result<Disconnector, ObserveError> {
    client.disconnector().map_err(while_doing("connecting"))
}

/// What the server could time and does not; asking for it is as good as not knowing.
fn untimed(client: &mut Client) -> Option<String> {
    let rows = client.query("SHOW track_io_timing", &[]).ok()?;
    (rows.first()?.get(0)? == "off").then(|| {
        "How long the server's reads and writes took: it counts but does not time them. Set track_io_timing = on \
         there."
            .to_owned()
    })
}
