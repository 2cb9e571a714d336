//! Private servers that are made to fail, and their replicas.

use crate::{ConnectionSet, Result, Results};
use std::path::PathBuf;
use std::time::Duration;

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
