//! The connection of administration: it holds our schema.

use super::guard::until_cancelled;
use super::{failure, schema};
use crate::{Cancel, EngineError};
use pgclient::{Client, Config};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Between two attempts to connect to a server that is recovering.
const TRY_EVERY: Duration = Duration::from_millis(50);

/// How long a server may take to stop what it does when it is asked to.
const STOPPING: Duration = Duration::from_secs(10);

/// How long a server may take to recover from a crash before we give up what is on it.
const RECOVERY: Duration = Duration::from_secs(30);

/// The server is starting, stopping or recovering (`cannot_connect_now`).
const CANNOT_CONNECT_NOW: &str = "57P03";

/// Connects, also to a server that is starting or recovering from a crash.
fn connect(config: &Config, cancel: &Cancel) -> Result<Client, EngineError> {
    let started = Instant::now();
    loop {
        match Client::connect(config) {
            Err(error) if error.code() == Some(CANNOT_CONNECT_NOW) && started.elapsed() < RECOVERY => {
                if cancel.is_cancelled() {
                    return Err(EngineError::Cancelled);
                }
                std::thread::sleep(TRY_EVERY);
            }
            connected => return connected.map_err(|error| failure::of_client("connecting", &error)),
        }
    }
}

/// A connection whose requests end when the trial is asked to stop, also when the server does not
/// answer any more.
pub struct Admin {
    config: Config,
    client: Mutex<Client>,
    cancel: Cancel,
}

impl Admin {
    /// Connects, and takes our schema for the life of the connection.
    pub fn take_schema(config: &Config, cancel: &Cancel) -> Result<Self, EngineError> {
        let config = config.clone().with_application_name("steelbench");
        let client = connect(&config, cancel)?;
        let admin = Self { config, client: Mutex::new(client), cancel: cancel.clone() };
        admin.ask(|client| schema::take(client, cancel))?;
        Ok(admin)
    }

    /// Connects anew, to a server that may have a new place and may be recovering, and takes our
    /// schema as it is.
    pub fn reconnect(&self, config: Option<Config>) -> Result<(), EngineError> {
        let config = config.unwrap_or_else(|| self.config.clone()).with_application_name("steelbench");
        let mut client = connect(&config, &Cancel::new())?;
        // Also after the trial was asked to stop: that is when we clean up.
        schema::take_again(&mut client, &Cancel::new())?;
        *self.client() = client;
        Ok(())
    }

    fn client(&self) -> MutexGuard<'_, Client> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does some work with the connection. When the trial is asked to stop, the server is, too; when
    /// it does not, the connection is cut.
    pub fn ask<T>(&self, work: impl FnOnce(&mut Client) -> Result<T, EngineError>) -> Result<T, EngineError> {
        if self.cancel.is_cancelled() {
            return Err(EngineError::Cancelled);
        }
        let mut client = self.client();
        let canceller = client.canceller();
        let disconnector = client.disconnector().map_err(|error| failure::of_client("connecting", &error))?;
        let stop = move |goes_on_for: &dyn Fn(Duration) -> bool| {
            // A server that cannot be asked does not answer the work either.
            let _ = canceller.cancel();
            if goes_on_for(STOPPING) {
                disconnector.disconnect();
            }
        };
        let result = until_cancelled(&self.cancel, stop, || work(&mut client));
        result.map_err(|error| if self.cancel.is_cancelled() { EngineError::Cancelled } else { error })
    }

    /// Runs statements.
    pub fn run(&self, doing: &str, sql: &str) -> Result<(), EngineError> {
        self.ask(|client| client.batch(sql).map_err(|error| failure::of_client(doing, &error)))
    }

    /// The first cell of a query's answer; empty when there is none.
    pub fn cell(&self, sql: &str) -> Result<String, EngineError> {
        let rows =
            self.ask(|client| client.query(sql, &[]).map_err(|error| failure::of_client(sql, &error)))?;
        Ok(rows.first().and_then(|row| row.get(0)).unwrap_or_default().to_owned())
    }

    /// Cleans up, also when the trial was asked to stop: then a server that is silent for long has
    /// little time.
    pub fn part<T>(
        &self,
        work: impl FnOnce(&mut Client) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let patience = if self.cancel.is_cancelled() { STOPPING } else { Duration::from_secs(300) };
        let mut client = self.client();
        let set = client.set_read_timeout(Some(patience));
        set.map_err(|error| failure::of_client("cleaning up", &error))?;
        work(&mut client)
    }
}
