//! SQLite, embedded: nothing to install, nothing to start.
//!
//! `data_files = N` spreads the table over N database files, each with its own writer lock, page
//! cache and log. The sessions are the load threads themselves.

mod connection;
mod dialect;
mod instance;
mod pragma;
mod recorder;
mod session;
mod settings;
mod vfs;
mod wait_type;

use crate::engine::{Ability, CacheState, Engine, EngineError, Folders, Host, Instance};
use crate::{Cancel, WaitType};
#[cfg(test)]
pub(crate) use dialect::SqliteDialect;
use experiment::{Configuration, Declaration, Invalid};
use instance::SqliteInstance;
use observations::EngineVersion;
use settings::{CACHE, DATA_FILES, OPEN, Open};

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

    fn abilities(&self) -> &'static [Ability] {
        &[Ability::Embedded, Ability::Tables, Ability::Statements]
    }

    fn version(&self, _: &[&Configuration]) -> EngineVersion {
        let options = rusqlite::Connection::open_in_memory().and_then(|connection| {
            let mut statement = connection.prepare("PRAGMA compile_options")?;
            statement.query_map([], |row| row.get(0))?.collect()
        });
        EngineVersion { version: rusqlite::version().into(), options: options.unwrap_or_default() }
    }

    fn validate(&self, configuration: &Configuration, connections: u32) -> Vec<Invalid> {
        let mut invalid = pragma::validate(configuration);
        if pragma::is_exclusive(configuration) && connections > 1 {
            invalid.push(Invalid::new(
                "target.settings.locking_mode",
                "with exclusive locking the first connection keeps every other one out; set workload.connections = 1",
            ));
        }
        let attached_max = connection::attached_max();
        let attached = configuration.get(OPEN) == Open::Attached;
        if attached && u64::from(configuration.get(DATA_FILES)) > attached_max + 1 {
            let message = format!(
                "this build of SQLite attaches at most {attached_max} files; use open = \"separate\""
            );
            invalid.push(Invalid::new(DATA_FILES.path(), message));
        }
        invalid
    }

    fn cache(&self, configuration: &Configuration) -> CacheState {
        configuration.get(CACHE)
    }

    fn wait_types(&self) -> &'static [WaitType] {
        wait_type::WAIT_TYPES
    }

    fn host(&self, place: Folders) -> Box<dyn Host> {
        Box::new(SqliteHost(place))
    }
}

/// Nothing is shared between trials but the folders.
struct SqliteHost(Folders);

impl Host for SqliteHost {
    fn prepare(
        &mut self,
        configuration: &Configuration,
        connections: u32,
        cancel: &Cancel,
    ) -> Result<Box<dyn Instance>, EngineError> {
        Ok(Box::new(SqliteInstance::create(configuration, &self.0, connections, cancel)?))
    }
}

/// What SQLite said, as an error of ours.
fn failed(doing: String, error: &rusqlite::Error) -> EngineError {
    if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull) {
        return EngineError::DiskFull { doing };
    }
    EngineError::failed(doing, error.to_string())
}
