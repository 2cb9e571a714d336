//! The private server of a trial, which the study disturbs, and its replica, in the marked folder
//! of the primary.

use crate::log::Replication;
use engine::{
    AdminSession, ConnectionSet, Disturbance, EngineError, PrivateServer, Result, Route, Rows,
    failed_at,
};
use std::sync::OnceLock;
use std::time::Duration;
use work::Cancel;

/// The folder of a replica, in the marked directory of its primary.
const REPLICA: &str = "replica";
/// The time in which a replica follows, or has applied what it received.
pub const FOLLOWS: Duration = Duration::from_secs(60);
/// The time that an answer may take, and that each step of replication may take.
const ANSWER: Duration = Duration::from_secs(60);
const STEP: Duration = Duration::from_secs(300);

/// A server of a trial, or its replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Node {
    /// The server that the trial began with.
    Primary,
    /// The replica, which may have been promoted.
    Replica,
}

/// A private server and its replica. Dropping it removes the replica.
pub struct Pair<'a> {
    primary: &'a dyn PrivateServer,
    replica: OnceLock<Box<dyn PrivateServer>>,
    /// How its engine replicates.
    pub replication: &'static Replication,
    cancel: &'a Cancel,
}

impl<'a> Pair<'a> {
    /// Returns the pair of a server that has no replica yet.
    pub fn new(
        primary: &'a dyn PrivateServer,
        replication: &'static Replication,
        cancel: &'a Cancel,
    ) -> Self {
        Self { primary, replica: OnceLock::new(), replication, cancel }
    }

    fn server(&self, node: Node) -> Result<&dyn PrivateServer> {
        match node {
            Node::Primary => Ok(self.primary),
            Node::Replica => self.replica.get().map(|replica| &**replica).ok_or_else(|| {
                EngineError::failed("looking for the replica", "the primary has none yet")
            }),
        }
    }

    /// Disturbs the primary, and returns once that is done. It is shut down after its replica, if
    /// there is one, has received all of its log.
    ///
    /// # Errors
    /// When it does not end.
    pub fn disturb(&self, by: Disturbance) -> Result<()> {
        match self.replica.get() {
            Some(replica) if by == Disturbance::ShutDown => {
                (self.replication.hand_over)(self.primary, &**replica, self.cancel)
            }
            _ => self.primary.disturb(by),
        }
    }

    /// Starts the primary, which has ended, and returns once it has recovered and answers.
    ///
    /// # Errors
    /// When it does not start.
    pub fn start(&self) -> Result<()> {
        self.primary.start(&[], self.cancel)
    }

    /// Makes a replica of the primary, starts it, and waits until it follows. `confirms`: commits
    /// on the primary wait for it from then on, as far as the settings of the target say.
    ///
    /// # Errors
    /// When the server refuses replication, or there is a replica already.
    pub fn attach_replica(&self, confirms: bool) -> Result<()> {
        // Its settings change.
        self.primary.spend();
        let folder = self.primary.facts().folder.join(REPLICA);
        // In a folder that is marked as ours. One that was left is empty.
        let _ = std::fs::remove_dir(&folder);
        let replica = (self.replication.replicate)(self.primary, &folder, self.cancel)?;
        if confirms {
            (self.replication.confirm)(self.primary, &*replica, self.cancel)?;
        }
        self.replica
            .set(replica)
            .map_err(|_| EngineError::failed("making a replica", "the server has one already"))
    }

    /// Makes the replica a primary, and returns once it accepts writes.
    ///
    /// # Errors
    /// When it does not.
    pub fn promote(&self) -> Result<()> {
        (self.replication.promote)(self.server(Node::Replica)?, self.cancel)
    }

    /// Opens a connection for the calling thread, in the schema of the trial. The server may take
    /// `patience` for the login. `is_relayed`: over the relay of [`Pair::route`].
    ///
    /// # Errors
    /// When the server refuses, or does not answer in time.
    pub fn connect(
        &self,
        node: Node,
        is_relayed: bool,
        patience: Duration,
    ) -> Result<Box<dyn ConnectionSet>> {
        self.server(node)?.connect(is_relayed, patience)
    }

    /// Runs a statement in a session of its own, in the schema of the trial.
    ///
    /// # Errors
    /// When the server refuses, or does not answer.
    pub fn ask(&self, node: Node, sql: &str) -> Result<Rows> {
        let mut session = self.server(node)?.session(None, Some(ANSWER), self.cancel)?;
        session.query(sql).map_err(failed_at("asking the server"))
    }

    /// Returns the sockets between which a relay to the primary works.
    ///
    /// # Errors
    /// When the folder of the relay's socket cannot be made.
    pub fn route(&self) -> Result<Route> {
        self.primary.route()
    }

    /// Removes the replica.
    ///
    /// # Errors
    /// When something of it remains.
    pub fn end(mut self) -> Result<()> {
        let Some(replica) = self.replica.take() else { return Ok(()) };
        replica.disturb(Disturbance::Kill)?;
        replica.remove()
    }
}

impl Drop for Pair<'_> {
    fn drop(&mut self) {
        if let Some(replica) = self.replica.get() {
            // Without its primary nothing is served; a shutdown would wait for a frozen one.
            let _ = replica.disturb(Disturbance::Kill);
        }
    }
}

/// Opens a session for steps of replication.
///
/// # Errors
/// As [`PrivateServer::session`].
pub fn open_session(server: &dyn PrivateServer, cancel: &Cancel) -> Result<Box<dyn AdminSession>> {
    server.session(None, Some(STEP), cancel)
}
