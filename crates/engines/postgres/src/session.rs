//! Sessions for administration.

use crate::client::{Client, Config};
use crate::connecting::{is_local, stoppable};
use crate::waits::WAIT_TYPES;
use engine::server::{AdminOptions, AdminSession, MARK, ServerIdentity};
use engine::{Rows, ServerError, while_doing};
use std::time::Duration;
use work::Stop;

/// A session, and what the login tells of its server.
pub struct Session {
    client: Client,
    user: String,
    identity: ServerIdentity,
}

impl Session {
    /// Connects as the options say.
    ///
    /// # Errors
    /// When the server refuses, or does not answer in time.
    pub fn open(
        config: &Config,
        options: &AdminOptions<'_>,
        stop: &Stop,
    ) -> Result<Self, ServerError> {
        let mut config = config.clone().with_application_name(options.application);
        if let Some(database) = options.database {
            config = config.with_database(database);
        }
        let mut client = stoppable(&config, stop).map_err(while_doing("connecting"))?;
        client.set_stop(stop.clone(), options.grace);
        client.set_answer_timeout(Some(work::silence_max()));
        Ok(Self::of_client(client, config))
    }

    /// A session on an open connection.
    pub fn of_client(client: Client, config: Config) -> Self {
        let version = client.parameter("server_version").unwrap_or("of unknown version");
        let identity = ServerIdentity {
            address: address(&config),
            database: config.database.clone(),
            product: "PostgreSQL",
            version: format!("PostgreSQL {version}"),
            wait_types: WAIT_TYPES,
        };
        Self { client, user: config.user, identity }
    }
}

impl AdminSession for Session {
    fn server(&self) -> &ServerIdentity {
        &self.identity
    }

    fn local_process(&mut self) -> Option<i32> {
        is_local(&self.client, &self.user).then(|| self.client.backend_pid())
    }

    fn limit(&mut self, time: Duration) -> Result<(), ServerError> {
        let limit = time.as_millis();
        Ok(self.client.batch(&format!("SET /* {MARK} */ statement_timeout = {limit}"))?)
    }

    fn query(&mut self, sql: &str) -> Result<Rows, ServerError> {
        Ok(self.client.query(sql, &[])?)
    }

    fn run(&mut self, sql: &str) -> Result<Rows, ServerError> {
        Ok(self.client.simple_query(sql)?)
    }

    fn prepare(&mut self, sql: &str) -> Result<String, ServerError> {
        Ok(self.client.prepare(sql)?.name)
    }
}

/// Hosts and ports: without the user, and without the password, which `Config` does not show at
/// all.
fn address(config: &Config) -> String {
    let shown = config.to_string();
    shown.split(" user=").next().unwrap_or_default().to_owned()
}
