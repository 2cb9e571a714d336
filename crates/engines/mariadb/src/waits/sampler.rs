//! Looks at what sessions are at that the server does not time.

use super::reading::{self, list};
use super::types::IDLE;
use crate::client::Client;
use crate::errors::failed_at;
use engine::{EngineError, Result, lock};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// Samples of the sessions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Samples {
    /// Looks a second.
    pub hz: f64,
    /// Sessions looked at, summed over looks.
    pub all: u64,
    /// Of these, by their state in the process list; `idle`: nothing was asked of them.
    pub states: BTreeMap<String, u64>,
}

/// A thread that looks, on a connection of its own.
pub struct Sampler {
    is_over: Arc<AtomicBool>,
    samples: Arc<Mutex<Samples>>,
    hz: f64,
    thread: JoinHandle<Result<()>>,
}

impl Sampler {
    /// Begins to sample these sessions `hz` times a second.
    pub fn start(mut client: Client, sessions: &[u32], hz: f64) -> Result<Self> {
        let sql = format!(
            "SELECT if(command = 'Sleep', '{IDLE}', state), count(*) FROM {} WHERE id IN ({}) \
             GROUP BY 1",
            reading::sessions(&mut client),
            list(sessions)
        );
        let (is_over, every) = (Arc::<AtomicBool>::default(), Duration::from_secs_f64(1.0 / hz));
        let samples = Arc::<Mutex<Samples>>::default();
        let (stop, filled) = (is_over.clone(), samples.clone());
        let thread = Builder::new().name("sampler".into()).spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                let rows = client.query(&sql).map_err(failed_at("sampling the process list"))?;
                let mut samples = lock(&filled);
                for row in rows.iter() {
                    samples.add(row.get(0).unwrap_or_default(), row.parse(1).unwrap_or(0));
                }
                drop(samples);
                std::thread::park_timeout(every);
            }
            Ok(())
        });
        let thread = thread.map_err(|error| EngineError::no_thread(&error))?;
        Ok(Self { is_over, samples, hz, thread })
    }

    /// Returns the samples since the last call.
    pub fn take(&self) -> Samples {
        Samples { hz: self.hz, ..std::mem::take(&mut *lock(&self.samples)) }
    }

    /// Ends it; what it has seen since the last call of [`Sampler::take`].
    pub fn stop(self) -> Result<Samples> {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.thread().unpark();
        let Self { samples, hz, thread, .. } = self;
        thread.join().unwrap_or_else(|_| {
            Err(EngineError::failed("sampling the process list", "its thread panicked"))
        })?;
        Ok(Samples { hz, ..std::mem::take(&mut *lock(&samples)) })
    }
}

impl Samples {
    /// So many sessions were found in a state.
    pub fn add(&mut self, state: &str, sessions: u64) {
        self.all += sessions;
        *self.states.entry(state.to_owned()).or_insert(0) += sessions;
    }

    /// Adds samples of the same sessions at other times.
    pub fn join(&mut self, other: &Self) {
        self.hz = other.hz;
        self.all += other.all;
        for (state, sessions) in &other.states {
            *self.states.entry(state.clone()).or_insert(0) += sessions;
        }
    }
}
