//! PostgreSQL as a private server: its programs, its files and how it is started.

use super::files::{BASELINE_FILE, Postmaster, SETTINGS_FILE};
use super::left::PROGRAM;
use super::product::{PostgresProduct, PrivateServer, SUPERUSER};
use super::{settings, setup};
use crate::client::{Client, Config};
use crate::connecting::stoppable;
use crate::errors::failed_at;
use engine::setup::Setup;
use engine::{Result, ServerError};
use rustix::process::Signal;
use servers::account::command;
use servers::private::{Constants, Product, Reached, Settings};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use work::{Cancel, Stop};

/// It only names the socket, which is in a folder of its own.
const PORT: u16 = 5432;
/// The time that a login may take on a slow disk; a server that is stopped would take for ever.
const CONNECTING: Duration = Duration::from_secs(60);
/// The time that one attempt to connect may take while it starts.
const CONNECT: Duration = Duration::from_secs(5);
/// Connections that a server has room for by default.
const CONNECTIONS: u32 = 100;
/// Connections beyond those of the load: observers, and those that the server keeps for superusers.
const CONNECTIONS_BESIDE: u32 = 20;

impl Reached for PostgresProduct {
    type Config = Config;
    type Client = Client;

    fn config(sockets: &Path) -> Config {
        Config::unix(sockets, PORT, SUPERUSER, SUPERUSER).with_connect_timeout(Some(CONNECTING))
    }

    fn connect(config: &Config, answer: Duration, stop: &Stop) -> Result<Client, ServerError> {
        let mut client = stoppable(config, stop)?;
        client.set_answer_timeout(Some(answer));
        Ok(client)
    }
}

impl Product for PostgresProduct {
    const CONSTANTS: Constants = Constants {
        cache: "postgres",
        templates: "",
        account: "postgres",
        programs: &[PROGRAM],
        log_folder: "pg_wal",
        settings_file: SETTINGS_FILE,
        shaping: &setup::SHAPING,
        unsafe_settings: &[("fsync", "off")],
        // Rows that are copied into a table of the same transaction need no log.
        bulk_settings: &[("wal_level", "minimal"), ("max_wal_senders", "0")],
        shutdown: Signal::INT,
        // An immediate shutdown; a server that was stopped receives it when it continues.
        crash: &[Signal::QUIT, Signal::CONT],
        orphaned: Signal::QUIT,
    };

    fn program(&self) -> PathBuf {
        self.installation.program(PROGRAM)
    }

    fn version(&self) -> String {
        self.installation.version.to_string()
    }

    fn name(&self) -> String {
        format!("PostgreSQL {}", self.installation.version)
    }

    fn fill(server: &PrivateServer, setup: &Setup, cancel: &Cancel) -> Result<()> {
        let bindir = &server.options.product.installation.bindir;
        setup::fill(&server.config(), bindir, setup, cancel)
    }

    fn write_settings(server: &PrivateServer, settings: &Settings) -> Result<()> {
        let (account, data) = (&server.options.account, server.data_directory());
        account.write(&data.join(BASELINE_FILE), &baseline(server))?;
        account.write(&data.join(SETTINGS_FILE), &settings::lines(settings))
    }

    fn command(server: &PrivateServer) -> Command {
        let mut command = command(&server.options.product.program());
        command.arg("-D").arg(server.data_directory());
        command
    }

    fn is_ready(server: &PrivateServer, cancel: &Cancel) -> bool {
        let note = Postmaster::read(server.data_directory());
        if !note.ready || note.pid != server.pid() {
            return false;
        }
        // The note is written a moment before it accepts connections.
        let config = server.config().with_connect_timeout(Some(CONNECT));
        Client::connect(&config.with_stop(cancel.stop())).is_ok()
    }

    fn apply(server: &mut PrivateServer, settings: &Settings, cancel: &Cancel) -> Result<bool> {
        settings::apply(server, settings, cancel)
    }
}

/// PostgreSQL's defaults, but for what has to do with being private and being observed.
fn baseline(server: &PrivateServer) -> String {
    let connections = CONNECTIONS.max(server.options.connections + CONNECTIONS_BESIDE);
    let settings = [
        ("cluster_name", "steelbench".to_owned()),
        ("listen_addresses", String::new()),
        ("port", PORT.to_string()),
        ("unix_socket_directories", list_item(&server.sockets().to_string_lossy())),
        ("unix_socket_permissions", "0700".to_owned()),
        ("max_connections", connections.to_string()),
        ("logging_collector", "off".to_owned()),
        ("track_io_timing", "on".to_owned()),
        ("track_wal_io_timing", "on".to_owned()),
    ];
    settings.iter().map(|(name, value)| settings::line(name, value) + "\n").collect()
}

/// A value in a list of names: in quotes, so that commas and spaces are its own.
fn list_item(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// Writes all dirty pages of a server.
pub fn checkpoint(server: &PrivateServer, cancel: &Cancel) -> Result<()> {
    server.connect_until(cancel)?.batch("CHECKPOINT").map_err(failed_at("CHECKPOINT"))
}

/// Puts the files of a server out of the operating system's page cache, after a checkpoint if it
/// runs. Its shared buffers stay as they are: stop it first to begin cold.
pub fn drop_os_cache(server: &PrivateServer, cancel: &Cancel) -> Result<()> {
    if server.is_running() {
        checkpoint(server, cancel)?;
    }
    servers::files::evict(&server.files()?)
}
