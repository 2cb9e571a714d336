//! SQLite, embedded: nothing to install, nothing to start.
//!
//! `data_files = N` spreads the table over N database files, each with its own writer lock, page
//! cache and log. The sessions are the load threads themselves.

mod connection;
mod instance;
mod layout;
mod pragma;
mod recorder;
mod session;
mod vfs;
mod wait_type;

use crate::engine::{Capabilities, Engine, EngineError, Host, Instance, Place};
use crate::{Cancel, InsertMethod, SchemaKind, WaitType};
use experiment::{Configuration, Declaration, Invalid, Kind};
use observations::EngineVersion;

/// The embedded engine.
#[derive(Debug, Clone, Copy)]
pub struct Sqlite;

/// Attached files that SQLite can hold at most, however it was built; `main` comes on top.
const ATTACHED_MAX: i64 = 125;

const SETTINGS: &[Declaration] = &[
    Declaration::new(
        "target.data_files",
        Kind::Count { min: 1, max: ATTACHED_MAX + 1 },
        Some("1"),
        "Number of database files that the table is spread over, each with its own writer lock, page cache and log.",
    ),
    Declaration::new(
        "target.volume",
        Kind::TextList,
        None,
        "Volume (or list of volumes, round robin) that the data files are put on; the default is the results directory's file system.",
    ),
    Declaration::new(
        "target.open",
        Kind::Choice(&["separate", "attached"]),
        Some("separate"),
        "How a session opens its data files: each by a connection of its own, or all attached to one connection.",
    ),
    Declaration::new(
        "target.settings.*",
        Kind::Scalar,
        None,
        "SQLite PRAGMAs: journal_mode, synchronous, page_size, cache_size, mmap_size, wal_autocheckpoint, locking_mode, temp_store and others; each is read back.",
    ),
    Declaration::new(
        "target.busy_timeout",
        Kind::Duration,
        Some("60 s"),
        "How long a session waits for a lock before its transaction fails.",
    ),
    Declaration::new(
        "target.file_growth",
        Kind::Size { min: 0, max: 1 << 40 },
        Some("0"),
        "Data files are allocated in pieces of this size, the first one before anything is measured; 0: page by page. A piece larger than the data makes a pre-sized file.",
    ),
    Declaration::new(
        "target.cache",
        Kind::Choice(crate::CacheState::NAMES),
        Some("warm"),
        "State of the operating system's page cache for the data files when measuring begins: cold (nothing in memory), warm (as loading left it), hot (all in memory). Made so and verified.",
    ),
    Declaration::new(
        "target.final_checkpoint",
        Kind::Bool,
        Some("true"),
        "Whether the measured part ends with a checkpoint of every data file, so that no configuration leaves work undone.",
    ),
];

impl Engine for Sqlite {
    fn name(&self) -> &'static str {
        "sqlite"
    }

    fn settings(&self) -> &'static [Declaration] {
        SETTINGS
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { embedded: true, schemas: &[SchemaKind::Table], ..Capabilities::default() }
    }

    fn version(&self, _: &[&Configuration]) -> EngineVersion {
        let options = rusqlite::Connection::open_in_memory().and_then(|connection| {
            let mut statement = connection.prepare("PRAGMA compile_options")?;
            statement.query_map([], |row| row.get(0))?.collect()
        });
        EngineVersion { version: rusqlite::version().into(), options: options.unwrap_or_default() }
    }

    fn validate(&self, configuration: &Configuration) -> Vec<Invalid> {
        let mut invalid = pragma::validate(configuration);
        let exclusive = configuration.text("target.settings.locking_mode").eq_ignore_ascii_case("exclusive");
        if exclusive && configuration.integer("workload.connections").unwrap_or(1) > 1 {
            invalid.push(Invalid::new(
                "target.settings.locking_mode",
                "with exclusive locking the first connection keeps every other one out; set workload.connections = 1",
            ));
        }
        let method = InsertMethod::from_name(configuration.text("workload.method"));
        if matches!(method, InsertMethod::Copy | InsertMethod::Procedure) {
            invalid.push(Invalid::new(
                "workload.method",
                "SQLite has neither bulk load nor stored procedures; use \"statements\"",
            ));
        }
        let attached = configuration.text("target.open") == "attached";
        let attached_max = connection::attached_max();
        if attached && configuration.integer("target.data_files").unwrap_or(1) > attached_max + 1 {
            invalid.push(Invalid::new(
                "target.data_files",
                format!(
                    "this build of SQLite attaches at most {attached_max} files; use open = \"separate\""
                ),
            ));
        }
        invalid
    }

    fn wait_types(&self) -> &'static [WaitType] {
        wait_type::WAIT_TYPES
    }

    fn host(&self, place: Place) -> Box<dyn Host> {
        Box::new(SqliteHost(place))
    }
}

/// Nothing is shared between trials but the folders.
struct SqliteHost(Place);

impl Host for SqliteHost {
    fn prepare(
        &mut self,
        configuration: &Configuration,
        cancel: &Cancel,
    ) -> Result<Box<dyn Instance>, EngineError> {
        Ok(Box::new(instance::SqliteInstance::create(configuration, &self.0, cancel)?))
    }
}

/// What SQLite said, as an error of ours.
fn failed(doing: String, error: &rusqlite::Error) -> EngineError {
    if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull) {
        return EngineError::DiskFull { doing };
    }
    EngineError::Engine { doing, message: error.to_string() }
}
