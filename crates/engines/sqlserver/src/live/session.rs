//! Sessions that change nothing: opened, asked, and what they were doing when one failed.

use super::answer::ask_with;
use super::client::{Client, Error};
use super::config::Config;
use super::identity::Identity;
use super::views::{self, View};
use engine::server::{AdminOptions, AdminSession, ServerIdentity};
use engine::{Fault, Rows, ServerError, while_doing};
use observations::Unread;
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

/// Rows of a view whose statement ends with `end`; where the server refuses it, `unread` gets the
/// reason why `what` is not known.
pub(crate) fn read_view(
    client: &mut Client,
    what: &str,
    view: &View,
    end: &str,
    unread: &mut Vec<Unread>,
) -> Result<Option<Rows>, ServerError> {
    let answer = ask_with(client, view, end).map_err(while_doing("reading its statistics"))?;
    Ok(answer.map_err(|why| unread.push(Unread { what: what.into(), why: why.to_string() })).ok())
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
        let version = Identity::read(&mut client)?.shown();
        let identity = ServerIdentity {
            address: config.address(),
            database: config.database.clone(),
            product: "SQL Server",
            version,
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
            Error::NoAnswer(_) | Error::Stopped => (None, Fault::Silence),
            Error::Connection(_) | Error::Driver(_) => (None, Fault::Loss),
        };
        Self { what: error.to_string(), advice: error.advice(), code, fault, ..Self::default() }
    }
}
