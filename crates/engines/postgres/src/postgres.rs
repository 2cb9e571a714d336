//! PostgreSQL as an engine: its abilities, and where they are.

use super::{compression, settings, waits};
use crate::client::Client;
use engine::{Ability, Engine};
use experiment::{Configuration, Invalid};
use observations::EngineVersion;
use servers::host::ServerHost;
use servers::hosted::ServerEngine;
use work::{Stop, Table};

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
    prerequisites: Some(ServerEngine::<Postgres>::PARTS),
    recovery: Some(ServerEngine::<Postgres>::PARTS),
    altering: Some(ServerEngine::<Postgres>::PARTS),
    sharing: Some(ServerEngine::<Postgres>::PARTS),
    ..Engine::new("postgres", version, |folders| Box::new(ServerHost::<Postgres>::new(folders)))
};

fn version(configurations: &[&Configuration], stop: &Stop) -> EngineVersion {
    let by_url =
        |client: &Client| client.parameter("server_version").unwrap_or("unknown").to_owned();
    servers::versions_of::<Postgres>(configurations, stop, by_url, |configuration| {
        let found = settings::installation(configuration)?;
        Ok((found.version.to_string(), found.bindir.display().to_string()))
    })
}

fn validate(configuration: &Configuration, _: u32, tables: &[Table]) -> Vec<Invalid> {
    [settings::validate(configuration), compression::validate(configuration, tables)].concat()
}
