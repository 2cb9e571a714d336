//! The connections of a load: many of them on one thread, each with at most one request in flight.
//! The crate `transport` drives them.

use engine::{Answer, ConnectionSet, Done, EngineError, Result, lock};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use transport::{Connections, Stream, Wire};
use work::{Cancel, Request, Statement};

/// The time that a thread waits at most before it looks whether it is to stop.
const WAIT_MAX: Duration = Duration::from_millis(50);

/// The time that sessions may take to report their counters, which is not work.
const PUBLISH_MAX: Duration = Duration::from_secs(30);

/// The server's numbers of the sessions that serve a load.
pub type Sessions<N> = Arc<Mutex<Vec<N>>>;

/// How the connections of an engine's load are opened, also by other processes.
pub trait Load: Send + Sync + 'static {
    /// The address of a server and the login.
    type Config;
    /// The protocol.
    type Wire: for<'a> Wire<Request<'a> = &'a Request<'a>, Answer = Result<Done>> + Send + 'static;
    /// The server's number of a session.
    type Session: Into<i64> + TryFrom<i64> + PartialEq + Copy + Send + 'static;
    /// A statement as the engine sends it.
    type Statement: Serialize + DeserializeOwned + Clone + Send + Sync + 'static;
    /// Settings of each session.
    type Options: Serialize + DeserializeOwned;
    /// Predicate of sessions that do not report: `did not answer`.
    const LATE: &'static str;

    /// Opens the connection with this number, which knows the statements of the load.
    fn open(
        &self,
        number: u32,
        statements: &Arc<[Self::Statement]>,
    ) -> Result<Opening<Self::Wire, Self::Session>>;
    /// Returns the database and the settings of sessions.
    fn target(&self) -> (String, Self::Options);
    /// Returns the load of a target that another process has prepared.
    fn of_target(
        config: Self::Config,
        database: &str,
        options: Self::Options,
        cancel: &Cancel,
    ) -> Self;
}

/// A connection that is logged in.
pub struct Opening<W, N> {
    /// The socket.
    pub stream: Stream,
    /// The protocol.
    pub wire: W,
    /// The server's number of its session.
    pub session: N,
    /// The statement with which a session reports its counters now; `None`: it cannot.
    pub report: Option<&'static str>,
}

/// The operation of a load's requests, in errors.
pub const RUNNING: &str = "running a transaction";

/// The error of a request whose connection is gone: the server's last words, or the cause.
pub fn lost(last_words: Option<EngineError>, cause: &std::io::Error) -> EngineError {
    let message = format!("lost the connection to the server: {cause}");
    last_words.unwrap_or_else(|| EngineError::failed(RUNNING, message))
}

/// Makes a checkpoint.
pub type Checkpoint = Box<dyn Fn() -> Result<()> + Send>;

/// The end of a measurement.
pub struct Ending {
    /// Makes the final checkpoint, where that is wanted.
    pub checkpoint: Option<Checkpoint>,
    /// Stop request of the trial.
    pub cancel: Cancel,
}

/// The connections of one thread.
pub struct LoadConnections<W: Wire, N: PartialEq> {
    connections: Connections<W>,
    report: Option<&'static str>,
    late: &'static str,
    ending: Ending,
    /// Dropped after the connections.
    listed: ListEntry<N>,
}

/// The sessions of this set in the list of all; dropping it removes them.
struct ListEntry<N: PartialEq> {
    all: Sessions<N>,
    sessions: Vec<N>,
}

impl<N: PartialEq> Drop for ListEntry<N> {
    fn drop(&mut self) {
        lock(&self.all).retain(|session| !self.sessions.contains(session));
    }
}

impl<W: Wire, N: PartialEq + Copy> LoadConnections<W, N> {
    /// Opens this number of connections, each by its number; they are added to `sessions`.
    ///
    /// # Errors
    /// When the server refuses one.
    pub fn open<L: Load<Wire = W, Session = N>>(
        load: &L,
        statements: &Arc<[L::Statement]>,
        connections: u32,
        sessions: Sessions<N>,
        ending: Ending,
    ) -> Result<Self> {
        let mut listed = ListEntry { all: sessions, sessions: Vec::new() };
        let mut streams = Vec::with_capacity(connections as usize);
        let mut report = None;
        for number in 0..connections {
            let opened = load.open(number, statements)?;
            listed.sessions.push(opened.session);
            lock(&listed.all).push(opened.session);
            report = opened.report;
            streams.push((opened.stream, opened.wire));
        }
        let connections = Connections::new(streams).map_err(|error| waiting_failed(&error))?;
        Ok(Self { connections, report, late: L::LATE, ending, listed })
    }
}

fn waiting_failed(error: &std::io::Error) -> EngineError {
    EngineError::failed("waiting for the server", error.to_string())
}

impl<W, N> ConnectionSet for LoadConnections<W, N>
where
    W: for<'a> Wire<Request<'a> = &'a Request<'a>, Answer = Result<Done>> + Send,
    N: PartialEq + Copy + Send,
{
    fn send(&mut self, number: usize, request: &Request<'_>) -> Result<()> {
        self.connections.send(number, request);
        Ok(())
    }

    fn wait(&mut self, most_ns: Option<u64>, answers: &mut Vec<Answer>) -> Result<()> {
        let timeout =
            most_ns.map_or(WAIT_MAX, |most_ns| Duration::from_nanos(most_ns).min(WAIT_MAX));
        self.connections
            .wait(timeout, |connection, result| answers.push(Answer { connection, result }))
            .map_err(|error| waiting_failed(&error))
    }

    fn publish(&mut self) -> Result<()> {
        let Some(report) = self.report else { return Ok(()) };
        let report = Request::Execute {
            statement: Statement::Text(report),
            parameters: &[],
            results: false,
        };
        let connections = self.listed.sessions.len();
        for connection in 0..connections {
            self.send(connection, &report)?;
        }
        let (mut answers, mut waited) = (Vec::new(), Duration::ZERO);
        while answers.len() < connections {
            if self.ending.cancel.is_cancelled() {
                return Err(EngineError::Cancelled);
            }
            if waited > PUBLISH_MAX {
                let (late, limit_s) = (self.late, PUBLISH_MAX.as_secs());
                let message = format!("its sessions {late} in {limit_s} s");
                return Err(EngineError::failed("waiting for the server", message));
            }
            let start = Instant::now();
            self.wait(None, &mut answers)?;
            // Time in which everything is stopped (SIGSTOP, a frozen control group) does not count.
            waited += start.elapsed().min(WAIT_MAX);
        }
        answers.into_iter().try_for_each(|answer| answer.result.map(|_| ()))
    }

    fn flush(&mut self, index: u32, _: u32) -> Result<()> {
        // One checkpoint serves all connections.
        let checkpoint = self.ending.checkpoint.as_ref().filter(|_| index == 0);
        checkpoint.map_or(Ok(()), |checkpoint| checkpoint())
    }
}
