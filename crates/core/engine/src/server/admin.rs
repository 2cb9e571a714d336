//! Sessions for administration, in which tools ask servers about themselves.

use crate::{Rows, ServerError, WaitType};
use std::time::Duration;

/// Part of each statement that Steelbench runs to examine a server's statements, to leave these out
/// of the server's statistics.
pub const MARK: &str = "steelbench_queries";

/// How a session for administration is opened.
#[derive(Debug, Clone, Copy, Default)]
pub struct AdminOptions<'a> {
    /// The name by which the server lists the session, where sessions have names.
    pub application: &'a str,
    /// The database, where the server keeps sessions of databases apart; `None`: that of the URL.
    pub database: Option<&'a str>,
    /// The time that answers may take after a request to stop.
    pub grace: Duration,
}

/// Identity of a server, known from the login.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerIdentity {
    /// Where it was reached, without user and password.
    pub address: String,
    /// The database of the session.
    pub database: String,
    /// The product, where an engine has several.
    pub product: &'static str,
    /// Product and version: `PostgreSQL 15.18`.
    pub version: String,
    /// The wait types of its engine.
    pub wait_types: &'static [WaitType],
}

/// A session for administration, which changes nothing by itself. The request to stop with which it
/// was opened ends each wait for an answer. After an error for which [`ServerError::is_silence`] is
/// true, the session is of no use any more.
pub trait AdminSession {
    /// The server.
    fn server(&self) -> &ServerIdentity;
    /// The process on this machine that serves the session; `None` where the server runs elsewhere,
    /// or that is not known.
    fn local_process(&mut self) -> Option<i32>;
    /// Limits the time that the server may work on each later statement.
    ///
    /// # Errors
    /// When the server refuses, or does not answer.
    fn limit(&mut self, time: Duration) -> Result<(), ServerError>;
    /// Runs one statement.
    ///
    /// # Errors
    /// When the server refuses it, or does not answer in time or before the user asks to stop.
    fn query(&mut self, sql: &str) -> Result<Rows, ServerError>;
    /// Runs statements that return nothing, or one as it is, whatever it contains.
    ///
    /// # Errors
    /// As [`AdminSession::query`].
    fn run(&mut self, sql: &str) -> Result<Rows, ServerError>;
    /// Has the server parse one statement, and returns the name by which `EXECUTE` knows it.
    ///
    /// # Errors
    /// As [`AdminSession::query`]; when the text is more than one statement, or the server keeps
    /// none by name.
    fn prepare(&mut self, _sql: &str) -> Result<String, ServerError> {
        Err(ServerError::new("statements have no names"))
    }
}

impl dyn AdminSession + '_ {
    /// The first value of a query's first row; `None` for NULL, and where there is no row.
    ///
    /// # Errors
    /// As [`AdminSession::query`].
    pub fn cell(&mut self, sql: &str) -> Result<Option<String>, ServerError> {
        Ok(self.query(sql)?.cell().map(str::to_owned))
    }
}
