//! The private server that is backed up.

use crate::client::{Client, Config};
use crate::connecting::stoppable;
use crate::errors::failed_at;
use crate::replication::conninfo;
use crate::server::{PORT, PrivateServer, ServerOptions};
use engine::Result;
use servers::private::Settings;
use std::path::{Path, PathBuf};
use std::process::Command;
use work::Cancel;

/// The slot that keeps the log which a base backup needs to catch up.
pub const SLOT: &str = "steelbench_backup";

/// A private server, as its backups need it.
pub struct Source {
    /// How to connect as superuser.
    pub config: Config,
    /// Options of a server like it.
    pub options: ServerOptions,
    settings: Settings,
    sockets: PathBuf,
}

impl Source {
    /// Describes a server.
    pub fn of_server(server: &PrivateServer) -> Self {
        Self {
            config: server.config(),
            options: server.options_in(Path::new("")),
            settings: server.in_force.clone().unwrap_or_default(),
            sockets: server.sockets().to_path_buf(),
        }
    }

    /// Settings of a standby that follows it.
    pub fn standby_settings(&self) -> Settings {
        let mut settings = self.settings.clone();
        let standby_settings = [
            ("primary_conninfo", conninfo(&self.sockets)),
            ("primary_slot_name", SLOT.to_owned()),
            ("hot_standby", "on".to_owned()),
            ("archive_mode", "off".to_owned()),
        ];
        settings.extend(standby_settings.map(|(name, value)| (name.to_owned(), value)));
        settings
    }

    /// Connects to it.
    pub fn connect(&self, cancel: &Cancel) -> Result<Client> {
        connect(&self.config, cancel)
    }

    /// How pgBackRest connects to it.
    pub fn connection(&self) -> [(&'static str, String); 4] {
        [
            ("pg1-socket-path", self.sockets.to_string_lossy().into_owned()),
            ("pg1-port", PORT.to_string()),
            ("pg1-user", self.config.user.clone()),
            ("pg1-database", self.config.database.clone()),
        ]
    }

    /// A program of the server, which asks for no password.
    pub fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.options.product.installation.program(name));
        command.current_dir("/").arg("--no-password");
        command
    }

    /// The major version.
    pub fn major(&self) -> u32 {
        self.options.product.installation.version.major
    }
}

/// Connects; the connection ends when the trial is asked to stop.
pub fn connect(config: &Config, cancel: &Cancel) -> Result<Client> {
    stoppable(config, &cancel.stop()).map_err(failed_at("connecting"))
}
