use super::connection::Connection;
use super::epoll::Epoll;
use super::ring::Ring;
use super::task::Texts;
use crate::postgres::failure;
use crate::postgres::waits::FLUSH_OWN_COUNTERS;
use crate::{Answer, ConnectionSet, EngineError, Request, Statement};
use pgclient::{Client, Config};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a thread waits at most before it looks whether it is to stop.
const WAIT_MAX: Duration = Duration::from_millis(50);

/// How long sessions may take to report their counters, which is no work.
const PUBLISH_MAX: Duration = Duration::from_secs(30);

/// Version whose sessions can be asked to report their counters.
const PUBLISHES_SINCE: u32 = 150_000;

/// Process ids of the server's backends that serve a load.
pub type Backends = Arc<Mutex<Vec<i32>>>;

/// Work that is left for later, done at the end of the measured part.
pub type Flush = Arc<dyn Fn() -> Result<(), EngineError> + Send + Sync>;

/// The connections of one thread.
pub struct PostgresConnections {
    connections: Vec<Connection>,
    sockets: Sockets,
    texts: Arc<Texts>,
    flush: Option<Flush>,
    /// The server lets a session report its counters now.
    publishes: bool,
    /// Held until the connection_set is gone.
    _listed: Listed,
}

/// How sockets are served: with `io_uring(7)` where the kernel offers what it takes, or else, and with
/// TLS, with epoll.
enum Sockets {
    Ring(Box<Ring>),
    Epoll(Epoll),
}

impl Sockets {
    fn of(connections: &[Connection]) -> Result<Self, EngineError> {
        let plain = !connections.iter().any(|connection| connection.transport().is_tls());
        if plain && let Ok(ring) = Ring::new(connections) {
            return Ok(Self::Ring(Box::new(ring)));
        }
        Epoll::new(connections).map(Self::Epoll).map_err(|error| system(&error))
    }
}

/// Backends of ours in the list of all.
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

fn lock(backends: &Backends) -> MutexGuard<'_, Vec<i32>> {
    backends.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PostgresConnections {
    /// Opens so many connections; their backends are added to `backends`.
    pub fn connect(
        config: &Config,
        connections: u32,
        texts: Arc<Texts>,
        backends: Backends,
        flush: Option<Flush>,
    ) -> Result<Self, EngineError> {
        let mut listed = Listed { backends, ours: Vec::new() };
        let mut opened = Vec::with_capacity(connections as usize);
        let mut publishes = false;
        for number in 0..connections {
            let client = Client::connect(config)
                .map_err(|error| failure::of_client(&format!("opening connection {number}"), &error))?;
            listed.add(client.backend_pid());
            publishes = client.server_version() >= PUBLISHES_SINCE;
            let transport = client
                .into_transport()
                .map_err(|error| failure::of_client("opening a connection", &error))?;
            let mut connection = Connection::new(transport, &texts);
            // What came with the login's answer is no longer in the socket.
            let _ = connection.receive(&texts, false);
            opened.push(connection);
        }
        let sockets = Sockets::of(&opened)?;
        Ok(Self { connections: opened, sockets, texts, flush, publishes, _listed: listed })
    }
}

fn system(error: &std::io::Error) -> EngineError {
    EngineError::Engine { doing: "waiting for the server".into(), message: error.to_string() }
}

impl ConnectionSet for PostgresConnections {
    fn begin(&mut self) {}

    fn send(&mut self, number: usize, request: &Request<'_>) -> Result<(), EngineError> {
        let connection = &mut self.connections[number];
        connection.ask(request, &self.texts);
        match &mut self.sockets {
            Sockets::Ring(ring) => ring.serve(number),
            Sockets::Epoll(epoll) => epoll.send(number, connection, &self.texts)?,
        }
        Ok(())
    }

    fn wait(&mut self, most_ns: Option<u64>, answers: &mut Vec<Answer>) -> Result<(), EngineError> {
        let most = most_ns.map_or(WAIT_MAX, |most_ns| Duration::from_nanos(most_ns).min(WAIT_MAX));
        match &mut self.sockets {
            Sockets::Ring(ring) => ring.wait(most, &mut self.connections, &self.texts, answers),
            Sockets::Epoll(epoll) => epoll.wait(most, &mut self.connections, &self.texts, answers),
        }
        .map_err(|error| system(&error))
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
        for connection in 0..self.connections.len() {
            self.send(connection, &flush)?;
        }
        let (mut answers, started) = (Vec::new(), Instant::now());
        while answers.len() < self.connections.len() {
            if started.elapsed() > PUBLISH_MAX {
                return Err(system(&std::io::ErrorKind::TimedOut.into()));
            }
            self.wait(None, &mut answers)?;
        }
        answers.into_iter().try_for_each(|answer| answer.result.map(|_| ()))
    }

    fn flush(&mut self, index: u32, _: u32) -> Result<(), EngineError> {
        match &self.flush {
            // One checkpoint serves all connections.
            Some(flush) if index == 0 => flush(),
            _ => Ok(()),
        }
    }

    fn end(&mut self) {}
}
