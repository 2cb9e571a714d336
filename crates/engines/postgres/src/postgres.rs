//! PostgreSQL as an engine: its abilities, and where they are.

use super::connecting::{CONNECTING, SILENCE};
use super::{backups, compression, load, own_database, replication, server, settings, waits};
use crate::client::{Client, Config};
use engine::{
    Ability, Altering, ColumnMethods, Engine, EngineError, Folders, Host, Instance, Prerequisites,
    Recovery, Servers, SettingsForm, Sharing, WaitType,
};
use experiment::{Configuration, Declaration, DurabilityRule, Invalid};
use observations::EngineVersion;
use servers::host::ServerHost;
use std::path::Path;
use work::{Cancel, Stop, Table};

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
            Ability::Parallel,
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

    fn column_methods(&self) -> Option<&dyn ColumnMethods> {
        Some(self)
    }

    fn recovery(&self) -> Option<&dyn Recovery> {
        Some(self)
    }

    fn altering(&self) -> Option<&dyn Altering> {
        Some(self)
    }

    fn background(&self) -> Option<&'static engine::Background> {
        Some(&backups::tools::BACKGROUND)
    }

    fn sharing(&self) -> Option<&dyn Sharing> {
        Some(self)
    }

    fn replication(&self) -> Option<&'static engine::Replication> {
        Some(&replication::REPLICATION)
    }
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

impl ColumnMethods for Postgres {
    fn validate_tables(&self, configuration: &Configuration, tables: &[Table]) -> Vec<Invalid> {
        compression::validate(configuration, tables)
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
