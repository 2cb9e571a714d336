//! SQL Server as an engine: its abilities, and where its parts are.

#[cfg(not(feature = "driver"))]
use super::not_built::trials::{MssqlHost, version};
#[cfg(feature = "driver")]
use super::target::{MssqlHost, version};
use super::{WAIT_TYPES, settings};
use engine::{Ability, Engine};
use experiment::Configuration;
use observations::EngineVersion;
use work::Stop;

/// Implements the parts of the engine that are traits.
#[derive(Debug, Clone, Copy)]
pub struct SqlServer;

/// SQL Server, and what speaks its protocol, by URL.
pub const SQL_SERVER: Engine = Engine {
    settings: settings::SETTINGS,
    durability: settings::DURABILITY_RULES,
    abilities: &[
        Ability::Tables,
        Ability::Statements,
        Ability::BulkLoad,
        Ability::Procedures,
        Ability::Clients,
        Ability::NestedLoops,
    ],
    validate: |configuration, _, _| settings::validate(configuration),
    wait_types: WAIT_TYPES,
    servers: Some(&SqlServer),
    prerequisites: Some(&SqlServer),
    ..Engine::new("sqlserver", versions, |_| Box::new(MssqlHost))
};

fn versions(configurations: &[&Configuration], stop: &Stop) -> EngineVersion {
    servers::versions(
        configurations,
        |configuration: &Configuration| configuration.get(settings::URL),
        |configuration| version(configuration, stop),
    )
}
