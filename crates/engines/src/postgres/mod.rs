//! PostgreSQL: servers of our own that are thrown away, and servers by URL.
//!
//! - `settings`: what `[target]` can say, and objections to it
//! - `server`: installations, private clusters
//! - `host`: the server of consecutive trials, ours or another's, brought into the same state
//! - `instance`: what a trial works on: a schema of our own
//! - `admin`: the connection that holds it, marked as ours
//! - `dialect`: how its tables and operations are written
//! - `load`: the connections of a load; `wire`: what they send and hear
//! - `live`: servers that run already: what can be asked of them
//! - `waits`: what sessions wait for
//! - `survey`: what a server is and how it is set

mod admin;
mod dialect;
mod host;
mod instance;
mod live;
mod load;
pub mod server;
mod settings;
mod survey;
pub mod waits;
mod wire;

use crate::{Ability, CacheState, Engine, EngineError, Folders, Host, Servers, WaitType};
#[cfg(test)]
pub(crate) use dialect::PostgresDialect;
use experiment::{Configuration, Declaration, Invalid};
use observations::EngineVersion;
use pgclient::{Client, Config, ServerError};
use std::path::Path;

/// PostgreSQL, from version 14 up.
#[derive(Debug, Clone, Copy)]
pub struct Postgres;

impl Engine for Postgres {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn settings(&self) -> &'static [Declaration] {
        settings::SETTINGS
    }

    fn abilities(&self) -> &'static [Ability] {
        &[Ability::Keeps, Ability::Tables, Ability::Statements, Ability::BulkLoad, Ability::Procedures]
    }

    fn version(&self, configurations: &[&Configuration]) -> EngineVersion {
        let server = |own: &Configuration| {
            (own.get(settings::URL), own.get(settings::VERSION), own.get(settings::BINDIR))
        };
        let mut asked: Vec<&Configuration> = Vec::new();
        for configuration in configurations {
            if asked.iter().all(|known| server(known) != server(configuration)) {
                asked.push(configuration);
            }
        }
        let (versions, options): (Vec<String>, Vec<String>) = asked.into_iter().map(version_of).unzip();
        EngineVersion { version: versions.join(", "), options }
    }

    fn validate(&self, configuration: &Configuration, _: u32) -> Vec<Invalid> {
        settings::validate(configuration)
    }

    fn cache(&self, configuration: &Configuration) -> CacheState {
        configuration.get(settings::CACHE)
    }

    fn wait_types(&self) -> &'static [WaitType] {
        waits::WAIT_TYPES
    }

    fn servers(&self) -> Option<&dyn Servers> {
        Some(self)
    }

    fn host(&self, folders: Folders) -> Box<dyn Host> {
        Box::new(host::PostgresHost { folders, kept: None })
    }

    fn reclaim(&self, directory: &Path) -> Result<(), EngineError> {
        server::reclaim(directory)
    }
}

/// Says what was being done when the server or the connection failed.
fn failed_at(doing: &str) -> impl FnOnce(pgclient::Error) -> EngineError + '_ {
    move |error| match error.server_error() {
        Some(server) => said_by_server(doing, server),
        None => EngineError::failed(doing, error.to_string()),
    }
}

/// An error that the server sent. The codes are those of
/// <https://www.postgresql.org/docs/current/errcodes-appendix.html>.
fn said_by_server(doing: &str, error: &ServerError) -> EngineError {
    match error.code.as_str() {
        // serialization_failure, deadlock_detected
        "40001" | "40P01" => EngineError::Retry { doing: doing.into(), message: error.to_string() },
        // disk_full
        "53100" => EngineError::DiskFull { doing: format!("{doing}: {}", error.message) },
        _ => EngineError::failed(doing, error.to_string()),
    }
}

/// The version that a configuration runs on, and where its server comes from.
fn version_of(configuration: &Configuration) -> (String, String) {
    if let Some(url) = configuration.get(settings::URL) {
        let version = Config::parse(&url).map_err(|error| error.to_string()).and_then(|config| {
            let client = Client::connect(&config).map_err(|error| error.to_string())?;
            Ok(client.parameter("server_version").unwrap_or("unknown").to_owned())
        });
        return (version.unwrap_or_else(|error| format!("unknown ({error})")), "by URL".into());
    }
    match settings::installation(configuration) {
        Ok(found) => (found.version.to_string(), found.bindir.display().to_string()),
        Err(error) => ("none".into(), error.to_string()),
    }
}
