//! The connections of a load: many of them on one thread, each with at most one request in flight.
//! The crate `transport` drives them.

use super::admin::Admin;
use super::failed_at;
use super::wire::{Features, MariaWire, StatementText};
use crate::client::{Client, Config};
use engine::{Answer, ConnectionSet, EngineError, lock};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use transport::Connections;
use work::{Cancel, Request, Statement};

/// How long a thread waits at most before it looks whether it is to stop.
const WAIT_MAX: Duration = Duration::from_millis(50);

/// How long sessions may take to answer when nothing is asked of them.
const PUBLISH_MAX: Duration = Duration::from_secs(30);

/// The numbers of the connections that serve a load.
pub type Sessions = Arc<Mutex<Vec<u32>>>;

/// How a load connects.
#[derive(Debug, Clone)]
pub struct LoadConfig {
    /// To which server and database.
    pub config: Config,
    /// Settings of each session.
    pub session: Vec<(String, String)>,
}

/// The connections of one thread.
pub struct MariaConnections {
    connections: Connections<MariaWire>,
    /// The connection that makes a checkpoint at the end of the measurement, if requested.
    checkpoints: Option<Arc<Admin>>,
    /// Dropped after the connections.
    listed: Listed,
    cancel: Cancel,
}

/// The sessions of this set in the list of all; dropping it removes them.
struct Listed {
    sessions: Sessions,
    ours: Vec<u32>,
}

impl Drop for Listed {
    fn drop(&mut self) {
        lock(&self.sessions).retain(|session| !self.ours.contains(session));
    }
}

impl LoadConfig {
    /// Opens one connection and sets what its session has to have.
    pub fn connect(&self) -> Result<Client, EngineError> {
        let mut client = Client::connect(&self.config).map_err(failed_at("connecting"))?;
        for (name, value) in &self.session {
            let doing = format!("setting {name} = {value} in a session");
            client.run(&format!("SET SESSION {name} = {value}")).map_err(failed_at(&doing))?;
        }
        Ok(client)
    }
}

impl MariaConnections {
    /// Opens so many connections; they are added to `sessions`.
    pub fn connect(
        load: &LoadConfig,
        connections: u32,
        statements: &Arc<[StatementText]>,
        sessions: Sessions,
        checkpoints: Option<Arc<Admin>>,
        cancel: Cancel,
    ) -> Result<Self, EngineError> {
        let mut listed = Listed { sessions, ours: Vec::new() };
        let mut opened = Vec::with_capacity(connections as usize);
        for _ in 0..connections {
            let client = load.connect()?;
            listed.ours.push(client.connection_id());
            lock(&listed.sessions).push(client.connection_id());
            let features =
                Features { caches_metadata: client.caches_metadata(), bulk: client.has_bulk() };
            opened.push((client.into_stream(), MariaWire::new(Arc::clone(statements), features)));
        }
        let connections = Connections::new(opened).map_err(|error| waiting_failed(&error))?;
        Ok(Self { connections, checkpoints, listed, cancel })
    }
}

fn waiting_failed(error: &std::io::Error) -> EngineError {
    EngineError::failed("waiting for the server", error.to_string())
}

impl ConnectionSet for MariaConnections {
    fn send(&mut self, number: usize, request: &Request<'_>) -> Result<(), EngineError> {
        self.connections.send(number, request);
        Ok(())
    }

    /// A session's time with its client counts once its next statement comes: it comes now.
    fn publish(&mut self) -> Result<(), EngineError> {
        let nothing = Request::Execute {
            statement: Statement::Text("DO 0"),
            parameters: &[],
            results: false,
        };
        let connections = self.listed.ours.len();
        for connection in 0..connections {
            self.send(connection, &nothing)?;
        }
        let (mut answers, started) = (Vec::new(), Instant::now());
        while answers.len() < connections {
            if self.cancel.is_cancelled() {
                return Err(EngineError::Cancelled);
            }
            if started.elapsed() > PUBLISH_MAX {
                let late =
                    format!("its sessions did not answer within {} s", PUBLISH_MAX.as_secs());
                return Err(EngineError::failed("waiting for the server", late));
            }
            self.wait(None, &mut answers)?;
        }
        answers.into_iter().try_for_each(|answer| answer.result.map(|_| ()))
    }

    fn flush(&mut self, index: u32, _: u32) -> Result<(), EngineError> {
        // One checkpoint serves all connections.
        let admin = self.checkpoints.as_ref().filter(|_| index == 0);
        admin.map_or(Ok(()), |admin| admin.checkpoint())
    }

    fn wait(&mut self, most_ns: Option<u64>, answers: &mut Vec<Answer>) -> Result<(), EngineError> {
        let timeout =
            most_ns.map_or(WAIT_MAX, |most_ns| Duration::from_nanos(most_ns).min(WAIT_MAX));
        self.connections
            .wait(timeout, |connection, result| answers.push(Answer { connection, result }))
            .map_err(|error| waiting_failed(&error))
    }
}
