//! Databases that Steelbench creates on a server by URL, for tables that the user's set-up makes:
//! one is filled, and each trial works in a copy of it. All are dropped at the end of the run, or
//! after a kill by the next run of the same results file.

use super::admin::{ADMIN, take_again};
use super::connecting::{is_working, parsed, patient};
use super::errors::failed_at;
use super::server::fill_by_url;
use super::settings::URL;
use crate::client::{Client, Config, Error, quote_identifier, quote_literal};
use engine::setup::Setup;
use engine::{EngineError, Result};
use experiment::Configuration;
use observations::fnv1a;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;
use work::{Cancel, silence_max};

/// Connection limit that marks a database as made by us: the statement that creates it sets it, so
/// that there is none without a mark. Servers allow at most 262,143 connections (`MAX_BACKENDS`).
const LIMIT: i32 = i32::from_be_bytes(*b"stee");

/// Comment that says the same to the user, and that outlasts an interrupted `DROP DATABASE`, which
/// changes the limit.
const MARK: &str = "made by steelbench; dropped at the end of its run";

/// In the folder of the run: the servers on which it has made databases, one a line.
const SERVERS: &str = "databases-made-on";

/// The time that another run may hold the database that the URL names.
const HELD_MAX: Duration = Duration::from_secs(20);

/// A server on which a run has databases of its own.
struct RunDatabases {
    /// In the database that the URL names.
    client: Client,
    config: Config,
    /// The prefix of the names of the databases: no other results file has the same.
    prefix: String,
}

/// A new copy of the tables that a configuration asks for, which are made first unless this run has
/// done so: how to connect to it. `run`: the folder of the run.
///
/// # Errors
/// When the role may not create databases, a database of that name is not ours, or the tables
/// cannot be made.
pub fn copy(run: &Path, config: &Config, setup: &Setup, cancel: &Cancel) -> Result<Config> {
    note(run, config)?;
    let mut databases = RunDatabases::connect(run, config, cancel)?;
    let template = format!("{}{}", databases.prefix, fnv1a(&setup.identity()));
    // A complete one does not accept connections.
    if databases.accepts_connections(&template)? != Some(false) {
        databases.drop_database(&template)?;
        databases.create(&template, None)?;
        fill_by_url(&config.clone().with_database(&template), setup, cancel)?;
        databases.run(&format!(
            "ALTER DATABASE {} ALLOW_CONNECTIONS false",
            quote_identifier(&template)
        ))?;
    }
    let trial = format!("{}trial", databases.prefix);
    databases.drop_database(&trial)?;
    databases.create(&trial, Some(&template))?;
    Ok(databases.config.with_database(&trial))
}

/// Drops the databases that runs of this results file have made. Returns a sentence for each
/// server.
///
/// # Errors
/// When one cannot be dropped, with how to do so manually.
pub fn drop_all(run: &Path, configurations: &[&Configuration]) -> Result<Vec<String>> {
    let path = run.join(SERVERS);
    let Some(servers) = read(&path)? else { return Ok(Vec::new()) };
    let mut done = Vec::new();
    for server in servers.lines() {
        // As the file says, which may know more of TLS, else as it was noted.
        let mut named = configurations
            .iter()
            .filter_map(|configuration| Config::parse(&configuration.get(URL)?).ok());
        let config = named.find(|config| config.to_string() == server);
        let config = config.map_or_else(|| parsed(server), Ok)?;
        let prefix = prefix(run);
        let dropped = RunDatabases::connect(run, &patient(config), &Cancel::new())
            .and_then(|mut databases| databases.drop_mine())
            .map_err(|error| {
                let message = format!(
                    "{error}\nDrop the databases {prefix}... manually, and delete {}",
                    path.display()
                );
                EngineError::failed(
                    format!("dropping the databases of this run on {server}"),
                    message,
                )
            })?;
        if !dropped.is_empty() {
            done.push(format!("dropped on {server}: {}", dropped.join(", ")));
        }
    }
    std::fs::remove_file(&path).map_err(EngineError::at(&path))?;
    Ok(done)
}

/// Takes note of a server before anything is made there.
fn note(run: &Path, config: &Config) -> Result<()> {
    let path = run.join(SERVERS);
    let (server, known) = (config.to_string(), read(&path)?.unwrap_or_default());
    if known.lines().any(|line| line == server) {
        return Ok(());
    }
    std::fs::write(&path, format!("{known}{server}\n")).map_err(EngineError::at(&path))
}

