//! SQL Server as an engine: its abilities, and where its parts are.

#[cfg(not(feature = "driver"))]
use super::not_built::trials::{MssqlHost, version};
#[cfg(feature = "driver")]
use super::target::{MssqlHost, version};
use super::{WAIT_TYPES, backup_tools, settings};
use engine::backups::Background;
use engine::{Ability, Engine, Folders, Host, Prerequisites, Servers, WaitType};
use experiment::{Configuration, Declaration, DurabilityRule, Invalid};
use observations::EngineVersion;
use work::Stop;

/// SQL Server, and what speaks its protocol, by URL.
#[derive(Debug, Clone, Copy)]
pub struct SqlServer;

impl Engine for SqlServer {
    fn name(&self) -> &'static str {
        "sqlserver"
    }

    fn settings(&self) -> &'static [Declaration] {
        settings::SETTINGS
    }

    fn durability(&self) -> &'static [DurabilityRule] {
        settings::DURABILITY_RULES
    }

    fn abilities(&self) -> &'static [Ability] {
        &[
            Ability::Tables,
            Ability::Statements,
            Ability::BulkLoad,
            Ability::Procedures,
            Ability::Clients,
            Ability::NestedLoops,
        ]
    }

    fn version(&self, configurations: &[&Configuration], stop: &Stop) -> EngineVersion {
        servers::versions(
            configurations,
            |configuration: &Configuration| configuration.get(settings::URL),
            |configuration| version(configuration, stop),
        )
    }

    fn validate(&self, configuration: &Configuration, _: u32) -> Vec<Invalid> {
        settings::validate(configuration)
    }

    fn wait_types(&self) -> &'static [WaitType] {
        WAIT_TYPES
    }

    fn servers(&self) -> Option<&dyn Servers> {
        Some(self)
    }

    fn host(&self, _: Folders) -> Box<dyn Host> {
        Box::new(MssqlHost)
    }

    fn prerequisites(&self) -> Option<&dyn Prerequisites> {
        Some(self)
    }

    fn background(&self) -> Option<&'static Background> {
        Some(&backup_tools::BACKGROUND)
    }
}
