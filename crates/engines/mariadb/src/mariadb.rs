//! The engine: MariaDB, and MySQL with it.

use super::{load, settings, waits};
use crate::client::{Client, Config};
use engine::{Ability, Engine, EngineError, Instance, Sharing};
use experiment::Configuration;
use observations::EngineVersion;
use servers::attached;
use servers::host::ServerHost;
use std::time::Duration;
use work::{Cancel, Stop};

/// The time that a server may take to accept a connection, where its URL does not say.
pub const CONNECTING: Duration = Duration::from_secs(10);

/// Implements the parts of the engine that are traits.
#[derive(Debug, Clone, Copy)]
pub struct MariaDb;

/// MariaDB from version 10.6 up and MySQL from 9.0 up; by URL MySQL from 8.0 up.
pub const MARIADB: Engine = Engine {
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
        Ability::NestedLoops,
        Ability::TimeLimits,
        Ability::Relayed,
    ],
    validate: |configuration, _, _| settings::validate(configuration),
    wait_types: waits::WAIT_TYPES,
    servers: Some(&MariaDb),
    prerequisites: Some(&MariaDb),
    recovery: Some(&MariaDb),
    altering: Some(&MariaDb),
    sharing: Some(&MariaDb),
    ..Engine::new("mariadb", version, |folders| Box::new(ServerHost::<MariaDb>::new(folders)))
};

fn version(configurations: &[&Configuration], stop: &Stop) -> EngineVersion {
    servers::versions(
        configurations,
        |configuration| settings::HOST.server(configuration),
        |configuration| version_of(configuration, stop),
    )
}

impl Sharing for MariaDb {
    fn refusal(&self, configuration: &Configuration) -> Option<&'static str> {
        attached::refusal::<Self>(configuration)
    }

    fn attach(
        &self,
        configuration: &Configuration,
        attachment: &str,
        cancel: &Cancel,
    ) -> Result<Box<dyn Instance>, EngineError> {
        attached::attach::<Self, load::LoadConfig>(configuration, attachment, cancel)
    }
}

/// The version that a configuration runs on, and where its server comes from.
fn version_of(configuration: &Configuration, stop: &Stop) -> (String, String) {
    if let Some(url) = configuration.get(settings::URL) {
        let version = Config::parse(&url).map_err(|error| error.to_string()).and_then(|config| {
            let config = config.with_default_timeout(CONNECTING).with_stop(stop.clone());
            let client = Client::connect(&config).map_err(|error| error.to_string())?;
            // MariaDB's version names the product.
            let product = if client.is_mariadb() { "" } else { " (MySQL)" };
            Ok(format!("{}{product}", client.version()))
        });
        return (version.unwrap_or_else(|error| format!("unknown ({error})")), "by URL".into());
    }
    match settings::installation(configuration) {
        Ok(found) => {
            let product = if found.is_mysql() { " (MySQL)" } else { "" };
            (format!("{}{product}", found.version), found.server.display().to_string())
        }
        Err(error) => ("none".into(), error.to_string()),
    }
}
