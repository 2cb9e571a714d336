//! A running server reached by URL: chosen by scheme, never changed.

mod admin;
mod by_url;

pub use admin::{AdminOptions, AdminSession, MARK, ServerIdentity};
pub use by_url::{by_url, engine_by_url, names_only_server};

use crate::{Result, ServerError};
use observations::{CounterReadings, ServerActivity, WaitingTask};
use std::fmt;
use std::path::Path;
use work::Stop;

/// The servers of an engine.
pub trait Servers: Sync {
    /// The texts before `://` in their URLs. An empty one: also texts without a scheme, such as
    /// keywords and values, or nothing at all.
    fn url_schemes(&self) -> &'static [&'static str];
    /// Returns true for a connection string of this engine's, though it has no scheme.
    fn is_connection_string(&self, _text: &str) -> bool {
        false
    }
    /// The server that a URL names. Nothing is connected yet.
    ///
    /// # Errors
    /// When the URL is wrong.
    fn by_url(&self, url: &str) -> Result<Box<dyn Server>, ServerError>;
    /// Dumps a database, where that can be made from a URL.
    fn dump(&self) -> Option<Dump> {
        None
    }
    /// Chooses the version on which a copy of a database is measured: that of its source, if it is
    /// installed. `test_server`: the URL of the server to measure on; `None`: a private one.
    ///
    /// # Errors
    /// When a server by URL does not let us in.
    fn copy_version(
        &self,
        _source: &CopySource<'_>,
        _test_server: Option<&str>,
        _stop: &Stop,
    ) -> Result<CopyVersion> {
        Ok(CopyVersion::default())
    }
}

/// The source of a copy of a database.
#[derive(Debug, Clone, Copy)]
pub enum CopySource<'a> {
    /// A server by URL.
    Url(&'a str),
    /// A dump.
    Dump(&'a Path),
}

/// The version on which a copy is measured.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CopyVersion {
    /// The value of `target.version` for a private server; `None`: the default.
    pub setting: Option<String>,
    /// The sentence that states which version is measured instead of the source's.
    pub substitution: Option<String>,
}

/// Writes the database that a URL names to a new file, and changes nothing in it. When the URL is
/// wrong, or the dump fails, makes no progress or is interrupted, nothing is left of the file.
pub type Dump = fn(url: &str, to: &Path, stop: &Stop) -> Result<()>;

/// A server by URL. It is displayed without its password.
pub trait Server: fmt::Display {
    /// The engine's name.
    fn engine(&self) -> &'static str;
    /// Doubts about the URL, one sentence each.
    fn warnings(&self) -> &[String];
    /// Connects, and begins to observe. When the user asks to stop, connecting ends immediately,
    /// and later requests have short timeouts.
    ///
    /// # Errors
    /// When the server refuses, or does not answer in time.
    fn observe(
        &self,
        options: ObserveOptions,
        stop: &Stop,
    ) -> Result<Box<dyn LiveObserver>, ServerError>;
    /// Opens a session for administration.
    ///
    /// # Errors
    /// When the server refuses, or does not answer in time or before the user asks to stop.
    fn session(
        &self,
        options: &AdminOptions<'_>,
        stop: &Stop,
    ) -> Result<Box<dyn AdminSession>, ServerError>;
    /// Reads rows of a table, this many at most, spread over it.
    ///
    /// # Errors
    /// When the server refuses, there is no such table, or this is not done for the engine.
    fn sample(
        &self,
        _table: &str,
        _rows_max: u64,
        _stop: &Stop,
    ) -> Result<crate::sample::Sample, ServerError> {
        Err(ServerError::new(
            "sampling tables is not supported for this engine; export the rows to a Parquet file",
        ))
    }
}

/// Watches all sessions of a server, including those of other clients.
pub trait LiveObserver {
    /// Ends the interval, begins the next one, and returns the activity in it. If the server was
    /// lost, that is the activity until then, and [`ServerActivity::ended`] has the reason.
    ///
    /// # Errors
    /// When the server was lost before anything was seen.
    fn window(&mut self) -> Result<ServerActivity, ServerError>;
    /// Returns true when the server is known to be lost, so that waiting is useless. Asks it
    /// nothing.
    fn is_lost(&self) -> bool;
    /// The tasks that wait now; `None` where the server does not show them, for the reason in
    /// [`ServerActivity::lost`] of the interval before.
    ///
    /// # Errors
    /// When the server fails.
    fn tasks(&mut self) -> Result<Option<Vec<WaitingTask>>, ServerError>;
    /// The server's counters at the beginning and at the end of the interval before;
    /// nothing where it was lost.
    fn readings(&self) -> Vec<CounterReadings>;
}

/// How to observe.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ObserveOptions {
    /// Samples a second.
    pub hz: f64,
    /// Use what the server samples itself, where it does.
    pub use_profile: bool,
    /// Keep the texts of statements.
    pub statements: bool,
    /// Keep the constants in them too, which may be personal data.
    pub literals: bool,
}

impl Default for ObserveOptions {
    fn default() -> Self {
        Self { hz: 100.0, use_profile: true, statements: false, literals: false }
    }
}
