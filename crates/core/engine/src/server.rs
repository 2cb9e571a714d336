//! A running server reached by URL: chosen by scheme, never changed.

use crate::query_reader::{QueryLimits, QueryReader};
use crate::{Engine, EngineError};
use observations::{
    Advice, CounterReadings, ServerActivity, Survey, SurveyedServer, Unread, WaitingTask,
};
use std::fmt;
use std::path::Path;
use work::Stop;

/// The servers of an engine.
pub trait Servers: Sync {
    /// The engine's name.
    fn engine(&self) -> &'static str;
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
    /// Advice on a server, and on the machine that it runs on.
    fn advice(&self, server: &SurveyedServer, survey: &Survey) -> Vec<Advice>;
    /// Dumps of its databases, where they can be made from a URL.
    fn dumps(&self) -> Option<&dyn Dumps> {
        None
    }
}

/// Dumps of databases by URL.
pub trait Dumps {
    /// Writes the database that a URL names to a new file, and changes nothing in it.
    ///
    /// # Errors
    /// When the URL is wrong, or the dump fails, makes no progress or is interrupted:
    /// nothing is left of the file then.
    fn dump(&self, url: &str, to: &Path, stop: &Stop) -> Result<(), EngineError>;
}

/// A server by URL. It is displayed without its password.
pub trait Server: fmt::Display {
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
    /// Reads what the server is and how it is set, and which items could not be read.
    ///
    /// # Errors
    /// When the server cannot be reached, refuses, or does not answer in time or before the user
    /// asks to stop.
    fn survey(&self, stop: &Stop) -> Result<(SurveyedServer, Vec<Unread>), ServerError>;
    /// Connects, to read the statistics of statements, tables and indexes.
    ///
    /// # Errors
    /// When the server refuses or does not answer in time, or this is not done for the engine.
    fn queries(
        &self,
        _limits: QueryLimits,
        _stop: &Stop,
    ) -> Result<Box<dyn QueryReader>, ServerError> {
        Err(ServerError::new(
            "reading statements is not supported for this engine; supported: PostgreSQL, MariaDB \
             and SQL Server",
        ))
    }
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

/// Why a server cannot be named, observed or surveyed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct ServerError {
    /// The error, in the words of the engine.
    pub what: String,
    /// Advice on it, where there is any.
    pub advice: Option<&'static str>,
}

impl ServerError {
    /// Without advice.
    pub fn new(what: impl fmt::Display) -> Self {
        Self { what: what.to_string(), advice: None }
    }
}

/// The server that a URL names, of the engine that has its scheme.
///
/// # Errors
/// When these engines do not have the scheme, or the URL is wrong.
pub fn by_url(engines: &[&dyn Engine], url: &str) -> Result<Box<dyn Server>, ServerError> {
    let (_, servers) = find(engines, url)?;
    servers.by_url(url)
}

/// The engine whose server a URL or a connection string names; of a text without a scheme, the
/// engine that takes such texts.
///
/// # Errors
/// When these engines do not have the scheme.
pub fn engine_by_url<'e>(
    engines: &[&'e dyn Engine],
    url: &str,
) -> Result<&'e dyn Engine, ServerError> {
    find(engines, url).map(|(engine, _)| engine)
}

fn find<'e>(
    engines: &[&'e dyn Engine],
    url: &str,
) -> Result<(&'e dyn Engine, &'e dyn Servers), ServerError> {
    let scheme = scheme(url);
    let all = || engines.iter().filter_map(|engine| Some((*engine, engine.servers()?)));
    let found = all()
        .find(|(_, servers)| servers.is_connection_string(url))
        .or_else(|| all().find(|(_, servers)| servers.url_schemes().contains(&scheme)));
    found.ok_or_else(|| {
        let known: Vec<String> = all()
            .flat_map(|(_, servers)| servers.url_schemes())
            .filter(|known| !known.is_empty())
            .map(|known| format!("{known}://"))
            .collect();
        let known = known.join(", ");
        ServerError::new(format!("unknown URL scheme {scheme}://; expected one of {known}"))
    })
}

/// The text before `://`, empty if it is not a scheme.
fn scheme(url: &str) -> &str {
    let scheme = url.split_once("://").map(|(scheme, _)| scheme);
    scheme
        .filter(|scheme| {
            scheme.chars().all(|sign| sign.is_ascii_alphanumeric() || "+.-".contains(sign))
        })
        .unwrap_or_default()
}

fn servers<'e>(engines: &'e [&'e dyn Engine]) -> impl Iterator<Item = &'e dyn Servers> {
    engines.iter().filter_map(|engine| engine.servers())
}

impl From<ServerError> for EngineError {
    fn from(error: ServerError) -> Self {
        Self::failed("observing the server's waits", error.what)
    }
}

/// The advice of the engines of the surveyed servers.
pub fn advice(engines: &[&dyn Engine], survey: &Survey) -> Vec<Advice> {
    survey
        .servers
        .iter()
        .filter_map(|server| {
            let engine = servers(engines).find(|engine| engine.engine() == server.engine)?;
            Some(engine.advice(server, survey))
        })
        .flatten()
        .collect()
}
