//! The connections of a load: many of them on one thread, each with at most one request in flight.
//! The crate `transport` drives them.

use super::admin::Admin;
use super::failed_at;
use super::waits::FLUSH_OWN_COUNTERS;
use super::wire::{PostgresWire, StatementText};
use crate::client::{Client, Config};
use engine::{Answer, ConnectionSet, EngineError, lock};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use transport::Connections;
use work::{Cancel, Request, Statement};

/// How long a thread waits at most before it looks whether it is to stop.
const WAIT_MAX: Duration = Duration::from_millis(50);

/// How long sessions may take to report their counters, which is no work.
const PUBLISH_MAX: Duration = Duration::from_secs(30);

/// Version whose sessions can be asked to report their counters.
const PUBLISHES_SINCE: u32 = 150_000;

/// Process ids of the server's backends that serve a load.
pub type Backends = Arc<Mutex<Vec<i32>>>;

/// The connections of one thread.
pub struct PostgresConnections {
    connections: Connections<PostgresWire>,
    /// The connection that makes a checkpoint at the end of the measurement, if requested.
    checkpoints: Option<Arc<Admin>>,
    /// The server lets a session report its counters now.
    publishes: bool,
    listed: Listed,
    cancel: Cancel,
}

/// The backends of this set in the list of all; dropping it removes them.
struct Listed {
    backends: Backends,
    ours: Vec<i32>,
}

impl Listed {
    fn add(&mut self, pid: i32) {
        self.ours.push(pid);
        lock(&self.backends).push(pid);
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        lock(&self.backends).retain(|pid| !self.ours.contains(pid));
    }
}

impl PostgresConnections {
    /// Opens so many connections; their backends are added to `backends`.
    pub fn connect(
        config: &Config,
        connections: u32,
        statements: &Arc<[StatementText]>,
        backends: Backends,
        checkpoints: Option<Arc<Admin>>,
        cancel: Cancel,
    ) -> Result<Self, EngineError> {
        let mut listed = Listed { backends, ours: Vec::new() };
        let mut opened = Vec::with_capacity(connections as usize);
        let mut publishes = false;
        for number in 0..connections {
            let doing = format!("opening connection {number}");
            let client = Client::connect(config).map_err(failed_at(&doing))?;
            listed.add(client.backend_pid());
            publishes = client.server_version() >= PUBLISHES_SINCE;
            let stream = client.into_stream().map_err(failed_at(&doing))?;
            opened.push((stream, PostgresWire::new(Arc::clone(statements))));
        }
        let connections = Connections::new(opened).map_err(|error| waiting_failed(&error))?;
        Ok(Self { connections, checkpoints, publishes, listed, cancel })
    }
}

fn waiting_failed(error: &std::io::Error) -> EngineError {
    EngineError::failed("waiting for the server", error.to_string())
}

impl ConnectionSet for PostgresConnections {
    fn send(&mut self, number: usize, request: &Request<'_>) -> Result<(), EngineError> {
        self.connections.send(number, request);
        Ok(())
    }

    fn wait(&mut self, most_ns: Option<u64>, answers: &mut Vec<Answer>) -> Result<(), EngineError> {
        let timeout =
            most_ns.map_or(WAIT_MAX, |most_ns| Duration::from_nanos(most_ns).min(WAIT_MAX));
        self.connections
            .wait(timeout, |connection, result| answers.push(Answer { connection, result }))
            .map_err(|error| waiting_failed(&error))
    }

    fn publish(&mut self) -> Result<(), EngineError> {
        if !self.publishes {
            return Ok(());
        }
        let flush = Request::Execute {
            statement: Statement::Text(FLUSH_OWN_COUNTERS),
            parameters: &[],
            results: false,
        };
        let connections = self.listed.ours.len();
        for connection in 0..connections {
            self.send(connection, &flush)?;
        }
        let (mut answers, mut waited) = (Vec::new(), Duration::ZERO);
        while answers.len() < connections {
            if self.cancel.is_cancelled() {
                return Err(EngineError::Cancelled);
            }
            if waited > PUBLISH_MAX {
                let late = format!(
                    "its sessions did not report their counters within {} s",
                    PUBLISH_MAX.as_secs()
                );
                return Err(EngineError::failed("waiting for the server", late));
            }
            let start = Instant::now();
            self.wait(None, &mut answers)?;
            // What passes while all is stopped (SIGSTOP, a frozen control group) is not waited.
            waited += start.elapsed().min(WAIT_MAX);
        }
        answers.into_iter().try_for_each(|answer| answer.result.map(|_| ()))
    }

    fn flush(&mut self, index: u32, _: u32) -> Result<(), EngineError> {
        // One checkpoint serves all connections.
        let admin = self.checkpoints.as_ref().filter(|_| index == 0);
        admin.map_or(Ok(()), |admin| admin.run("final checkpoint", "CHECKPOINT"))
    }
}
