//! DuckDB, embedded: libduckdb is found and loaded when a trial needs it.
//!
//! - `find`: which library; `library`: its C interface, and all that is unsafe
//! - `settings`: `target.settings`, given and read back; `compression`: how columns are compressed,
//!   likewise
//! - `host`, `instance`: the database file of a trial; `bulk`: rows into it by DuckDB's appender
//! - `session`: a connection of the load; `interrupt`: how its statements are stopped
//! - `dialect`: how tables and operations are written; `explain`: their plans, and profiles by
//!   operator
//! - `optimizer`: its alternatives, and the plan of a run
//! - `setup`: tables of one's own, made once
//! - `export`: rows of a user's table as a Parquet file; `backups`: all tables beside a load
//! - `stored`: how tables lie column by column, as tables and as Parquet files
//! - `waits`: what sessions wait for; `threads`: what DuckDB's own threads have used
//!
//! There is one database in one file. Each load thread has a connection to it; DuckDB's worker
//! threads serve them all.

mod backups;
mod bulk;
mod compression;
mod dialect;
mod explain;
mod export;
mod find;
mod host;
mod instance;
mod interrupt;
mod library;
mod load;
mod optimizer;
mod session;
mod settings;
mod setup;
mod stored;
mod threads;
mod waits;

pub use dialect::DuckDbDialect;
use engine::setup::{SETUP_DUMP, SETUP_SQL, SETUP_VARIABLES, Setup};
use engine::{
    Ability, CacheState, Engine, EngineError, Folders, Host, Need, Optimizer, Preflight,
    RetryCause, Space, WaitType,
};
use engine::{ColumnMethods, DatabaseFiles, Prerequisites};
use experiment::{Configuration, Declaration, ExampleLevels, Invalid, Kind, Value, settings};
use host::DuckDbHost;
use library::DuckDbError;
use observations::EngineVersion;
use work::{Stop, Table};

settings! {
    const SETTINGS = [SETUP_SQL, SETUP_DUMP, SETUP_VARIABLES];
    /// The library libduckdb: a path, or a name for the dynamic loader. Default:
    /// STEELBENCH_DUCKDB_LIB, else libduckdb.so on the loader's path. To compare versions, give
    /// several paths as levels.
    pub LIBRARY: Option<String> = "target.library", Kind::Text => Engine;
    /// Number of data files; DuckDB keeps a database in one file: 1.
    pub DATA_FILES: u32 = "target.data_files", Kind::Count { min: 1, max: 1024 }, "1" => Layout;
    /// Volume for the database file, its log and temporary files; default: the results directory's
    /// file system.
    pub VOLUME: Vec<String> = "target.volume", Kind::TextList => DataPlace;
    /// Any DuckDB setting: threads, memory_limit, checkpoint_threshold, force_compression,
    /// preserve_insertion_order, ...; Steelbench reads each one back.
    pub DUCKDB_SETTINGS: Option<Value> = "target.settings.*", Kind::Scalar;
    /// Compression of columns: none, auto (DuckDB chooses; its default), or a method. The method
    /// applies to columns whose type it supports; DuckDB chooses for others. Read back from the
    /// loaded table.
    pub COMPRESSION: Option<String> = "target.compression", Kind::Choice(compression::METHODS);
    /// Compression of one column, by its name: target.column_compression.l_comment = "zstd". Read
    /// back.
    pub COLUMN_COMPRESSION: Option<String> =
        "target.column_compression.*", Kind::Choice(compression::OF_COLUMNS);
    /// State of the caches at the start of the measurement: cold (database reopened, its file not
    /// in memory), warm (as loading left them), hot (the whole file in the page cache). Steelbench
    /// establishes and verifies it.
    pub CACHE: CacheState = "target.cache", CacheState::KIND, "warm" => Cache;
    /// End the measurement with a checkpoint, so that no configuration defers its writes.
    pub FINAL_CHECKPOINT: bool = "target.final_checkpoint", Kind::Bool, "true" => Durability;
    /// Sampling rate for session waits.
    pub SAMPLE_RATE: f64 = "target.sample_rate", Kind::Rate, "100/s";
}

/// Bytes of rows for each byte in the file, at most: what needs more space than this leaves does
/// not fit. TPC-H's LINEITEM has about 4.
const COMPRESSION_MAX: u64 = 10;

/// The embedded column store, from version 1.2 up.
#[derive(Debug, Clone, Copy)]
pub struct DuckDb;

