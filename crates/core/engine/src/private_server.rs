//! A private server as studies use it: its login, its programs and copies of it, and how it fails.

use crate::{AdminSession, ConnectionSet, Program, ProgramNames, Result};
use std::path::{Path, PathBuf};
use std::time::Duration;
use work::Cancel;

/// A private server, or a copy of one. Dropping a copy removes it.
pub trait PrivateServer: Node {
    /// The superuser, and the places.
    fn facts(&self) -> PrivateFacts;
    /// Opens a session as superuser in this database; `None`: in the schema in which trials work.
    /// `answer`: the longest time of an answer; `None`: as long as it takes.
    ///
    /// # Errors
    /// When the server refuses, or the trial is asked to stop.
    fn session(
        &self,
        database: Option<&str>,
        answer: Option<Duration>,
        cancel: &Cancel,
    ) -> Result<Box<dyn AdminSession>>;
    /// Variables by which client programs find such a database. `None`: one that must not be there.
    fn environment(&self, database: Option<&str>) -> Vec<(String, Option<String>)>;
    /// Finds a client program of its version.
    ///
    /// # Errors
    /// When there is none, with how to install it.
    fn program(&self, program: ProgramNames) -> Result<Program>;
    /// Makes a server like it in a new folder, which is in one that is marked as ours. Its data
    /// directory is a copy of `from`, completed by `finish`; it is not started.
    ///
    /// # Errors
    /// When the files cannot be copied, or `finish` fails.
    fn copy(
        &self,
        folder: &Path,
        from: Option<&Path>,
        finish: &dyn Fn(&Path) -> Result<()>,
    ) -> Result<Box<dyn PrivateServer>>;
    /// Starts one that has ended, with the settings that were in force and with these, and waits
    /// until it has recovered and accepts connections. A copy has those of its original.
    ///
    /// # Errors
    /// When it does not start, with the end of its log.
    fn start(&self, more: &[(&str, String)], cancel: &Cancel) -> Result<()>;
    /// The last lines of its log.
    fn log_tail(&self, lines: usize) -> String;
    /// Stops a copy, and removes it with its folder.
    ///
    /// # Errors
    /// When something of it remains.
    fn remove(self: Box<Self>) -> Result<()>;
}

/// The superuser of a private server, and its places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrivateFacts {
    /// Name of the superuser.
    pub user: &'static str,
    /// The database in which trials work.
    pub database: &'static str,
    /// The folder of its files, which is marked as ours.
    pub folder: PathBuf,
    /// The data directory in it.
    pub data_directory: PathBuf,
    /// The folder of its log on a volume of its own.
    pub log_directory: Option<PathBuf>,
}

/// A private server as one that fails, and as the load reaches it.
pub trait Node: Send + Sync {
    /// Disturbs it, and returns once that is done. It serves no other trial.
    ///
    /// # Errors
    /// When it does not end.
    fn disturb(&self, by: Disturbance) -> Result<()>;
    /// Keeps it from serving another trial, as what was changed of it stays.
    fn spend(&self);
    /// Opens a connection as those of the load for the calling thread, in the schema of the trial.
    /// The server may take `patience` for the login. `is_relayed`: over the relay of
    /// [`Node::route`].
    ///
    /// # Errors
    /// When the server refuses, or does not answer in time.
    fn connect(&self, is_relayed: bool, patience: Duration) -> Result<Box<dyn ConnectionSet>>;
    /// Returns the sockets between which a relay to it works.
    ///
    /// # Errors
    /// When the folder of the relay's socket cannot be made.
    fn route(&self) -> Result<Route>;
    /// Returns the sockets of a second way over the link of `network.bandwidth`: bytes from `relay`
    /// reach the listener at `server`, and share the bandwidth with the load; `None`: there is no
    /// such link.
    fn route_beside(&self) -> Option<Route>;
}

/// A disturbance of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disturbance {
    /// All its processes are killed (SIGKILL).
    Kill,
    /// All its processes are stopped (SIGSTOP), and never continue.
    Freeze,
    /// It is shut down, so that nothing is left to recover.
    ShutDown,
}

/// The sockets of a relay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// Where the relay listens: only we can enter this folder.
    pub relay: PathBuf,
    /// The socket of the server.
    pub server: PathBuf,
}
