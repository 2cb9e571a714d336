//! Sessions on a server that may fail.

use engine::{Answer, ConnectionSet, EngineError, Result};
use std::time::{Duration, Instant};
use work::{Request, Statement};

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
