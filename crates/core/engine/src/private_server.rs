//! A private server as studies use it: its login, its programs, and copies of it.

use crate::{AdminSession, Program, ProgramNames, Result};
use std::path::{Path, PathBuf};
use work::Cancel;

/// A private server, or a copy of one. Dropping a copy removes it.
pub trait PrivateServer: Send + Sync {
    /// The superuser, and the places.
    fn facts(&self) -> PrivateFacts;
    /// Opens a session as superuser in this database; `None`: the one in which trials work.
    ///
    /// # Errors
    /// When the server refuses, or the trial is asked to stop.
    fn session(&self, database: Option<&str>, cancel: &Cancel) -> Result<Box<dyn AdminSession>>;
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
    /// Starts a copy with the settings of its original and with these, and waits until it accepts
    /// connections.
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
    /// The data directory.
    pub data_directory: PathBuf,
}
