//! Sessions with patience, sessions that observe a server or another session, and advice on failed
//! connections.

use crate::client::{Client, Config, Error};
use engine::{EngineError, Fault, Result, ServerError, while_doing};
use observe::process_title;
use std::time::Duration;
use work::Stop;

/// The time that a server may take to accept a connection, where its URL does not say.
pub const CONNECTING: Duration = Duration::from_secs(10);
/// The time that a connection may be silent before it is checked.
const SILENCE: Duration = Duration::from_secs(30);
/// The time that a server may take to accept a connection for a trial.
const CONNECTING_FOR_TRIAL: Duration = Duration::from_secs(15);

/// Application name of observing connections, which are left out of their reports.
pub const OBSERVER: &str = "steelbench observer";

/// The time that the server may take to say whether a session works.
const ANSWER: Duration = Duration::from_secs(10);

/// Limits how long Steelbench and your server wait for each other after one disappears silently;
/// the systems' defaults are hours. Settings of the URL and the variables take precedence.
pub fn patient(config: Config) -> Config {
    let seconds = SILENCE.as_secs();
    let (idle, interval) = (seconds / 2, seconds / 6);
    config.with_default_patience(CONNECTING_FOR_TRIAL, SILENCE).with_options(&format!(
        "-c tcp_keepalives_idle={idle} -c tcp_keepalives_interval={interval} -c \
         tcp_keepalives_count=3"
    ))
}

/// Reads the URL of a server, with limits of patience where it sets none.
pub fn at_url(url: &str) -> Result<Config, ServerError> {
    let config = Config::parse(url).map_err(ServerError::new)?;
    Ok(config.with_default_patience(CONNECTING, SILENCE))
}

/// Reads the URL of a target, as it is.
pub fn parsed(url: &str) -> Result<Config> {
    Config::parse(url).map_err(|error| EngineError::failed("reading target.url", error.to_string()))
}

/// Opens a session in which a request to stop ends each wait for the server.
pub fn stoppable(config: &Config, stop: &Stop) -> Result<Client, Error> {
    let mut client = Client::connect(&config.clone().with_stop(stop.clone()))?;
    client.set_stop(stop.clone(), Duration::ZERO);
    Ok(client)
}

/// Opens a connection that can change nothing and takes few resources. After a request to stop, it
/// waits for answers for the duration beside it.
pub fn observer(config: &Config, stop: Option<(&Stop, Duration)>) -> Result<Client, ServerError> {
    let mut config = config.clone().with_application_name(OBSERVER);
    config = stop.map_or(config.clone(), |(stop, _)| config.with_stop(stop.clone()));
    let mut client = Client::connect(&config).map_err(while_doing("connecting"))?;
    client.set_answer_timeout(Some(work::silence_max()));
    if let Some((stop, grace)) = stop {
        client.set_stop(stop.clone(), grace);
    }
    let major = client.server_version() / 10_000;
    if major < 14 {
        return Err(ServerError::new(format!(
            "the server is PostgreSQL {major}; observing waits requires version 14 or later"
        )));
    }
    leave_no_statistics(&mut client);
    // The settings of a database or a role may be made for other work than ours.
    let settings = "SET default_transaction_read_only = on; SET statement_timeout = '30s'; SET \
                    lock_timeout = 0; SET idle_session_timeout = 0; SET \
                    idle_in_transaction_session_timeout = 0; SET jit = off; SET \
                    max_parallel_workers_per_gather = 0; SET datestyle = 'ISO'; SET search_path = \
                    pg_catalog";
    client.batch(settings).map_err(while_doing("preparing the connection"))?;
    Ok(client)
}

/// Keeps the statements of this session out of the server's statistics, as superusers may choose.
pub(crate) fn leave_no_statistics(client: &mut Client) {
    let mark = engine::server::MARK;
    let _ = client.batch(&format!("SET /* {mark} */ pg_stat_statements.track = 'none'"));
}

/// Returns true when the process of this session is one of this machine: the connection is local,
/// and the process with its number calls itself a session of this user.
pub fn is_local(client: &Client, user: &str) -> bool {
    let title = client.is_local().then(|| process_title(client.backend_pid())).flatten();
    title.is_some_and(|title| {
        title.starts_with("postgres:") && title.split(' ').any(|word| word == user)
    })
}

/// Asks over a connection of its own whether a session that this condition chooses works: it is
/// active, and waits neither for a lock nor for its client. A server that does not answer is as
/// good as silent.
pub fn is_working(config: &Config, session: &str) -> bool {
    let limit = Some(ANSWER.min(work::silence_max()));
    let config =
        config.clone().with_connect_timeout(limit).with_application_name("steelbench progress");
    let found = Client::connect(&config).and_then(|mut client| {
        client.set_answer_timeout(limit);
        client.cell(&format!(
            "SELECT count(*) FROM pg_catalog.pg_stat_activity WHERE state = 'active' AND \
             wait_event_type IS DISTINCT FROM 'Lock' AND wait_event_type IS DISTINCT FROM \
             'Client' AND {session}"
        ))
    });
    found.is_ok_and(|count| count.is_some_and(|count| count != "0"))
}

impl From<Error> for ServerError {
    fn from(error: Error) -> Self {
        Self {
            what: error.to_string(),
            advice: what_to_do(&error),
            code: error.code().map(str::to_owned),
            fault: match error {
                _ if error.is_stopped() => Fault::Stopped,
                Error::Timeout(_) => Fault::Silence,
                Error::Lost(_) => Fault::Loss,
                _ => Fault::Refusal,
            },
            ..Self::default()
        }
    }
}

/// Advice on a server that does not let us connect.
fn what_to_do(error: &Error) -> Option<&'static str> {
    if let Some(code) = error.code() {
        // Appendix A of PostgreSQL's documentation: error codes.
        return match code {
            "28P01" => Some("Wrong password: set it in PGPASSWORD or ~/.pgpass."),
            "28000" => Some(
                "Login refused for this user or host: check pg_hba.conf, and sslmode in the URL.",
            ),
            "3D000" => Some("The database does not exist. Most servers have one named postgres."),
            "53300" => Some(
                "All connections are in use, and two are needed. A superuser, or a role with \
                 pg_use_reserved_connections (16 and later), can use reserved connections.",
            ),
            "57P03" => {
                Some("The server is starting or stopping: retry when it accepts connections.")
            }
            _ => None,
        };
    }
    match error {
        Error::Attempts(errors) => errors.iter().rev().find_map(what_to_do),
        Error::Connect { .. } => Some(
            "Is the server running? Give its address as a URL \
             (postgres://user@host/database) or in the PG* variables.",
        ),
        Error::Tls { .. } => {
            Some("Check sslmode and sslrootcert in the URL, or PGSSLMODE and PGSSLROOTCERT.")
        }
        _ => None,
    }
}
