//! SQLite as an engine: its abilities, and objections to its settings.

use super::instance::SqliteHost;
use super::settings::{self, DATA_FILES, OPEN, Open};
use super::{connection, pragma, sample, setup, wait_type};
use engine::setup::{SETUP_DUMP, Setup};
use engine::{Ability, Engine};
use experiment::{Configuration, Invalid};
use observations::EngineVersion;
use work::{Stop, Table};

/// Implements the parts of the engine that are traits.
#[derive(Debug, Clone, Copy)]
pub struct Sqlite;

/// The embedded engine.
pub const SQLITE: Engine = Engine {
    settings: settings::SETTINGS,
    durability: pragma::DURABILITY_RULES,
    settings_forms: pragma::FORMS,
    abilities: &[
        Ability::Embedded,
        Ability::Tables,
        Ability::Statements,
        Ability::NestedLoops,
        Ability::TimeLimits,
        Ability::ForeignKeys,
    ],
    validate,
    wait_types: wait_type::WAIT_TYPES,
    prerequisites: Some(&Sqlite),
    database_files: Some(&sample::SqliteFiles),
    ..Engine::new("sqlite", version, |place| Box::new(SqliteHost(place)))
};

fn version(_: &[&Configuration], _: &Stop) -> EngineVersion {
    let options = rusqlite::Connection::open_in_memory().and_then(|connection| {
        let mut statement = connection.prepare("PRAGMA compile_options")?;
        statement.query_map([], |row| row.get(0))?.collect()
    });
    EngineVersion { version: rusqlite::version().into(), options: options.unwrap_or_default() }
}

fn validate(configuration: &Configuration, connections: u32, _: &[Table]) -> Vec<Invalid> {
    let mut invalid = pragma::validate(configuration);
    invalid.extend(Setup::validate(configuration));
    let dump = Setup::from_settings(configuration).and_then(|setting| setup::validate(&setting));
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
