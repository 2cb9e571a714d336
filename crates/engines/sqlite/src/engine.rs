//! SQLite as an engine: its abilities, and objections to its settings.

use super::instance::SqliteHost;
use super::settings::{self, DATA_FILES, OPEN, Open};
use super::{backup_tools, connection, pragma, setup, wait_type};
use engine::setup::{SETUP_DUMP, Setup};
use engine::{Ability, Engine, Folders, Host, WaitType};
use engine::{DatabaseFiles, Prerequisites, SettingsForm};
use experiment::{Configuration, Declaration, DurabilityRule, Invalid};
use observations::EngineVersion;
use work::Stop;

/// The embedded engine.
#[derive(Debug, Clone, Copy)]
pub struct Sqlite;

impl Engine for Sqlite {
    fn name(&self) -> &'static str {
        "sqlite"
    }

    fn settings(&self) -> &'static [Declaration] {
        settings::SETTINGS
    }

    fn durability(&self) -> &'static [DurabilityRule] {
        pragma::DURABILITY_RULES
    }

    fn settings_forms(&self) -> &'static [SettingsForm] {
        pragma::FORMS
    }

    fn database_files(&self) -> Option<&dyn DatabaseFiles> {
        Some(self)
    }

    fn abilities(&self) -> &'static [Ability] {
        &[
            Ability::Embedded,
            Ability::Tables,
            Ability::Statements,
            Ability::NestedLoops,
            Ability::TimeLimits,
            Ability::ForeignKeys,
        ]
    }

    fn version(&self, _: &[&Configuration], _: &Stop) -> EngineVersion {
        let options = rusqlite::Connection::open_in_memory().and_then(|connection| {
            let mut statement = connection.prepare("PRAGMA compile_options")?;
            statement.query_map([], |row| row.get(0))?.collect()
        });
        EngineVersion { version: rusqlite::version().into(), options: options.unwrap_or_default() }
    }

    fn validate(&self, configuration: &Configuration, connections: u32) -> Vec<Invalid> {
        let mut invalid = pragma::validate(configuration);
        invalid.extend(Setup::validate(configuration));
        let dump =
            Setup::from_settings(configuration).and_then(|setting| setup::validate(&setting));
        invalid.extend(dump.map(|message| Invalid::new(SETUP_DUMP.path(), message)));
        if pragma::is_exclusive(configuration) && connections > 1 {
            invalid.push(Invalid::new(
                "target.settings.locking_mode",
                "exclusive locking allows one connection only; set workload.connections = 1",
            ));
        }
        let attached_max = connection::attached_max();
        let attached = configuration.get(OPEN) == Open::Attached;
        if attached && u64::from(configuration.get(DATA_FILES)) > attached_max + 1 {
            let message = format!(
                "this build of SQLite can attach at most {attached_max} files; use open = \
                 \"separate\""
            );
            invalid.push(Invalid::new(DATA_FILES.path(), message));
        }
        invalid
    }

    fn wait_types(&self) -> &'static [WaitType] {
        wait_type::WAIT_TYPES
    }

    fn host(&self, place: Folders) -> Box<dyn Host> {
        Box::new(SqliteHost(place))
    }

    fn prerequisites(&self) -> Option<&dyn Prerequisites> {
        Some(self)
    }

    fn background(&self) -> Option<&'static engine::Background> {
        Some(&backup_tools::BACKGROUND)
    }
}
