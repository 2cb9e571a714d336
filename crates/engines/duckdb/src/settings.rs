//! Settings of `[target]` for DuckDB.

use engine::CacheState;
use engine::setup::{SETUP_DUMP, SETUP_SQL, SETUP_VARIABLES};
use experiment::{Kind, Reach, Setting, Value, settings};

/// Values of `target.compression`; the library reports which of them it has.
pub const METHODS: &[&str] = &[
    "auto",
    "none",
    "bitpacking",
    "rle",
    "dictionary",
    "fsst",
    "dict_fsst",
    "alp",
    "alprd",
    "roaring",
    "zstd",
    "chimp",
    "patas",
];

/// Methods of a column; without one DuckDB chooses.
pub const OF_COLUMNS: &[&str] = match METHODS.split_first() {
    Some((_, methods)) => methods,
    None => METHODS,
};

/// DuckDB settings that reach no file, program or network.
const HARMLESS: &[&str] = &[
    "checkpoint_threshold",
    "default_null_order",
    "default_order",
    "disabled_compression_methods",
    "force_compression",
    "max_memory",
    "max_temp_directory_size",
    "memory_limit",
    "preserve_insertion_order",
    "threads",
    "wal_autocheckpoint",
    "worker_threads",
];

/// Settings of DuckDB itself.
pub const DUCKDB_SETTINGS: Setting<Option<Value>> = Setting::new(
    "target.settings.*",
    Kind::Scalar,
    None,
    "Any DuckDB setting: threads, memory_limit, checkpoint_threshold, force_compression, \
     preserve_insertion_order, ...; Steelbench reads each one back.",
)
.with_reach(Reach::TrialIf(HARMLESS));

settings! {
    pub const SETTINGS = [SETUP_SQL, SETUP_DUMP, SETUP_VARIABLES, DUCKDB_SETTINGS];
    /// The library libduckdb: a path, or a name for the dynamic loader. Default:
    /// STEELBENCH_DUCKDB_LIB, else libduckdb.so on the loader's path. To compare versions, give
    /// several paths as levels.
    pub LIBRARY: Option<String> = "target.library", Kind::Text => Engine;
    /// Number of data files; DuckDB keeps a database in one file: 1.
    pub DATA_FILES: u32 = "target.data_files", Kind::Count { min: 1, max: 1024 }, "1" => Layout;
    /// Volume for the database file, its log and temporary files; default: the results directory's
    /// file system.
    pub VOLUME: Vec<String> = "target.volume", Kind::TextList => DataPlace @Trial;
    /// Compression of columns: none, auto (DuckDB chooses; its default), or a method. The method
    /// applies to columns whose type it supports; DuckDB chooses for others. Read back from the
    /// loaded table.
    pub COMPRESSION: Option<String> = "target.compression", Kind::Choice(METHODS);
    /// Compression of one column, by its name: target.column_compression.l_comment = "zstd". Read
    /// back.
    pub COLUMN_COMPRESSION: Option<String> =
        "target.column_compression.*", Kind::Choice(OF_COLUMNS);
    /// State of the caches at the start of the measurement: cold (database reopened, its file not
    /// in memory), warm (as loading left them), hot (the whole file in the page cache). Steelbench
    /// establishes and verifies it.
    pub CACHE: CacheState = "target.cache", CacheState::KIND, "warm" => Cache;
    /// End the measurement with a checkpoint, so that no configuration defers its writes.
    pub FINAL_CHECKPOINT: bool = "target.final_checkpoint", Kind::Bool, "true" => Durability;
    /// Sampling rate for session waits.
    pub SAMPLE_RATE: f64 = "target.sample_rate", Kind::Rate, "100/s";
}
