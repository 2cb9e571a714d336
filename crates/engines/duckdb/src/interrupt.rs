//! Stopping statements: DuckDB can be interrupted only from another thread.

use super::library::{Connection, Handles};
use engine::{EngineError, Result, TimeLimit, lock};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;
use work::Cancel;

/// The interval at which the token is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Interrupts the statements of a trial's connections as long as the trial is asked to stop.
/// Dropping it ends its thread.
pub(crate) struct Interrupter {
    watched: Arc<Registry>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Registry {
    connections: Mutex<Vec<Weak<Handles>>>,
    limited: Mutex<Vec<TimeLimited>>,
    is_over: AtomicBool,
}

/// A connection whose statements have a time limit.
struct TimeLimited {
    connection: Weak<Handles>,
    limit: TimeLimit,
}

impl Interrupter {
    /// Starts to look at a token.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(cancel: &Cancel) -> Result<Self> {
        let watched = Arc::<Registry>::default();
        let (cancel, inside) = (cancel.clone(), watched.clone());
        let thread = Builder::new().name("interrupter".into()).spawn(move || {
            while !inside.is_over.load(Ordering::Relaxed) {
                if cancel.is_cancelled() {
                    let connections = lock(&inside.connections);
                    connections
                        .iter()
                        .filter_map(Weak::upgrade)
                        .for_each(|connection| connection.interrupt());
                }
                for TimeLimited { connection, limit } in lock(&inside.limited).iter() {
                    if let Some(connection) = connection.upgrade() {
                        limit.interrupt(|| connection.interrupt());
                    }
                }
                std::thread::park_timeout(LOOK_EVERY);
            }
        });
        Ok(Self { watched, thread: Some(thread.map_err(|error| EngineError::no_thread(&error))?) })
    }

    /// Also interrupts this connection, until it is closed.
    pub fn watch(&self, connection: &Connection) {
        let mut connections = lock(&self.watched.connections);
        connections.retain(|known| known.strong_count() > 0);
        connections.push(Arc::downgrade(connection.shared()));
    }

    /// Also interrupts the statements of this connection that exceed the limit.
    pub fn limit(&self, connection: &Connection, limit: TimeLimit) {
        let mut limited = lock(&self.watched.limited);
        limited.retain(|known| known.connection.strong_count() > 0);
        limited.push(TimeLimited { connection: Arc::downgrade(connection.shared()), limit });
    }
}

impl Drop for Interrupter {
    fn drop(&mut self) {
        self.watched.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // It does not panic; if it did, there is nothing left to stop.
            let _ = thread.join();
        }
    }
}
