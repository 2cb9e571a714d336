//! Servers that run already: reached by Microsoft's driver, changed in nothing.
//!
//! - `config`: how to reach one; `client`: a connection; `rows`: what it answers
//! - [`views`]: every statement that Steelbench runs on a server
//! - `reading`: counters and their differences, `delta` those of waits; `sampler`, `samples`: what
//!   sessions do; `tasks`: who waits for whom
//! - `queries`: statements, plans and indexes, for `steelbench queries`
//! - `observer`: all that together, for `steelbench waits`; `survey`: what a server is and how it
//!   is set

pub(super) mod client;
pub(super) mod config;
pub(super) mod delta;
mod observer;
mod queries;
pub(super) mod reading;
pub(super) mod rows;
pub(super) mod sampler;
pub(super) mod samples;
mod survey;
mod tasks;
pub mod views;

pub use config::Config;
pub use queries::views as query_views;

use client::{Client, Error, OURS};
use engine::{LiveObserver, ObserveOptions, QueryLimits, QueryReader, Server, ServerError};
use observations::{SurveyedServer, Unread};
use observer::SqlServerObserver;
use reading::ask_with;
use rows::Rows;
use std::time::Duration;
use views::View;
use work::Stop;

/// Timeout for reading the last window after the user asked to stop.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// `EngineEdition` of Azure SQL Database.
pub(super) const AZURE_DATABASE: i32 = 5;

impl Server for Config {
    fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn observe(
        &self,
        options: ObserveOptions,
        stop: &Stop,
    ) -> Result<Box<dyn LiveObserver>, ServerError> {
        Ok(Box::new(SqlServerObserver::start(self, options, stop)?))
    }

    fn survey(&self, stop: &Stop) -> Result<(SurveyedServer, Vec<Unread>), ServerError> {
        survey::survey(self, stop)
    }

    fn queries(
        &self,
        limits: QueryLimits,
        stop: &Stop,
    ) -> Result<Box<dyn QueryReader>, ServerError> {
        Ok(Box::new(queries::Reader::start(self, limits, stop)?))
    }
}

/// Identity of a server.
#[derive(Debug, Clone, Default)]
pub(super) struct Identity {
    version: String,
    edition: String,
    engine_edition: Option<i32>,
}

impl Identity {
    pub fn read(client: &mut Client) -> Result<Self, ServerError> {
        let rows = client.query(views::IDENTITY.sql).map_err(while_doing("reading its version"))?;
        let row = rows
            .first()
            .ok_or_else(|| ServerError::new("the server does not report its version"))?;
        // The lines below are the build's date, copyright and operating system.
        let version = row.text("version").lines().next().unwrap_or_default().trim().to_owned();
        Ok(Self {
            version,
            edition: row.text("edition"),
            engine_edition: row.parse("engine_edition"),
        })
    }

    /// `Microsoft SQL Server 2022 (RTM-CU14) (KB5038325) - 16.0.4135.4 (X64), Developer Edition
    /// (64-bit)`.
    pub fn shown(&self) -> String {
        let Self { version, edition, .. } = self;
        if edition.is_empty() { version.clone() } else { format!("{version}, {edition}") }
    }

    /// The view of its waits.
    fn waits(&self) -> &'static View {
        if self.is_azure_database() { &views::DATABASE_WAITS } else { &views::WAITS }
    }

    fn is_azure_database(&self) -> bool {
        self.engine_edition == Some(AZURE_DATABASE)
    }
}

/// The server's trace flags; a server without any answers with no result.
pub(super) fn trace_flags(client: &mut Client) -> Result<String, Error> {
    let flags = match client.query(views::TRACE_FLAGS) {
        Ok(rows) => rows.iter().map(|row| row.text("TraceFlag")).collect::<Vec<_>>().join(", "),
        Err(Error::Server { number: OURS, .. }) => String::new(),
        Err(error) => return Err(error),
    };
    Ok(if flags.is_empty() { "none".into() } else { flags })
}

/// Connects to look and change nothing.
fn observing(config: &Config, stop: &Stop, linger: Duration) -> Result<Client, ServerError> {
    let mut client = Client::connect(config, stop, linger).map_err(while_doing("connecting"))?;
    client.query(views::SESSION).map_err(while_doing("preparing the connection"))?;
    Ok(client)
}

/// Rows of a view whose statement ends with `end`; where the server refuses it, `unread` gets the
/// reason why `what` is not known.
fn asked(
    client: &mut Client,
    what: &str,
    view: &View,
    end: &str,
    unread: &mut Vec<Unread>,
) -> Result<Option<Rows>, ServerError> {
    let answer = ask_with(client, view, end).map_err(while_doing("reading its statistics"))?;
    Ok(answer.map_err(|why| unread.push(Unread { what: what.into(), why: why.to_string() })).ok())
}

/// Says what was being done when the server or the connection failed.
fn while_doing(doing: &str) -> impl FnOnce(Error) -> ServerError + '_ {
    move |error| ServerError { what: format!("{doing}: {error}"), advice: error.advice() }
}
