use super::accounting::SessionSamples;
use super::{Watch, connect, while_doing};
use crate::postgres::admin::until_cancelled;
use crate::{Cancel, Collected, EngineError, ObserveOptions, ServerError, WaitCollector, lock};
use pgclient::{Client, Config, Disconnector};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
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
    running: Option<Watch>,
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

    /// Does some work with connections, which are cut some time after the trial was asked to stop; then only that is
    /// told of an error.
    fn watched<T>(
        &self,
        disconnectors: [&Disconnector; 2],
        work: impl FnOnce() -> Result<T, ServerError>,
    ) -> Result<T, EngineError> {
        let stop = |goes_on_for: &dyn Fn(Duration) -> bool| {
            if goes_on_for(STOPPING) {
                disconnectors.into_iter().for_each(Disconnector::disconnect);
            }
        };
        let result = until_cancelled(&self.cancel, stop, work);
        result.map_err(|error| if self.cancel.is_cancelled() { EngineError::Cancelled } else { error.into() })
    }
}

impl WaitCollector for PostgresCollector {
    fn start(&mut self) -> Result<(), EngineError> {
        let clients = [connect(&self.config)?, connect(&self.config)?];
        let disconnectors = [disconnector(&clients[0])?, disconnector(&clients[1])?];
        self.running = Some(self.watched(disconnectors.each_ref(), || Watch::start(clients, self.options))?);
        Ok(())
    }

    fn stop(&mut self) -> Result<Collected, EngineError> {
        let mut watch = self.running.take().ok_or_else(|| ServerError::new("nothing was started"))?;
        let (counting, sampling) = (disconnector(&watch.client)?, watch.sampler.disconnector.clone());
        let (window, operations, untimed) = self.watched([&counting, &sampling], || {
            let (window, operations) = watch.window()?;
            Ok((window, operations?, untimed(&mut watch.client)))
        })?;
        *lock(&self.lost) = window.lost().into_iter().chain(untimed).collect();
        let sessions: HashSet<i32> = lock(&self.sessions).iter().copied().collect();
        // They count as connected for the whole window.
        let session_s = sessions.len() as f64 * window.elapsed.as_secs_f64();
        let samples = SessionSamples::of(&window, |pid| sessions.contains(&pid), None);
        let (waits, time) = SessionSamples { session_s, ..samples }.account();
        let all = window.kernel.iter().flat_map(HashMap::values);
        let server_cpu_s = all.map(|times| times.cpu_ns as f64 / 1e9).sum();
        Ok(Collected { waits, operations, time: Some(time), server_cpu_s })
    }
}

fn disconnector(client: &Client) -> Result<Disconnector, ServerError> {
    client.disconnector().map_err(while_doing("connecting"))
}

/// What the server could time and does not; asking for it is as good as not knowing.
fn untimed(client: &mut Client) -> Option<String> {
    (client.cell("SHOW track_io_timing").ok()?? == "off").then(|| {
        "How long the server's reads and writes took: it counts but does not time them. Set track_io_timing = on \
         there."
            .to_owned()
    })
}
