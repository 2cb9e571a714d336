//! The engine: MariaDB, and MySQL with it.

use super::{settings, waits};
use crate::client::Client;
use engine::{Ability, Engine};
use experiment::Configuration;
use observations::EngineVersion;
use servers::host::ServerHost;
use servers::hosted::ServerEngine;
use work::Stop;

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
    prerequisites: Some(ServerEngine::<MariaDb>::PARTS),
    recovery: Some(ServerEngine::<MariaDb>::PARTS),
    altering: Some(ServerEngine::<MariaDb>::PARTS),
    sharing: Some(ServerEngine::<MariaDb>::PARTS),
    ..Engine::new("mariadb", version, |folders| Box::new(ServerHost::<MariaDb>::new(folders)))
};

fn version(configurations: &[&Configuration], stop: &Stop) -> EngineVersion {
    let by_url = |client: &Client| with_product(client.version(), !client.is_mariadb());
    servers::versions_of::<MariaDb>(configurations, stop, by_url, |configuration| {
        let found = settings::installation(configuration)?;
        let version = with_product(&found.version, found.is_mysql());
        Ok((version, found.server.display().to_string()))
    })
}

/// MariaDB's version by itself names the product.
fn with_product(version: &str, is_mysql: bool) -> String {
    format!("{version}{}", if is_mysql { " (MySQL)" } else { "" })
}
