//! Private servers that are made to fail, and their replicas.

use crate::{Answer, ConnectionSet, EngineError, Result, Results};
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
    fn disturb(&self, node: Node, by: Disturbance) -> Result<()>;
    /// Starts a server that has ended, and returns once it has recovered and answers.
    ///
    /// # Errors
    /// When it does not start.
    fn start(&self, node: Node) -> Result<()>;
    /// Makes a replica of the primary in a folder that is marked as ours, starts it, and waits
    /// until it follows. `confirms`: commits on the primary wait for it from then on, as far as the
    /// settings of the target say.
    ///
    /// # Errors
    /// When the server refuses replication, or there is a replica already.
    fn attach_replica(&self, confirms: bool) -> Result<()>;
    /// Makes the replica a primary, and returns once it accepts writes.
    ///
    /// # Errors
    /// When it does not.
    fn promote(&self) -> Result<()>;
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
    ) -> Result<Box<dyn ConnectionSet>>;
    /// Runs a query in a session of its own; all its rows are kept.
    ///
    /// # Errors
    /// When the server refuses, or does not answer.
    fn ask(&self, node: Node, sql: &str) -> Result<Results>;
    /// Returns the sockets between which a relay to a server works.
    ///
    /// # Errors
    /// When the folder of the relay's socket cannot be made.
    fn route(&self, node: Node) -> Result<Route>;
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
    pub fn run(&mut self, sql: &str, limit: Duration) -> Result<Option<Row>> {
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
    pub fn number(&mut self, sql: &str, limit: Duration) -> Result<f64> {
        let row = self.run(sql, limit)?;
        let value = row.as_ref().and_then(|row| row.first()?.as_deref()?.parse().ok());
        value.ok_or_else(|| {
            EngineError::failed(sql, if row.is_some() { "no number" } else { "no answer" })
        })
    }
}

/// The values of a row as text; empty where there is none.
pub type Row = Vec<Option<String>>;
