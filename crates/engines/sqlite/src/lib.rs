//! SQLite, embedded: nothing to install, nothing to start.
//!
//! `data_files = N` spreads the table over N database files, each with its own writer lock, page
//! cache and log. The sessions are the load threads themselves.

mod backup_tools;
mod backups;
mod connection;
mod database_files;
mod dialect;
mod explain;
mod instance;
mod optimizer;
mod plan_steps;
mod pragma;
mod queries;
mod recorder;
mod sample;
mod session;
mod setup;
mod statement_rules;
mod vfs;
mod wait_type;

pub use database_files::SqliteFiles;
pub use dialect::SqliteDialect;
use engine::WaitType;
use engine::setup::{SETUP_DUMP, SETUP_SQL, SETUP_VARIABLES, Setup};
use engine::{Ability, CacheState, Engine, EngineError, Folders, Host};
use engine::{DatabaseFiles, FileQueries, Prerequisites, SettingsForm};
use experiment::durability::DURABILITY;
use experiment::{Configuration, Declaration, DurabilityRule, Invalid, Kind, Value};
use experiment::{choice, settings};
use instance::SqliteHost;
use observations::EngineVersion;
use statements::Rules;
use work::Stop;

/// Attached files that SQLite can hold at most, however it was built; `main` comes on top.
const ATTACHED_MAX: i64 = 125;

choice! {
    /// The mode in which a session opens its data files.
    pub enum Open {
        /// Each by a connection of its own.
        Separate = "separate",
        /// All attached to one connection.
        Attached = "attached",
    }
}

settings! {
    const SETTINGS = [DURABILITY, SETUP_SQL, SETUP_DUMP, SETUP_VARIABLES];
    /// Number of database files that hold the table, each with its own writer lock, page cache and
    /// log.
    pub DATA_FILES: u32 =
        "target.data_files", Kind::Count { min: 1, max: ATTACHED_MAX + 1 }, "1" => Layout;
    /// Volume (or list of volumes, round robin) for the data files; default: the results
    /// directory's file system.
    pub VOLUME: Vec<String> = "target.volume", Kind::TextList => DataPlace;
    /// SQLite does not compress: none. The file system can compress its files.
    pub COMPRESSION: Option<String> = "target.compression", Kind::Choice(&["none"]);
    /// How a session opens its data files: one connection per file, or all files attached to one
    /// connection.
    pub OPEN: Open = "target.open", Open::KIND, "separate";
    /// SQLite PRAGMAs: journal_mode, synchronous, page_size, cache_size, mmap_size,
    /// wal_autocheckpoint, locking_mode, temp_store and others. Steelbench reads each one back.
    pub PRAGMAS: Option<Value> = "target.settings.*", Kind::Scalar;
    /// The time that a session waits for a lock before its transaction fails.
    pub BUSY_TIMEOUT: f64 = "target.busy_timeout", Kind::Duration, "60 s";
    /// Allocation unit of data files; Steelbench allocates the first unit before the measurement.
    /// 0: page by page. A unit larger than the data makes a pre-sized file.
    pub FILE_GROWTH: u64 = "target.file_growth", Kind::Size { min: 0, max: 1 << 40 }, "0";
    /// State of the page cache for the data files at the start of the measurement: cold (nothing in
    /// memory), warm (as loading left it), hot (all in memory). Steelbench establishes and verifies
    /// it.
    pub CACHE: CacheState = "target.cache", CacheState::KIND, "warm" => Cache;
    /// End the measurement with a checkpoint of every data file, so that no configuration defers
    /// its writes.
    pub FINAL_CHECKPOINT: bool = "target.final_checkpoint", Kind::Bool, "true" => Durability;
}

/// The embedded engine.
#[derive(Debug, Clone, Copy)]
pub struct Sqlite;

impl Engine for Sqlite {
    fn name(&self) -> &'static str {
        "sqlite"
    }

    fn settings(&self) -> &'static [Declaration] {
        SETTINGS
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
        let dump = Setup::from_settings(configuration).and_then(|own| setup::validate(&own));
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

    fn optimizer(&self) -> Option<&'static engine::Optimizer> {
        Some(&optimizer::OPTIMIZER)
    }

    fn background(&self) -> Option<&'static engine::Background> {
        Some(&backup_tools::BACKGROUND)
    }

    fn statement_rules(&self) -> Option<&'static Rules> {
        Some(&statement_rules::RULES)
    }

    fn file_queries(&self) -> Option<&dyn FileQueries> {
        Some(&SqliteFiles)
    }
}

/// Turns an error of SQLite into one of the engine.
fn failed(doing: String, error: &rusqlite::Error) -> EngineError {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DiskFull) => EngineError::DiskFull { doing },
        Some(rusqlite::ErrorCode::ConstraintViolation) => {
            EngineError::Violation { doing, message: error.to_string() }
        }
        _ => EngineError::failed(doing, error.to_string()),
    }
}
