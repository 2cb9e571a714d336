//! Looks at what sessions are at that the server does not time.

use super::list;
use crate::EngineError;
use crate::mariadb::failed_at;
use mysqlclient::Client;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// What was seen.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Samples {
    /// Looks a second.
    pub hz: f64,
    /// Sessions looked at, summed over looks.
    pub all: u64,
    /// Of these, in the state `Commit`, which MySQL calls `waiting for handler commit`.
    pub committing: u64,
}

/// A thread that looks, on a connection of its own.
pub struct Sampler {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Result<Samples, EngineError>>,
}

impl Sampler {
    /// Begins to look at these sessions so many times a second.
    pub fn start(mut client: Client, sessions: &[u32], hz: f64) -> Result<Self, EngineError> {
        let sql = format!(
            "SELECT count(*), coalesce(sum(state LIKE 'Commit%' OR state = 'waiting for handler commit'), 0) FROM information_schema.processlist \
             WHERE id IN ({})",
            list(sessions)
        );
        let (is_over, every) = (Arc::<AtomicBool>::default(), Duration::from_secs_f64(1.0 / hz));
        let stop = is_over.clone();
        let sample = move || {
            let mut samples = Samples { hz, ..Samples::default() };
            while !stop.load(Ordering::Relaxed) {
                let rows = client.query(&sql).map_err(failed_at("sampling the process list"))?;
                let [all, committing] = super::cells(rows.rows.into_iter().next().unwrap_or_default());
                samples.all += super::number(&all);
                samples.committing += super::number(&committing);
                std::thread::park_timeout(every);
            }
            Ok(samples)
        };
        let thread = Builder::new().name("sampler".into()).spawn(sample);
        Ok(Self { is_over, thread: thread.map_err(|error| EngineError::no_thread(&error))? })
    }

    /// Ends it; what it has seen.
    pub fn stop(self) -> Result<Samples, EngineError> {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.thread().unpark();
        let panicked = || EngineError::failed("sampling the process list", "the thread panicked");
        self.thread.join().unwrap_or_else(|_| Err(panicked()))
    }
}
