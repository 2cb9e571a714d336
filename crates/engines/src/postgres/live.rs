//! Servers that run already: observed, surveyed and advised on.

use super::Postgres;
use super::survey::{self, rules};
use super::waits::PostgresObserver;
use crate::{EngineError, LiveObserver, ObserveOptions, Server, ServerError, Servers};
use observations::{Advice, Survey, SurveyedServer, Unread};
use pgclient::Config;
use std::fmt;
use std::time::Duration;

/// How long a server may take to accept a connection, where its URL does not say.
const CONNECTING: Duration = Duration::from_secs(10);
/// How long a connection may be silent before it is checked.
const SILENCE: Duration = Duration::from_secs(30);

impl Servers for Postgres {
    fn url_schemes(&self) -> &'static [&'static str] {
        &["postgres", "postgresql", ""]
    }

    fn by_url(&self, url: &str) -> Result<Box<dyn Server>, ServerError> {
        let config =
            Config::parse(url).map_err(|error| ServerError { what: error.to_string(), advice: None })?;
        Ok(Box::new(PostgresServer(config.with_default_patience(CONNECTING, SILENCE))))
    }

    fn advice(&self, server: &SurveyedServer, survey: &Survey) -> Vec<Advice> {
        rules::advice(server, survey)
    }
}

struct PostgresServer(Config);

impl fmt::Display for PostgresServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Server for PostgresServer {
    fn warnings(&self) -> &[String] {
        self.0.warnings()
    }

    fn observe(&self, options: ObserveOptions) -> Result<Box<dyn LiveObserver>, ServerError> {
        Ok(Box::new(PostgresObserver::start(&self.0, options)?))
    }

    fn survey(&self) -> Result<(SurveyedServer, Vec<Unread>), ServerError> {
        Ok(survey::survey(&self.0)?)
    }
}

/// Why a server could not be observed or surveyed.
#[derive(Debug, thiserror::Error)]
pub enum ObserveError {
    /// The server refused, or the connection failed.
    #[error("{doing}: {source}")]
    Server {
        /// What was being done.
        doing: &'static str,
        /// The cause.
        #[source]
        source: pgclient::Error,
    },
    /// The server's views do not have yet what we ask for.
    #[error("the server is PostgreSQL {major}; waits can be observed from version 14 on")]
    TooOld {
        /// Its major version.
        major: u32,
    },
    /// The server's counters cannot be subtracted.
    #[error(
        "the statistics of {view} were reset while they were watched; measure again, and keep others from \
         calling pg_stat_reset meanwhile"
    )]
    Reset {
        /// The view.
        view: String,
    },
    /// The thread that samples is gone.
    #[error("the thread that samples waits has ended")]
    Ended,
    /// No thread could be started.
    #[error("cannot start a thread that samples waits: {0}")]
    Thread(#[from] std::io::Error),
}

impl From<ObserveError> for EngineError {
    fn from(error: ObserveError) -> Self {
        Self::Engine { doing: "observing the server's waits".to_owned(), message: error.to_string() }
    }
}

impl From<ObserveError> for ServerError {
    fn from(error: ObserveError) -> Self {
        let advice = match &error {
            ObserveError::Server { source, .. } => what_to_do(source),
            _ => None,
        };
        Self { what: error.to_string(), advice }
    }
}

/// Says what was being done when the server or the connection failed.
pub(super) fn while_doing(doing: &'static str) -> impl FnOnce(pgclient::Error) -> ObserveError {
    move |source| ObserveError::Server { doing, source }
}

/// What to do about a server that does not let us connect.
fn what_to_do(error: &pgclient::Error) -> Option<&'static str> {
    if let Some(code) = error.code() {
        // Appendix A of PostgreSQL's documentation: error codes.
        return match code {
            "28P01" => Some("The password is wrong: give it in PGPASSWORD or ~/.pgpass."),
            "28000" => Some(
                "The server does not admit this user from here: see pg_hba.conf, and sslmode in the URL.",
            ),
            "3D000" => Some("Name a database that exists. Most servers have one that is named postgres."),
            "53300" => Some(
                "All connections are taken. Two are needed: a role with pg_use_reserved_connections (16 and later) or a \
                 superuser may use the reserved ones.",
            ),
            "57P03" => Some("The server is starting or stopping: try again when it accepts connections."),
            _ => None,
        };
    }
    match error {
        pgclient::Error::Attempts(errors) => errors.iter().rev().find_map(what_to_do),
        pgclient::Error::Connect { .. } => Some(
            "Is the server running there? Name it by URL (postgres://user@host:port/database) or PG* variables.",
        ),
        pgclient::Error::Tls { .. } => {
            Some("See sslmode and sslrootcert in the URL, or PGSSLMODE and PGSSLROOTCERT.")
        }
        _ => None,
    }
}
