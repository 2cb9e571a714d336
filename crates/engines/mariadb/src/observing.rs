//! Servers by URL, and the connections that observe one and change nothing.

use super::errors::what_to_do;
use crate::client::{Client, Config, Error};
use engine::{Fault, ServerError, while_doing};
use std::time::Duration;
use work::Stop;

/// The time that a server may take to accept a connection, where its URL does not say.
pub const CONNECTING: Duration = Duration::from_secs(10);

/// The default database of sessions that observe. The server counts statements by it: those with
/// this one are ours.
pub const OBSERVED_FROM: &str = "information_schema";

/// Opens a connection that changes nothing. The settings of a server may be made for other work
/// than ours.
pub fn connect_to_observe(config: &Config, stop: &Stop) -> Result<Client, ServerError> {
    let mut client = Client::connect_until(config, stop).map_err(while_doing("connecting"))?;
    client.set_answer_timeout(Some(work::silence_max()));
    client
        .run(&format!(
            "USE {OBSERVED_FROM}; SET SESSION TRANSACTION READ ONLY; SET SESSION \
             lock_wait_timeout = 30"
        ))
        .map_err(while_doing("preparing the connection"))?;
    Ok(client)
}

/// Returns the product of the server.
pub fn product(client: &Client) -> &'static str {
    if client.is_mariadb() { "MariaDB" } else { "MySQL" }
}

impl From<Error> for ServerError {
    fn from(error: Error) -> Self {
        Self {
            what: error.to_string(),
            advice: what_to_do(&error),
            code: error.code().map(|code| code.to_string()),
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
