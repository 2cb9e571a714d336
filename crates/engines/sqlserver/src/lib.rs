//! SQL Server: servers by URL, as the target of trials, observed, and asked how they are set.
//!
//! - `settings`: what `[target]` can say; `dialect`: how its tables and operations are written
//! - `wait_types`: names, classes, which are benign; `page`: pages and what they are for
//! - `showplan`: plans; `optimizer`: its hints; `statement_rules`: texts and indexes
//! - `backup_tools`: backups beside a load, as settings are checked against them
//! - `prerequisites`: problems found before trials
//! - `by_url`: servers by URL; `rules`: what is advised about them
//! - with the feature `driver`: `live`, how servers are reached and what they are asked, and
//!   `target`, trials on them

mod backup_tools;
mod by_url;
#[cfg(feature = "driver")]
mod dialect;
/// Shared with the stand-in, which refuses what exceeds them.
#[cfg(test)]
#[path = "../../../../xtask/sqlserver_stand_in/src/limits.rs"]
mod limits;
#[cfg(feature = "driver")]
pub mod live;
mod not_built;
mod optimizer;
mod page;
mod prerequisites;
mod rules;
mod settings;
mod showplan;
mod statement_rules;
#[cfg(feature = "driver")]
mod target;
mod wait_types;

#[cfg(feature = "driver")]
pub use dialect::MssqlDialect;
pub use page::{NotAPage, PageId, PageKind};
pub use wait_types::{BENIGN_VERSION, BETWEEN_REQUESTS, WAIT_TYPES, class};

use engine::backups::Background;
use engine::{Ability, Engine, Folders, Host, Optimizer, Plans, Prerequisites, Servers, WaitType};
use experiment::{Configuration, Declaration, DurabilityRule, Invalid};
#[cfg(not(feature = "driver"))]
use not_built::trials::{MssqlHost, version};
use observations::EngineVersion;
use statements::Rules;
#[cfg(feature = "driver")]
use target::{MssqlHost, version};
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
            |own: &Configuration| own.get(settings::URL),
            |own| version(own, stop),
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

    fn plans(&self) -> Option<&dyn Plans> {
        Some(&showplan::ShowPlan)
    }

    fn optimizer(&self) -> Option<&'static Optimizer> {
        Some(&optimizer::OPTIMIZER)
    }

    fn background(&self) -> Option<&'static Background> {
        Some(&backup_tools::BACKGROUND)
    }

    fn statement_rules(&self) -> Option<&'static Rules> {
        Some(&statement_rules::RULES)
    }
}
