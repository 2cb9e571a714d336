use super::accounting::{KernelTime, SessionSamples};
use super::connection::connect;
use super::counters::Counters;
use super::sampler::{ObserveOptions, Sampler};
use super::{WaitsError, Window};
use crate::{Collected, EngineError, WaitCollector};
use observe::ProcessTimes;
use pgclient::{Client, Config};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

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
    running: Option<Running>,
}

struct Running {
    sampler: Sampler,
    client: Client,
    before: Counters,
}

impl PostgresCollector {
    /// A collector for the sessions with these process numbers, which may still be added to. What
    /// cannot be seen is told in `lost`.
    pub fn new(
        config: Config,
        options: ObserveOptions,
        sessions: Arc<Mutex<Vec<i32>>>,
        lost: Arc<Mutex<Vec<String>>>,
    ) -> Self {
        Self { config, options, sessions, lost, running: None }
    }

    fn begin(&self) -> Result<Running, WaitsError> {
        let mut client = connect(&self.config)?;
        let before = Counters::read(&mut client)?;
        Ok(Running { sampler: Sampler::start(&self.config, self.options)?, client, before })
    }
}

impl WaitCollector for PostgresCollector {
    fn start(&mut self) -> Result<(), EngineError> {
        self.running = Some(self.begin()?);
        Ok(())
    }

    fn stop(&mut self) -> Result<Collected, EngineError> {
        let mut running = self.running.take().ok_or(WaitsError::Ended)?;
        let window = running.sampler.window()?;
        drop(running.sampler);
        let operations = Counters::read(&mut running.client)?.since(&running.before)?;
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let (waits, time) = samples_of(&window, &sessions).account();
        *self.lost.lock().unwrap_or_else(PoisonError::into_inner) =
            window.lost().into_iter().chain(untimed(&mut running.client)).collect();
        let all = window.kernel.iter().flat_map(HashMap::values);
        let server_cpu_s = all.map(|times| times.cpu_ns as f64 / 1e9).sum();
        Ok(Collected { waits, operations, time: Some(time), server_cpu_s })
    }
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

/// The samples and times of these sessions. They count as connected for the whole window.
fn samples_of(window: &Window, sessions: &[i32]) -> SessionSamples {
    let sessions: HashSet<i32> = sessions.iter().copied().collect();
    let mut running = 0;
    let mut waits = BTreeMap::new();
    for (sample, count) in window.samples.iter().filter(|(sample, _)| sessions.contains(&sample.pid)) {
        match sample.wait {
            None => running += count,
            Some(wait) => *waits.entry(window.wait_type(wait)).or_insert(0) += count,
        }
    }
    let times = |kernel: &HashMap<i32, ProcessTimes>| {
        KernelTime::sum(sessions.iter().filter_map(|pid| kernel.get(pid)))
    };
    SessionSamples {
        session_s: sessions.len() as f64 * window.elapsed.as_secs_f64(),
        running,
        waits: waits.into_iter().collect(),
        hz: window.hz,
        kernel: window.kernel.as_ref().map(times),
    }
}
