//! PostgreSQL: servers of our own that are thrown away, and servers by URL.
//!
//! - `settings`: what `[target]` can say, and objections to it
//! - `server`: installations, private clusters
//! - `host`: the server of consecutive trials, ours or another's, brought into the same state
//! - `instance`: what a trial works on: a schema of our own
//! - `admin`: the connection that holds it
//! - `guard`: an end to waiting for a server
//! - `schema`: that schema, marked as ours
//! - `dialect`: how its tables and operations are written
//! - `load`: the connections of a load
//! - `local`: whether a server is on this machine
//! - `live`: servers that run already: what can be asked of them
//! - `waits`: what sessions wait for
//! - `survey`: what a server is and how it is set

mod admin;
mod dialect;
mod failure;
mod guard;
mod host;
mod instance;
mod live;
mod load;
mod local;
mod schema;
pub mod server;
mod settings;
mod survey;
pub mod waits;

use crate::engine::{Ability, CacheState, Capabilities, Engine, EngineError, Folders, Host};
use crate::{Servers, WaitType};
#[cfg(test)]
pub(crate) use dialect::PostgresDialect;
use experiment::{Configuration, Declaration, Invalid};
use observations::EngineVersion;
use pgclient::{Client, Config};
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

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            abilities: &[Ability::Tables, Ability::Statements, Ability::BulkLoad, Ability::Procedures],
            keeps: true,
            ..Capabilities::default()
        }
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

    fn host(&self, place: Folders) -> Box<dyn Host> {
        Box::new(host::PostgresHost::new(place))
    }

    fn reclaim(&self, directory: &Path) -> Result<(), EngineError> {
        server::reclaim(directory)
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
    let bindirs: Vec<_> = configuration.get(settings::BINDIR).into_iter().map(Into::into).collect();
    match server::Installation::find(&bindirs, settings::version(configuration).as_deref()) {
        Ok(found) => (found.version.to_string(), found.bindir.display().to_string()),
        Err(error) => ("none".into(), error.to_string()),
    }
}
