//! Servers that run already: observed, surveyed and advised on.

use super::Postgres;
use super::survey::{self, rules};
use super::waits::PostgresObserver;
use crate::{LiveObserver, ObserveOptions, Server, ServerError, Servers};
use observations::{Advice, Survey, SurveyedServer, Unread};
use observe::process_title;
use pgclient::{Client, Config};
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
        let config = Config::parse(url).map_err(ServerError::new)?;
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
        &self.0.warnings
    }

    fn observe(&self, options: ObserveOptions) -> Result<Box<dyn LiveObserver>, ServerError> {
        Ok(Box::new(PostgresObserver::start(&self.0, options)?))
    }

    fn survey(&self) -> Result<(SurveyedServer, Vec<Unread>), ServerError> {
        survey::survey(&self.0)
    }
}

/// Says what was being done when the server or the connection failed.
pub(super) fn while_doing(doing: &str) -> impl FnOnce(pgclient::Error) -> ServerError + '_ {
    move |error| ServerError { what: format!("{doing}: {error}"), advice: what_to_do(&error) }
}

/// Whether the process of this session is one of this machine: the connection is local, and the process with its
/// number calls itself a session of this user.
pub(super) fn is_local(client: &Client, user: &str) -> bool {
    let title = client.is_local().then(|| process_title(client.backend_pid())).flatten();
    title.is_some_and(|title| title.starts_with("postgres:") && title.split(' ').any(|word| word == user))
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
