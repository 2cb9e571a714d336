//! PostgreSQL: private servers that are thrown away, and servers by URL.
//!
//! - `settings`: what `[target]` can say, and objections to it
//! - `server`: installations, private servers
//! - `preflight`: problems found before a first trial
//! - `host`: the server of consecutive trials; `instance`: the schema that a trial works on
//! - `altered`: settings of servers by URL that are changed and put back
//! - `own_database`: on servers by URL, databases for tables of the user
//! - `connecting`: sessions that observe, and advice on failed connections
//! - `admin`: the connection that holds it, marked as ours
//! - `dialect`: how its tables and operations are written; `compression`: which method compresses
//!   which column
//! - `fill`: the bulk load of its tables; `kept`: data sets that stay between trials; `explain`:
//!   plans and sizes
//! - `load`: connections of a load; `wire`: what they send and hear; `replication`: replicas
//! - `waits`: what sessions wait for
//! - `survey`: what a server is and how it is set; `queries`: its statements, plans and indexes
//! - `plan_reader`: its formats of plans; `statement_rules`: texts and indexes

mod admin;
mod altered;
mod backups;
pub mod client;
mod compression;
mod connecting;
mod dialect;
mod explain;
mod fill;
mod host;
mod instance;
mod kept;
mod load;
mod optimizer;
mod own_database;
mod plan_reader;
mod preflight;
mod queries;
mod replication;
mod sample;
pub mod server;
mod settings;
mod statement_log;
pub mod statement_rules;
mod survey;
pub mod waits;
mod wire;

use crate::client::{Client, Config};
use connecting::{is_local, leave_no_statistics, while_doing};
pub use dialect::PostgresDialect;
use engine::{
    Ability, Altering, Engine, EngineError, Folders, Host, Instance, LiveObserver, ObserveOptions,
    QueryLimits, QueryReader, RetryCause, Server, ServerError, Servers, Sharing, StatementLogs,
    WaitType,
};
use engine::{ColumnMethods, Dumps, Plans, Prerequisites, Recovery, SettingsForm};
use experiment::{Configuration, Declaration, DurabilityRule, Invalid};
use observations::{Advice, EngineVersion, Survey, SurveyedServer, Unread};
use server::PostgresProduct;
use servers::host::{Hosted, ServerHost};
pub use settings::URL;
use statements::Rules;
use std::path::Path;
use std::time::Duration;
use work::{Cancel, Stop, Table};

/// The time that a server may take to accept a connection, where its URL does not say.
const CONNECTING: Duration = Duration::from_secs(10);
/// The time that a connection may be silent before it is checked.
const SILENCE: Duration = Duration::from_secs(30);

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

    fn column_methods(&self) -> Option<&dyn ColumnMethods> {
        Some(self)
    }

    fn recovery(&self) -> Option<&dyn Recovery> {
        Some(self)
    }

    fn altering(&self) -> Option<&dyn Altering> {
        Some(self)
    }

    fn plans(&self) -> Option<&dyn Plans> {
        Some(&plan_reader::ExplainPlans)
    }

    fn statement_logs(&self) -> Option<&dyn StatementLogs> {
        Some(&statement_log::Logs)
    }

    fn background(&self) -> Option<&'static engine::Background> {
        Some(&backups::tools::BACKGROUND)
    }

    fn sharing(&self) -> Option<&dyn Sharing> {
        Some(self)
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
        let url = configuration.get(settings::URL).unwrap_or_default();
        load::attach(<Self as Hosted>::config(&url)?, configuration, attachment, cancel)
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
        servers::private::reclaim::<PostgresProduct>(directory)
    }
}

/// Says what was being done when the server or the connection failed.
fn failed_at(doing: &str) -> impl FnOnce(crate::client::Error) -> EngineError + '_ {
    move |error| match error.server_error() {
        _ if error.is_stopped() => EngineError::Cancelled,
        Some(server) => said_by_server(doing, server),
        None => EngineError::failed(doing, error.to_string()),
    }
}

/// An error that the server sent. The codes are those of
/// <https://www.postgresql.org/docs/current/errcodes-appendix.html>.
fn said_by_server(doing: &str, error: &crate::client::ServerError) -> EngineError {
    match error.code.as_str() {
        // serialization_failure, deadlock_detected
        code @ ("40001" | "40P01") => EngineError::Retry {
            doing: doing.into(),
            message: error.to_string(),
            cause: if code == "40P01" { RetryCause::Deadlock } else { RetryCause::Conflict },
        },
        // integrity_constraint_violation
        code if code.starts_with("23") => {
            EngineError::Violation { doing: doing.into(), message: error.to_string() }
        }
        // query_canceled, also by a user
        "57014" if error.message.contains("timeout") => EngineError::time_limit(doing, error),
        // disk_full
        "53100" => EngineError::DiskFull { doing: format!("{doing}: {}", error.message) },
        _ => EngineError::failed(doing, error.to_string()),
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

impl Servers for Postgres {
    fn engine(&self) -> &'static str {
        self.name()
    }

    fn url_schemes(&self) -> &'static [&'static str] {
        &["postgres", "postgresql", ""]
    }

    fn by_url(&self, url: &str) -> Result<Box<dyn Server>, ServerError> {
        let config = Config::parse(url).map_err(ServerError::new)?;
        Ok(Box::new(config.with_default_patience(CONNECTING, SILENCE)))
    }

    fn advice(&self, server: &SurveyedServer, survey: &Survey) -> Vec<Advice> {
        survey::rules::advice(server, survey)
    }

    fn dumps(&self) -> Option<&dyn Dumps> {
        Some(self)
    }
}

impl Dumps for Postgres {
    fn dump(&self, url: &str, to: &Path, stop: &Stop) -> Result<(), EngineError> {
        server::dump(url, to, stop)
    }
}

impl Server for Config {
    fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn observe(
        &self,
        options: ObserveOptions,
        stop: &Stop,
    ) -> Result<Box<dyn LiveObserver>, ServerError> {
        Ok(Box::new(waits::PostgresObserver::start(self, options, stop)?))
    }

    fn survey(&self, stop: &Stop) -> Result<(SurveyedServer, Vec<Unread>), ServerError> {
        survey::survey(self, stop)
    }

    fn queries(
        &self,
        limits: QueryLimits,
        stop: &Stop,
    ) -> Result<Box<dyn QueryReader>, ServerError> {
        Ok(Box::new(queries::Reader::start(self, limits, stop)?))
    }

    fn sample(
        &self,
        table: &str,
        rows_max: u64,
        stop: &Stop,
    ) -> Result<engine::sample::Sample, ServerError> {
        sample::sample(self, table, rows_max, stop)
    }
}