impl Engine for DuckDb {
    fn name(&self) -> &'static str {
        "duckdb"
    }

    fn settings(&self) -> &'static [Declaration] {
        SETTINGS
    }

    fn example_levels(&self) -> Option<ExampleLevels> {
        Some(ExampleLevels { path: "workload.connections", levels: [1, 2, 4] })
    }

    fn database_files(&self) -> Option<&dyn DatabaseFiles> {
        Some(self)
    }

    fn abilities(&self) -> &'static [Ability] {
        &[
            Ability::Embedded,
            Ability::Tables,
            Ability::Statements,
            Ability::BulkLoad,
            Ability::Parallel,
            Ability::Columns,
            Ability::TimeLimits,
        ]
    }

    fn version(&self, configurations: &[&Configuration], _: &Stop) -> EngineVersion {
        let mut asked: Vec<Option<String>> = Vec::new();
        for configuration in configurations {
            let wanted = configuration.get(LIBRARY);
            if !asked.contains(&wanted) {
                asked.push(wanted);
            }
        }
        let found = asked.iter().map(|wanted| match find::library(wanted.as_deref()) {
            Ok((name, library)) => (library.version.clone(), name.to_string_lossy().into_owned()),
            Err(error) => ("none".into(), error.to_string()),
        });
        let (versions, options): (Vec<String>, Vec<String>) = found.unzip();
        EngineVersion { version: versions.join(", "), options }
    }

    fn validate(&self, configuration: &Configuration, _: u32) -> Vec<Invalid> {
        let mut invalid = settings::validate(configuration);
        invalid.extend(Setup::validate(configuration));
        if configuration.get(DATA_FILES) > 1 {
            let message = "DuckDB keeps a database in one file; set target.data_files = 1";
            invalid.push(Invalid::new(DATA_FILES.path(), message));
        }
        if configuration.get(VOLUME).len() > 1 {
            let message = "DuckDB keeps a database in one file; give one volume";
            invalid.push(Invalid::new(VOLUME.path(), message));
        }
        let library = configuration.get(LIBRARY);
        if let Some(objection) = library.as_deref().and_then(find::objection) {
            invalid.push(Invalid::new(LIBRARY.path(), objection));
        }
        invalid
    }

    fn background(&self) -> Option<&'static engine::Background> {
        Some(&backups::BACKGROUND)
    }

    fn wait_types(&self) -> &'static [WaitType] {
        waits::WAIT_TYPES
    }

    fn host(&self, folders: Folders) -> Box<dyn Host> {
        Box::new(DuckDbHost(folders))
    }

    fn prerequisites(&self) -> Option<&dyn Prerequisites> {
        Some(self)
    }

    fn column_methods(&self) -> Option<&dyn ColumnMethods> {
        Some(self)
    }

    fn optimizer(&self) -> Option<&'static Optimizer> {
        Some(&optimizer::OPTIMIZER)
    }
}

impl Prerequisites for DuckDb {
    fn missing(&self, configuration: &Configuration) -> Option<String> {
        let found = find::library(configuration.get(LIBRARY).as_deref());
        found.err().map(|error| format!("{} is not installed: {error}", self.name()))
    }

    fn preflight(&self, needs: &[Need<'_>], folders: &Folders, _: &Stop) -> Preflight {
        let mut found = Preflight::default();
        for need in needs {
            match find::library(need.configuration.get(LIBRARY).as_deref()) {
                Ok((_, library)) => {
                    found.invalid.extend(compression::refused(need.configuration, library));
                    found.invalid.extend(settings::refused(need.configuration, library));
                }
                Err(error) => found.misses(error.to_string()),
            }
            let rows = need.of_rows(&need.configuration.get(VOLUME), folders);
            found.needs(
                rows.into_iter().map(|rows| Space { bytes: rows.bytes / COMPRESSION_MAX, ..rows }),
            );
        }
        found
    }
}

impl ColumnMethods for DuckDb {
    fn validate_tables(&self, configuration: &Configuration, tables: &[Table]) -> Vec<Invalid> {
        engine::compression::validate_columns(configuration, tables, |_| None)
    }
}

/// Converts a DuckDB error. Its message starts with the kind of the error.
fn failed(doing: impl Into<String>) -> impl FnOnce(DuckDbError) -> EngineError {
    move |error| {
        let (message, doing) = (error.to_string(), doing.into());
        if ["No space left on device", "Disk quota exceeded"]
            .iter()
            .any(|full| message.contains(full))
        {
            return EngineError::DiskFull { doing };
        }
        if message.starts_with("INTERRUPT Error") {
            return EngineError::Cancelled;
        }
        // "Conflict on update!", "Catalog write-write conflict on ...".
        if message.starts_with("TransactionContext Error")
            && message.to_lowercase().contains("conflict")
        {
            return EngineError::Retry { doing, message, cause: RetryCause::Conflict };
        }
        if message.starts_with("Constraint Error") {
            return EngineError::Violation { doing, message };
        }
        EngineError::Engine { doing, message }
    }
}
