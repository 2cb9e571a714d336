use super::connection::{Connection, Progress};
use super::task::Texts;
use crate::postgres::failure;
use crate::postgres::waits::FLUSH_OWN_COUNTERS;
use crate::{Answer, EngineError, Fleet, Request};
use pgclient::{Client, Config};
use rustix::event::epoll;
use rustix::fd::OwnedFd;
use rustix::time::Timespec;
use std::mem::MaybeUninit;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a thread waits at most before it looks whether it is to stop.
const WAIT_MAX: Duration = Duration::from_millis(50);

/// Events that are looked at in one go.
const EVENTS: usize = 64;

/// Events of a socket whose other end is closed.
const ENDS: epoll::EventFlags =
    epoll::EventFlags::RDHUP.union(epoll::EventFlags::HUP).union(epoll::EventFlags::ERR);

/// How long sessions may take to report their counters, which is no work.
const PUBLISH_MAX: Duration = Duration::from_secs(30);

/// Version whose sessions can be asked to report their counters.
const PUBLISHES_SINCE: u32 = 150_000;

/// Process ids of the server's backends that serve a load.
pub type Backends = Arc<Mutex<Vec<i32>>>;

/// Work that is left for later, done at the end of the measured part.
pub type Flush = Arc<dyn Fn() -> Result<(), EngineError> + Send + Sync>;

/// The connections of one thread.
pub struct PostgresFleet {
    connections: Vec<Connection>,
    epoll: OwnedFd,
    texts: Arc<Texts>,
    flush: Option<Flush>,
    /// The server lets a session report its counters now.
    publishes: bool,
    backends: Backends,
    /// Of these, ours.
    pids: Vec<i32>,
}

impl PostgresFleet {
    /// Opens so many connections; their backends are added to `backends`.
    pub fn connect(
        config: &Config,
        connections: u32,
        texts: Arc<Texts>,
        backends: Backends,
        flush: Option<Flush>,
    ) -> Result<Self, EngineError> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(|error| system(&error.into()))?;
        let mut fleet = Self {
            connections: Vec::with_capacity(connections as usize),
            epoll,
            texts,
            flush,
            publishes: false,
            backends,
            pids: Vec::with_capacity(connections as usize),
        };
        for number in 0..connections {
            let client = Client::connect(config)
                .map_err(|error| failure::of_client(&format!("opening connection {number}"), &error))?;
            fleet.pids.push(client.backend_pid());
            lock(&fleet.backends).push(client.backend_pid());
            fleet.publishes = client.server_version() >= PUBLISHES_SINCE;
            let transport = client
                .into_transport()
                .map_err(|error| failure::of_client("opening a connection", &error))?;
            let connection = Connection::new(transport, &fleet.texts);
            fleet.register(&connection, u64::from(number), true)?;
            fleet.connections.push(connection);
        }
        Ok(fleet)
    }

    /// Asks for the events of a connection; a socket that was full for that of room, too. Each event is
    /// told once: what a socket has received is then read to the end.
    fn register(&self, connection: &Connection, number: u64, new: bool) -> Result<(), EngineError> {
        let mut flags = epoll::EventFlags::IN | epoll::EventFlags::RDHUP | epoll::EventFlags::ET;
        flags.set(epoll::EventFlags::OUT, connection.has_to_send());
        let data = epoll::EventData::new_u64(number);
        let fd = connection.transport();
        let result = if new {
            epoll::add(&self.epoll, fd, data, flags)
        } else {
            epoll::modify(&self.epoll, fd, data, flags)
        };
        result.map_err(|error| system(&error.into()))
    }

    /// Brings the events that are asked for in line with what a connection waits for.
    fn watch_room(&mut self, number: usize) -> Result<(), EngineError> {
        let connection = &self.connections[number];
        let wanted = connection.has_to_send();
        if wanted != connection.waits_for_room {
            self.register(connection, number as u64, false)?;
            self.connections[number].waits_for_room = wanted;
        }
        Ok(())
    }
}

fn lock(backends: &Backends) -> MutexGuard<'_, Vec<i32>> {
    backends.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for PostgresFleet {
    fn drop(&mut self) {
        lock(&self.backends).retain(|pid| !self.pids.contains(pid));
    }
}

fn system(error: &std::io::Error) -> EngineError {
    EngineError::Engine { doing: "waiting for the server".into(), message: error.to_string() }
}

impl Fleet for PostgresFleet {
    fn begin(&mut self) {}

    fn send(&mut self, connection: usize, request: &Request<'_>) -> Result<(), EngineError> {
        self.connections[connection].ask(request, &self.texts)?;
        if self.connections[connection].has_to_send() {
            self.watch_room(connection)?;
        }
        Ok(())
    }

    fn wait(&mut self, most_ns: Option<u64>, answers: &mut Vec<Answer>) -> Result<(), EngineError> {
        let timeout = most_ns.map_or(WAIT_MAX, |most_ns| Duration::from_nanos(most_ns).min(WAIT_MAX));
        let timeout = Timespec { tv_sec: 0, tv_nsec: timeout.as_nanos() as _ };
        let mut room = [const { MaybeUninit::<epoll::Event>::uninit() }; EVENTS];
        let events = match epoll::wait(&self.epoll, &mut room, Some(&timeout)) {
            Ok((events, _)) => events,
            Err(rustix::io::Errno::INTR) => return Ok(()),
            Err(error) => return Err(system(&error.into())),
        };
        for event in events {
            let number = event.data.u64() as usize;
            let connection = &mut self.connections[number];
            if connection.has_to_send()
                && let Err(error) = connection.send()
            {
                let result = Err(connection.last_words(&error, &self.texts));
                answers.push(Answer { connection: number, result });
                continue;
            }
            let flags = event.flags;
            let ends = flags.intersects(ENDS);
            if let Progress::Over(result) = connection.receive(&self.texts, ends) {
                answers.push(Answer { connection: number, result });
            }
            if self.connections[number].waits_for_room != self.connections[number].has_to_send() {
                self.watch_room(number)?;
            }
        }
        Ok(())
    }

    fn publish(&mut self) -> Result<(), EngineError> {
        if !self.publishes {
            return Ok(());
        }
        for connection in 0..self.connections.len() {
            self.send(connection, &Request::Query { sql: FLUSH_OWN_COUNTERS, results: false })?;
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
