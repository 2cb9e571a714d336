//! The engine: MariaDB, and MySQL with it.

use super::{backup_tools, load, replication, settings, waits};
use crate::client::{Client, Config};
use engine::{Ability, Altering, Engine, EngineError, Folders, Host, Instance, Servers, Sharing};
use engine::{Prerequisites, Recovery, SettingsForm, WaitType};
use experiment::{Configuration, Declaration, DurabilityRule, Invalid};
use observations::EngineVersion;
use servers::attached;
use servers::host::ServerHost;
use std::time::Duration;
use work::{Cancel, Stop};

/// The time that a server may take to accept a connection, where its URL does not say.
pub const CONNECTING: Duration = Duration::from_secs(10);

/// MariaDB from version 10.6 up and MySQL from 9.0 up; by URL MySQL from 8.0 up.
#[derive(Debug, Clone, Copy)]
pub struct MariaDb;

impl Engine for MariaDb {
    fn name(&self) -> &'static str {
        "mariadb"
    }

    fn settings(&self) -> &'static [Declaration] {
        settings::SETTINGS
    }

    fn durability(&self) -> &'static [DurabilityRule] {
        settings::DURABILITY_RULES
    }

    fn settings_forms(&self) -> &'static [SettingsForm] {
        settings::FORMS
    }

    fn abilities(&self) -> &'static [Ability] {
        &[
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
        ]
    }

    fn version(&self, configurations: &[&Configuration], stop: &Stop) -> EngineVersion {
        servers::versions(
            configurations,
            |configuration| settings::HOST.server(configuration),
            |configuration| version_of(configuration, stop),
        )
    }

    fn validate(&self, configuration: &Configuration, _: u32) -> Vec<Invalid> {
        settings::validate(configuration)
    }

    fn wait_types(&self) -> &'static [WaitType] {
        waits::WAIT_TYPES
    }

    fn servers(&self) -> Option<&dyn Servers> {
        Some(self)
    }

    fn host(&self, folders: Folders) -> Box<dyn Host> {
        Box::new(ServerHost::<Self>::new(folders))
    }

    fn prerequisites(&self) -> Option<&dyn Prerequisites> {
        Some(self)
    }

    fn recovery(&self) -> Option<&dyn Recovery> {
        Some(self)
    }

    fn sharing(&self) -> Option<&dyn Sharing> {
        Some(self)
    }

    fn altering(&self) -> Option<&dyn Altering> {
        Some(self)
    }

    fn background(&self) -> Option<&'static engine::Background> {
        Some(&backup_tools::BACKGROUND)
    }

    fn replication(&self) -> Option<&'static engine::Replication> {
        Some(&replication::REPLICATION)
    }
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
