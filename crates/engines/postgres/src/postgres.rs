//! PostgreSQL as an engine: its abilities, and where they are.

use super::connecting::{CONNECTING, SILENCE};
use super::{compression, load, own_database, server, settings, waits};
use crate::client::{Client, Config};
use engine::{Ability, Engine, EngineError, Instance, Recovery, Sharing};
use experiment::{Configuration, Invalid};
use observations::EngineVersion;
use servers::host::ServerHost;
use std::path::Path;
use work::{Cancel, Stop, Table};

/// Implements the parts of the engine that are traits.
#[derive(Debug, Clone, Copy)]
pub struct Postgres;

/// PostgreSQL, from version 14 up.
pub const POSTGRES: Engine = Engine {
    settings: settings::SETTINGS,
    durability: settings::DURABILITY_RULES,
    settings_forms: settings::FORMS,
    abilities: &[
        Ability::Keeps,
        Ability::Tables,
        Ability::Statements,
        Ability::ForeignKeys,
        Ability::BulkLoad,
        Ability::Procedures,
        Ability::Clients,
        Ability::Parallel,
        Ability::NestedLoops,
        Ability::TimeLimits,
        Ability::Relayed,
    ],
    validate,
    wait_types: waits::WAIT_TYPES,
    servers: Some(&Postgres),
    prerequisites: Some(&Postgres),
    recovery: Some(&Postgres),
    altering: Some(&Postgres),
    sharing: Some(&Postgres),
    ..Engine::new("postgres", version, |folders| Box::new(ServerHost::<Postgres>::new(folders)))
};

fn version(configurations: &[&Configuration], stop: &Stop) -> EngineVersion {
    servers::versions(
        configurations,
        |configuration| settings::HOST.server(configuration),
        |configuration| version_of(configuration, stop),
    )
}

fn validate(configuration: &Configuration, _: u32, tables: &[Table]) -> Vec<Invalid> {
    [settings::validate(configuration), compression::validate(configuration, tables)].concat()
}

impl Sharing for Postgres {
    fn refusal(&self, configuration: &Configuration) -> Option<&'static str> {
        servers::attached::refusal::<Self>(configuration)
    }

    fn attach(
        &self,
        configuration: &Configuration,
        attachment: &str,
        cancel: &Cancel,
    ) -> Result<Box<dyn Instance>, EngineError> {
        servers::attached::attach::<Self, load::PostgresLoad>(configuration, attachment, cancel)
    }
}

impl Recovery for Postgres {
    fn put_back(
        &self,
        folder: &Path,
        configurations: &[&Configuration],
    ) -> Result<Vec<String>, EngineError> {
        let dropped = own_database::drop_all(folder, configurations)?;
        Ok([dropped, servers::altered::put_back::<Self>(folder, configurations)?].concat())
    }

    fn reclaim(&self, directory: &Path) -> Result<(), EngineError> {
        servers::private::reclaim::<server::PostgresProduct>(directory)
    }
}

/// The version that a configuration runs on, and where its server comes from.
fn version_of(configuration: &Configuration, stop: &Stop) -> (String, String) {
    if let Some(url) = configuration.get(settings::URL) {
        let version = Config::parse(&url).map_err(|error| error.to_string()).and_then(|config| {
            let config = config.with_default_patience(CONNECTING, SILENCE).with_stop(stop.clone());
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
