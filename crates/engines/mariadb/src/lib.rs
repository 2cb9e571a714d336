//! MariaDB and MySQL: private servers that are thrown away, and servers by URL.
//!
//! - `settings`: what `[target]` can say, and objections to it
//! - `server`: installations, private servers and their variables
//! - `preflight`: problems found before a first trial
//! - `host`: the server of consecutive trials; `instance`: what a trial works on, a database of our
//!   own
//! - `altered`: settings of servers by URL that are changed and put back
//! - `admin`: the connection that holds it, marked as ours
//! - `compression`: how InnoDB compresses its tables; `backups`: their backups
//! - `dialect`: how its tables and operations are written
//! - `errors`: of the server and of connections
//! - `fill`: the bulk load of its tables; `kept`: data sets that stay between trials; `explain`:
//!   plans and sizes
//! - `load`: connections of a load; `wire`: what they send and hear; `replication`: replicas
//! - `waits`: what sessions wait for; `by_url`, `survey`: servers that run already, observed and
//!   asked how they are set; `queries`: their statements, plans and indexes
//! - `plan_reader`: their formats of plans; `statement_rules`: texts and indexes

mod admin;
mod altered;
mod backup_tools;
mod backups;
mod by_url;
pub mod client;
mod compression;
mod dialect;
mod errors;
mod explain;
mod fill;
mod host;
mod instance;
mod kept;
mod load;
mod optimizer;
mod plan_reader;
mod preflight;
mod queries;
mod replication;
pub mod server;
mod settings;
mod statement_log;
mod statement_rules;
mod survey;
mod waits;
mod wire;

use crate::client::{Client, Config};
use by_url::{connect_to_observe, global_status, product, while_doing};
pub use compression::Compression;
pub use dialect::MariaDialect;
use engine::{Ability, Altering, Engine, Folders, Host, Servers, Sharing, StatementLogs, WaitType};
use engine::{Plans, Prerequisites, Recovery, SettingsForm};
use errors::{failed_at, said_by_server, what_to_do};
use experiment::{Configuration, Declaration, DurabilityRule, Invalid};
use observations::EngineVersion;
use servers::host::ServerHost;
use statements::Rules;
use std::time::Duration;
use work::Stop;

/// The time that a server may take to accept a connection, where its URL does not say.
const CONNECTING: Duration = Duration::from_secs(10);

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
            |own: &Configuration| {
                (own.get(settings::URL), own.get(settings::VERSION), own.get(settings::BINDIR))
            },
            |own| version_of(own, stop),
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

    fn plans(&self) -> Option<&dyn Plans> {
        Some(&plan_reader::JsonPlans)
    }

    fn statement_logs(&self) -> Option<&dyn StatementLogs> {
        Some(&statement_log::Logs)
    }

    fn background(&self) -> Option<&'static engine::Background> {
        Some(&backup_tools::BACKGROUND)
    }

    fn optimizer(&self) -> Option<&'static engine::Optimizer> {
        Some(&optimizer::OPTIMIZER)
    }

    fn replication(&self) -> Option<&'static engine::Replication> {
        Some(&replication::REPLICATION)
    }

    fn statement_rules(&self) -> Option<&'static Rules> {
        Some(&statement_rules::RULES)
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
