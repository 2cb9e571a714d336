//! Looks several times a second at what sessions do, on a connection and a thread of its own.

use super::client::Client;
use super::samples::Samples;
use super::views;
use engine::{ServerError, lock};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Most samples a second: each costs the server a join of two views.
pub const HZ_MAX: f64 = 20.0;
/// The interval at which a thread that waits looks whether to end.
const NAP: Duration = Duration::from_millis(20);

#[derive(Debug, Default)]
struct Shared {
    samples: Mutex<Samples>,
    ends: AtomicBool,
    is_lost: AtomicBool,
}

/// The thread that samples. Dropping it ends the thread.
#[derive(Debug)]
pub struct Sampler {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    /// Samples a second.
    pub hz: f64,
}

impl Sampler {
    /// Begins to sample on this connection, `hz` times a second, with a statement whose rows are
    /// those of [`views::REQUESTS`].
    ///
    /// # Errors
    /// When there can be no further thread.
    pub fn start(client: Client, sql: String, hz: f64) -> Result<Self, ServerError> {
        let shared = Arc::new(Shared::default());
        let (sampler, hz) = (Arc::clone(&shared), hz.min(HZ_MAX));
        let period = Duration::from_secs_f64(1.0 / hz);
        let spawned = std::thread::Builder::new()
            .name("waits".into())
            .spawn(move || sample(&sampler, client, &sql, period));
        let thread =
            spawned.map_err(|error| ServerError::new(engine::EngineError::no_thread(&error)))?;
        Ok(Self { shared, thread: Some(thread), hz })
    }

    /// The samples since this was called last.
    pub fn take(&self) -> Samples {
        let mut samples = lock(&self.shared.samples);
        let mut next = Samples::default();
        next.failed.clone_from(&samples.failed);
        std::mem::replace(&mut samples, next)
    }

    /// Returns whether its connection was lost.
    pub fn is_lost(&self) -> bool {
        self.shared.is_lost.load(Ordering::Relaxed)
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.shared.ends.store(true, Ordering::Relaxed);
        // One that panicked has said so.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn sample(shared: &Shared, mut client: Client, sql: &str, period: Duration) {
    let mut due = Instant::now();
    while !shared.ends.load(Ordering::Relaxed) {
        let now = Instant::now();
        if now < due {
            std::thread::sleep(NAP.min(due - now));
            continue;
        }
        let answer = client.query(sql);
        let mut samples = lock(&shared.samples);
        match answer {
            Ok(rows) => samples.add(&rows),
            Err(error) => {
                shared.is_lost.store(error.is_lost(), Ordering::Relaxed);
                samples.failed = Some(format!("{}: {error}", views::REQUESTS.name));
                return;
            }
        }
        due += period;
        while due < Instant::now() {
            due += period;
            samples.missed += 1;
        }
    }
}
