//! Private servers that are made to fail, and their replicas.

use crate::{Answer, ConnectionSet, EngineError, Results};
use experiment::{Configuration, Invalid};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use work::{Request, Statement};

/// A server of a target, or its replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Node {
    /// The server that the trial began with.
    Primary,
    /// The replica, which may have been promoted.
    Replica,
}

/// A disturbance of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disturbance {
    /// All its processes are killed (SIGKILL).
    Kill,
    /// All its processes are stopped (SIGSTOP), and never continue.
    Freeze,
    /// It is shut down after its replica has received all of its log.
    ShutDown,
}

/// The private server of a target, which a study may disturb, and its replica. A disturbed server
/// serves no other trial.
pub trait Nodes: Sync {
    /// Disturbs a server, and returns once that is done.
    ///
    /// # Errors
    /// When it does not end.
    fn disturb(&self, node: Node, by: Disturbance) -> Result<(), EngineError>;
    /// Starts a server that has ended, and returns once it has recovered and answers.
    ///
    /// # Errors
    /// When it does not start.
    fn start(&self, node: Node) -> Result<(), EngineError>;
    /// Makes a replica of the primary in a folder that is marked as ours, starts it, and waits
    /// until it follows. `confirms`: commits on the primary wait for it from then on, as far as the
    /// settings of the target say.
    ///
    /// # Errors
    /// When the server refuses replication, or there is a replica already.
    fn attach_replica(&self, confirms: bool) -> Result<(), EngineError>;
    /// Makes the replica a primary, and returns once it accepts writes.
    ///
    /// # Errors
    /// When it does not.
    fn promote(&self) -> Result<(), EngineError>;
    /// Opens a session for the calling thread, in the schema of the trial. The server may take
    /// `patience` for the login. `is_relayed`: over the relay of [`Nodes::route`].
    ///
    /// # Errors
    /// When the server refuses, or does not answer in time.
    fn session(
        &self,
        node: Node,
        is_relayed: bool,
        patience: Duration,
    ) -> Result<Box<dyn ConnectionSet>, EngineError>;
    /// Runs a query in a session of its own; all its rows are kept.
    ///
    /// # Errors
    /// When the server refuses, or does not answer.
    fn ask(&self, node: Node, sql: &str) -> Result<Results, EngineError>;
    /// Returns the sockets between which a relay to a server works.
    ///
    /// # Errors
    /// When the folder of the relay's socket cannot be made.
    fn route(&self, node: Node) -> Result<Route, EngineError>;
    /// Returns the sockets of a second way over the link of `network.bandwidth`: bytes from `relay`
    /// reach the listener at `server`, and share the bandwidth with the load; `None`: there is no
    /// such link.
    fn route_beside(&self) -> Option<Route>;
}

/// The sockets of a relay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// Where the relay listens: only we can enter this folder.
    pub relay: PathBuf,
    /// The socket of the server.
    pub server: PathBuf,
}

/// A query for a position in a log.
#[derive(Debug, Clone, Copy)]
pub struct Position {
    /// The query, which returns one row.
    pub sql: &'static str,
    /// Column with the bytes.
    pub bytes: usize,
    /// Column with the name of the file in which they count; `None`: they count over all files.
    pub file: Option<usize>,
}

/// A position in a log.
#[derive(Debug, Clone, PartialEq)]
pub struct LogPosition {
    /// Bytes from the beginning of the file, or of the log.
    pub bytes: f64,
    /// The file in which they count.
    pub file: Option<String>,
}

/// Texts with which an engine's log and its replication are read. Queries return one value.
#[derive(Debug, Clone, Copy)]
pub struct Replication {
    /// Replicas can be made ([`Nodes::attach_replica`]).
    pub replicates: bool,
    /// End of the log that the primary has written; `None`: positions of the two servers do not
    /// compare.
    pub written: Option<Position>,
    /// Position of the primary's log up to which the replica has applied it.
    pub applied: Option<Position>,
    /// Bytes of log since the last checkpoint, from which a recovery begins.
    pub since_checkpoint: &'static str,
    /// Settings that [`Nodes::attach_replica`] decides.
    pub own_settings: &'static [&'static str],
    /// The setting that names a server by URL.
    pub url: &'static str,
    /// The beginning of the paths of the server's own settings.
    pub settings: &'static str,
}

impl Replication {
    /// Objections of a study that makes a replica: to a server by URL, for the reason `why`, and to
    /// settings that it decides itself.
    pub fn objections(&self, configuration: &Configuration, why: &str) -> Vec<Invalid> {
        let by_url = configuration.value(self.url).is_some();
        let name = configuration.below(self.settings).map(|(name, _)| name);
        let objection = name.filter(|name| self.own_settings.contains(name)).map(|name| {
            let message = "the study sets this itself; for commits that wait for the replica use \
                           workload.synchronous";
            Invalid::new(format!("{}{name}", self.settings), message)
        });
        let why = format!("{why}; remove {}", self.url);
        by_url.then(|| Invalid::new(self.url, why)).into_iter().chain(objection).collect()
    }
}

/// A session of the calling thread that runs one statement after the other.
pub struct NodeSession(Box<dyn ConnectionSet>);

impl NodeSession {
    /// Takes the only connection of a set.
    pub fn new(set: Box<dyn ConnectionSet>) -> Self {
        Self(set)
    }

    /// Runs a statement. Returns the last row of its last result; `None`: no answer came in this
    /// time, and the session cannot be used on.
    ///
    /// # Errors
    /// When the server refuses, or the connection is lost.
    pub fn run(&mut self, sql: &str, limit: Duration) -> Result<Option<Row>, EngineError> {
        let statement = Statement::Text(sql);
        self.0.send(0, &Request::Execute { statement, parameters: &[], results: true })?;
        let started = Instant::now();
        let mut answers = Vec::<Answer>::new();
        while answers.is_empty() {
            let rest = limit.saturating_sub(started.elapsed());
            if rest.is_zero() {
                return Ok(None);
            }
            self.0.wait(Some(rest.as_nanos() as u64), &mut answers)?;
        }
        let mut results = answers.remove(0).result?.results;
        Ok(Some(results.pop().map(|result| result.last).unwrap_or_default()))
    }

    /// The first value of a query as a number.
    ///
    /// # Errors
    /// When the server refuses, does not answer in this time, or answers with another value.
    pub fn number(&mut self, sql: &str, limit: Duration) -> Result<f64, EngineError> {
        let row = self.run(sql, limit)?;
        let value = row.as_ref().and_then(|row| row.first()?.as_deref()?.parse().ok());
        value.ok_or_else(|| {
            EngineError::failed(sql, if row.is_some() { "no number" } else { "no answer" })
        })
    }

    /// Reads a position in a log.
    ///
    /// # Errors
    /// As [`NodeSession::number`].
    pub fn position(&mut self, of: &Position, limit: Duration) -> Result<LogPosition, EngineError> {
        let row = self.run(of.sql, limit)?;
        let row = row.ok_or_else(|| EngineError::failed(of.sql, "no answer"))?;
        let cell = |column: usize| row.get(column)?.clone();
        let bytes = cell(of.bytes).and_then(|cell| cell.parse().ok());
        let bytes = bytes.ok_or_else(|| EngineError::failed(of.sql, "no position"))?;
        Ok(LogPosition { bytes, file: of.file.and_then(cell) })
    }
}

/// The values of a row as text; empty where there is none.
pub type Row = Vec<Option<String>>;
