//! The private server that is backed up.

use crate::client::{Client, Config};
use crate::failed_at;
use crate::server::{PostgresProduct, PrivateServer};
use engine::EngineError;
use servers::account::Account;
use std::process::Command;
use std::time::Duration;
use work::Cancel;

/// The slot that keeps the log which a base backup needs to catch up.
pub const SLOT: &str = "steelbench_backup";

/// A private server, as its backups need it.
pub struct Source {
    /// How to connect as superuser.
    pub config: Config,
    /// The programs.
    pub product: PostgresProduct,
    /// As whom servers run.
    pub account: Account,
}

impl Source {
    /// Describes a server.
    pub fn of_server(server: &PrivateServer) -> Self {
        Self {
            config: server.config(),
            product: server.options.product.clone(),
            account: server.options.account.clone(),
        }
    }

    /// Connects to it.
    pub fn connect(&self, cancel: &Cancel) -> Result<Client, EngineError> {
        connect(&self.config, cancel)
    }

    /// One of its programs, which asks for no password.
    pub fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.product.installation.program(name));
        command.current_dir("/").arg("--no-password");
        command
    }

    /// Its major version.
    pub fn major(&self) -> u32 {
        self.product.installation.version.major
    }
}

/// Connects; the connection ends when the trial is asked to stop.
pub fn connect(config: &Config, cancel: &Cancel) -> Result<Client, EngineError> {
    let mut client = Client::connect(&config.clone().with_stop(cancel.stop()))
        .map_err(failed_at("connecting"))?;
    client.set_stop(cancel.stop(), Duration::ZERO);
    Ok(client)
}
