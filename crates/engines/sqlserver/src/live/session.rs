//! Sessions that change nothing: opened, asked, and what they were doing when one failed.

use super::client::{Client, Error};
use super::config::Config;
use super::identity::Identity;
use super::views;
use crate::WAIT_TYPES;
use engine::server::{AdminOptions, AdminSession, ServerIdentity};
use engine::{Fault, Rows, ServerError, while_doing};
use std::time::Duration;
use work::Stop;

/// Timeout for reading the last window after the user asked to stop.
pub const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// Connects to look and change nothing.
pub fn observing(config: &Config, stop: &Stop, linger: Duration) -> Result<Client, ServerError> {
    let mut client = Client::connect(config, stop, linger).map_err(while_doing("connecting"))?;
    client.query(views::SESSION).map_err(while_doing("preparing the connection"))?;
    Ok(client)
}

/// A session for administration.
pub(super) struct Session {
    client: Client,
    identity: ServerIdentity,
}

impl Session {
    /// Connects, and reads which server it is.
    pub fn open(
        config: &Config,
        options: &AdminOptions<'_>,
        stop: &Stop,
    ) -> Result<Self, ServerError> {
        let mut client = observing(config, stop, options.grace)?;
        let server = Identity::read(&mut client)?;
        let identity = ServerIdentity {
            address: config.address(),
            database: config.database.clone(),
            product: if server.is_azure_database() { "Azure SQL Database" } else { "SQL Server" },
            version: server.shown(),
            wait_types: WAIT_TYPES,
        };
        Ok(Self { client, identity })
    }
}

impl AdminSession for Session {
    fn server(&self) -> &ServerIdentity {
        &self.identity
    }

    fn local_process(&mut self) -> Option<i32> {
        None
    }

    fn limit(&mut self, time: Duration) -> Result<(), ServerError> {
        self.client.set_patience(time);
        Ok(())
    }

    fn query(&mut self, sql: &str) -> Result<Rows, ServerError> {
        Ok(self.client.query(sql)?)
    }

    fn run(&mut self, sql: &str) -> Result<Rows, ServerError> {
        self.client.run(sql)?;
        Ok(Rows::default())
    }
}

impl From<Error> for ServerError {
    fn from(error: Error) -> Self {
        let (code, fault) = match &error {
            Error::Server { number, .. } => (Some(number.to_string()), Fault::Refusal),
            Error::NoAnswer(_) => (None, Fault::Silence),
            Error::Stopped => (None, Fault::Stopped),
            Error::Connection(_) | Error::Driver(_) => (None, Fault::Loss),
        };
        Self { what: error.to_string(), advice: error.advice(), code, fault, ..Self::default() }
    }
}
