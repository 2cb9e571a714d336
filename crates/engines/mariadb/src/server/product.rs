//! MariaDB and MySQL as private servers: their programs, their files and how they are started.

use super::installation::{Installation, PROGRAMS};
use super::setup;
use super::variables::{self, Variable};
use crate::admin::Admin;
use crate::client::{Client, Config};
use crate::errors::failed_at;
use engine::setup::Setup;
use engine::{Result, ServerError};
use rustix::process::Signal;
use servers::account::command;
use servers::administration::Administration as _;
use servers::private::{Constants, Options, Product, Reached, Server, Settings, Stop};
use servers::settings::path;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use work::{Cancel, Stop as WorkStop};

/// Programs of MariaDB or MySQL, and what only their servers have.
#[derive(Debug, Clone, PartialEq)]
pub struct MariaProduct {
    /// The programs.
    pub installation: Installation,
    /// Directories of tables outside of the data directory, which MySQL wants to be named.
    pub table_directories: Vec<PathBuf>,
    /// Bytes of a page, as the file has them; `None`: the version's default.
    pub page_bytes: Option<String>,
    /// True if the wait instruments are on.
    pub instruments: bool,
}

/// A private server.
pub type PrivateServer = Server<MariaProduct>;
/// Options of the server.
pub type ServerOptions = Options<MariaProduct>;

/// Name of the socket in its folder.
pub(crate) const SOCKET: &str = "server.sock";
/// The superuser of private servers.
pub(crate) const SUPERUSER: &str = "root";
/// Name of the file with all settings of the server, in the data directory.
const SETTINGS_FILE: &str = "steelbench.cnf";
/// The time that a login may take on a slow disk.
const CONNECTING: Duration = Duration::from_secs(60);
/// The time that one attempt to connect may take while it starts.
const CONNECT: Duration = Duration::from_secs(5);
/// Connections beyond those of the load.
const CONNECTIONS_BESIDE: u32 = 20;

/// `ER_INCORRECT_GLOBAL_LOCAL_VAR`: it is fixed at start.
const READ_ONLY: u16 = 1238;

impl Reached for MariaProduct {
    type Config = Config;
    type Client = Client;

    fn config(sockets: &Path) -> Config {
        Config::unix(&socket(sockets), SUPERUSER).with_default_timeout(CONNECTING)
    }

    fn connect(config: &Config, answer: Duration, stop: &WorkStop) -> Result<Client, ServerError> {
        let mut client = Client::connect_until(config, stop)?;
        client.set_answer_timeout(Some(answer));
        Ok(client)
    }
}

impl Product for MariaProduct {
    const CONSTANTS: Constants = Constants {
        cache: "mariadb",
        templates: "mariadb-",
        account: "mysql",
        programs: &PROGRAMS,
        log_folder: "log",
        settings_file: SETTINGS_FILE,
        shaping: &setup::SHAPING,
        unsafe_settings: &[("innodb_doublewrite", "OFF"), ("innodb_flush_log_at_trx_commit", "0")],
        bulk_settings: &[],
        shutdown: Signal::TERM,
        crash: &[Signal::KILL],
        // A clean shutdown would write for minutes what is thrown away.
        orphaned: Signal::KILL,
    };

    fn program(&self) -> PathBuf {
        self.installation.server.clone()
    }

    fn version(&self) -> String {
        self.installation.version.clone()
    }

    fn name(&self) -> String {
        self.installation.to_string()
    }

    fn fill(server: &PrivateServer, setup: &Setup, cancel: &Cancel) -> Result<()> {
        drop(Admin::take(&server.config(), cancel)?);
        setup::fill(&server.options.product.installation, &server.config(), setup, cancel)
    }

    fn write_settings(server: &PrivateServer, settings: &Settings) -> Result<()> {
        let file = server.layout.data.join(SETTINGS_FILE);
        server.options.account.write(&file, &settings_file(server, settings))
    }

    fn command(server: &PrivateServer) -> Command {
        let mut command = command(&server.options.product.installation.server);
        let settings = server.layout.data.join(SETTINGS_FILE);
        // Before all other options.
        command.arg(format!("--defaults-file={}", settings.display()));
        command
    }

    fn is_ready(server: &PrivateServer, cancel: &Cancel) -> bool {
        let mut config = server.config().with_stop(cancel.stop());
        config.connect_timeout = Some(CONNECT);
        Client::connect(&config).is_ok()
    }

