//! Sessions for administration.

use crate::client::{Client, Config};
use crate::load::statement_limit;
use crate::observing::{OBSERVED_FROM, connect_to_observe, product};
use crate::waits::{WAIT_TYPES, local_process};
use engine::server::{AdminOptions, AdminSession, MARK, ServerIdentity};
use engine::{Rows, ServerError};
use std::time::Duration;
use work::Stop;

/// A session, and what the login tells of its server.
pub struct Session {
    client: Client,
    config: Config,
    identity: ServerIdentity,
}

impl Session {
    /// Connects.
    ///
    /// # Errors
    /// When the server refuses, or does not answer in time.
    pub fn open(
        config: &Config,
        options: &AdminOptions<'_>,
        stop: &Stop,
    ) -> Result<Self, ServerError> {
        let mut client = connect_to_observe(config, stop)?;
        client.set_grace(options.grace);
        let config = config.clone().with_database(OBSERVED_FROM);
        Ok(Self::of_client(client, config))
    }

    /// A session on an open connection.
    pub fn of_client(client: Client, config: Config) -> Self {
        let product = product(&client);
        let version = format!("{product} {}", client.version());
        let database = config.database.clone().unwrap_or_default();
        let address = config.place();
        let identity =
            ServerIdentity { address, database, product, version, wait_types: WAIT_TYPES };
        Self { client, config, identity }
    }
}

impl AdminSession for Session {
    fn server(&self) -> &ServerIdentity {
        &self.identity
    }

    fn local_process(&mut self) -> Option<i32> {
        local_process(&mut self.client, &self.config)
    }

    fn limit(&mut self, time: Duration) -> Result<(), ServerError> {
        let (name, value) = statement_limit(&self.client, time.as_secs_f64());
        Ok(self.client.run(&format!("SET SESSION {name} = {value}"))?)
    }

    fn query(&mut self, sql: &str) -> Result<Rows, ServerError> {
        Ok(self.client.query(sql)?)
    }

    fn run(&mut self, sql: &str) -> Result<Rows, ServerError> {
        self.query(sql)
    }

    fn prepare(&mut self, sql: &str) -> Result<String, ServerError> {
        let hex = observations::hexadecimal(sql.as_bytes());
        self.client.run(&format!(
            "SET @{MARK} = CONVERT(x'{hex}' USING utf8mb4); PREPARE {MARK} FROM @{MARK}"
        ))?;
        Ok(MARK.into())
    }
}