fn read(path: &PathBuf) -> Result<Option<String>> {
    match std::fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        text => text.map(Some).map_err(EngineError::at(path)),
    }
}

fn prefix(run: &Path) -> String {
    let host = observe::kernel_setting("kernel.hostname").unwrap_or_default();
    format!("steelbench_{}_", fnv1a(&format!("{host}{}", run.display())))
}

impl RunDatabases {
    /// Connects, and locks the database that the URL names against other runs while connected.
    fn connect(run: &Path, config: &Config, cancel: &Cancel) -> Result<Self> {
        let with_stop = config.clone().with_application_name(ADMIN).with_stop(cancel.stop());
        let mut client = Client::connect(&with_stop).map_err(failed_at("connecting"))?;
        // From PostgreSQL 14 on: when we are killed the server stops its work, and frees the lock.
        let _ = client.batch("SET client_connection_check_interval = '1s'");
        client.set_stop(cancel.stop(), Duration::ZERO);
        take_again(&mut client, HELD_MAX, cancel)?;
        client.set_answer_timeout(Some(silence_max()));
        Ok(Self { client, config: config.clone(), prefix: prefix(run) })
    }

    /// Runs a statement, which may take as long as the server works on it: a copy takes as long as
    /// its pages take.
    fn run(&mut self, sql: &str) -> Result<()> {
        let session = format!("pid = {}", self.client.backend_pid());
        let Self { client, config, .. } = self;
        let result = client.long_query(sql, &mut || is_working(config, &session));
        if result.as_ref().is_err_and(|why| why.is_stopped() || matches!(why, Error::Timeout(_))) {
            // A server that cannot be asked stops by itself, or at the end of the statement.
            let _ = client.canceller().cancel();
        }
        result.map(drop).map_err(failed_at(sql))
    }

    /// Returns whether one of our databases accepts connections; `None` if it does not exist.
    fn accepts_connections(&mut self, name: &str) -> Result<Option<bool>> {
        let sql = "SELECT datallowconn, shobj_description(oid, 'pg_database') = $2 OR \
                   datconnlimit = $3 FROM pg_database WHERE datname = $1";
        let found = self
            .client
            .query(sql, &[Some(name), Some(MARK), Some(&LIMIT.to_string())])
            .map_err(failed_at("looking up the databases of this run"))?;
        let Some(row) = found.first() else { return Ok(None) };
        if row.get(1) != Some("t") {
            let message = "it already exists and Steelbench did not create it; rename it";
            return Err(EngineError::failed(format!("creating database {name}"), message));
        }
        Ok(Some(row.get(0) == Some("t")))
    }

    fn create(&mut self, name: &str, template: Option<&str>) -> Result<()> {
        let from = template
            .map_or_else(String::new, |name| format!(" TEMPLATE {}", quote_identifier(name)));
        let name = quote_identifier(name);
        self.run(&format!("CREATE DATABASE {name}{from} CONNECTION LIMIT {LIMIT}"))?;
        self.comment(&name)
    }

    fn comment(&mut self, name: &str) -> Result<()> {
        self.run(&format!("COMMENT ON DATABASE {name} IS {}", quote_literal(MARK)))
    }

    /// Drops a database that Steelbench created, with the sessions in it.
    fn drop_database(&mut self, name: &str) -> Result<()> {
        if self.accepts_connections(name)?.is_none() {
            return Ok(());
        }
        let name = quote_identifier(name);
        self.comment(&name)?;
        self.run(&format!("DROP DATABASE {name} WITH (FORCE)"))
    }

    /// Drops all that runs of this results file have made; their names.
    fn drop_mine(&mut self) -> Result<Vec<String>> {
        let sql = "SELECT datname FROM pg_database WHERE datname ^@ $1 ORDER BY datname";
        let prefix = self.prefix.clone();
        let rows = self
            .client
            .query(sql, &[Some(&prefix)])
            .map_err(failed_at("looking up the databases of this run"))?;
        let names: Vec<String> = rows.iter().map(|row| row.text(0)).collect();
        names.iter().try_for_each(|name| self.drop_database(name))?;
        Ok(names)
    }
}