    fn apply(server: &mut PrivateServer, settings: &Settings, cancel: &Cancel) -> Result<bool> {
        let restarts = !server.is_running() || !set_global(server, settings, cancel)?;
        if restarts {
            server.stop(Stop::Clean, cancel)?;
            server.start_with(settings.clone(), cancel)?;
        }
        variables::read_back(settings, &Variable::read(&mut server.connect_until(cancel)?)?)?;
        Ok(restarts)
    }
}

/// Sets what differs, unless that needs a restart (`false`): of variables that are fixed at
/// start, and of those that go back to their defaults, which only a start knows.
fn set_global(server: &mut PrivateServer, settings: &Settings, cancel: &Cancel) -> Result<bool> {
    let Some(in_force) = &server.in_force else { return Ok(false) };
    if in_force.keys().any(|name| !settings.contains_key(name)) {
        return Ok(false);
    }
    let differ: Vec<(&String, &String)> =
        settings.iter().filter(|(name, value)| in_force.get(*name) != Some(*value)).collect();
    if differ.is_empty() {
        return Ok(true);
    }
    let mut client = server.connect_until(cancel)?;
    let known = Variable::read(&mut client)?;
    if !differ.iter().all(|(name, _)| known.get(*name).is_some_and(Variable::is_dynamic)) {
        return Ok(false);
    }
    for (name, value) in differ {
        let doing = format!("{} = {value}", path(name));
        let sql = format!("SET GLOBAL {name} = {}", known[name].literal(value));
        match client.run(&sql) {
            // MySQL reports it only now.
            Err(error) if error.code() == Some(READ_ONLY) => return Ok(false),
            set => set.map_err(failed_at(&doing))?,
        }
    }
    variables::await_resized(&mut client)?;
    server.in_force = Some(settings.clone());
    Ok(true)
}

fn socket(sockets: &Path) -> PathBuf {
    sockets.join(SOCKET)
}

/// The program's defaults, but for what has to do with being private and being observed; then
/// the experiment's settings.
fn settings_file(server: &PrivateServer, settings: &Settings) -> String {
    let options = &server.options;
    let product = &options.product;
    let path = |path: &Path| path.to_string_lossy().into_owned();
    let on = |is: bool| if is { "ON" } else { "OFF" }.to_owned();
    let log = options.log_directory.as_deref().unwrap_or(&server.layout.data);
    let connections = (options.connections + CONNECTIONS_BESIDE).to_string();
    let mut required = vec![
        ("datadir", path(&server.layout.data)),
        ("socket", path(&socket(server.sockets()))),
        ("pid_file", path(&server.layout.data.join("server.pid"))),
        // A server that starts removes what another one has as temporary tables in the same
        // folder.
        ("tmpdir", path(&server.layout.data)),
        ("skip_networking", on(true)),
        ("innodb_log_group_home_dir", path(log)),
        // The buffer pool's content before a restart is not loaded again: `target.cache` alone
        // decides the state of the caches.
        ("innodb_buffer_pool_dump_at_shutdown", on(false)),
        ("innodb_buffer_pool_load_at_startup", on(false)),
        ("max_connections", connections),
        ("local_infile", on(true)),
        ("performance_schema", on(product.instruments)),
    ];
    if product.instruments {
        required.push(("performance_schema_instrument", "wait/%=ON".into()));
        required.push(("performance_schema_instrument", "idle=ON".into()));
    }
    if product.installation.is_mysql() {
        let directories: Vec<String> =
            product.table_directories.iter().map(|table_directory| path(table_directory)).collect();
        required.push(("innodb_directories", directories.join(";")));
        // A second protocol, with a socket that others see.
        required.push(("mysqlx", on(false)));
    }
    required.extend(product.page_bytes.iter().map(|bytes| ("innodb_page_size", bytes.clone())));
    let line = required.iter().map(|(name, value)| variables::line(name, value));
    let settings = settings.iter().map(|(name, value)| match name.as_str() {
        "log_bin" => variables::log_bin(value, log),
        _ => variables::line(name, value),
    });
    // MySQL's binary log is off unless requested, as MariaDB's is.
    let no_log = variables::log_bin("OFF", log);
    // MariaDB reads this section, too.
    format!("[mysqld]\n{no_log}{}", line.chain(settings).collect::<String>())
}
