//! Settings of `[target]` for SQLite.

use engine::CacheState;
use engine::setup::{SETUP_DUMP, SETUP_SQL, SETUP_VARIABLES};
use experiment::durability::DURABILITY;
use experiment::{Kind, Value, choice, settings};

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
    pub const SETTINGS = [DURABILITY, SETUP_SQL, SETUP_DUMP, SETUP_VARIABLES];
    /// Number of database files that hold the table, each with its own writer lock, page cache and
    /// log.
    pub DATA_FILES: u32 =
        "target.data_files", Kind::Count { min: 1, max: ATTACHED_MAX + 1 }, "1" => Layout;
    /// Volume (or list of volumes, round robin) for the data files; default: the results
    /// directory's file system.
    pub VOLUME: Vec<String> = "target.volume", Kind::TextList => DataPlace @Trial;
    /// SQLite does not compress: none. The file system can compress its files.
    pub COMPRESSION: Option<String> = "target.compression", Kind::Choice(&["none"]);
    /// How a session opens its data files: one connection per file, or all files attached to one
    /// connection.
    pub OPEN: Open = "target.open", Open::KIND, "separate";
    /// SQLite PRAGMAs: journal_mode, synchronous, page_size, cache_size, mmap_size,
    /// wal_autocheckpoint, locking_mode, temp_store and others. Steelbench reads each one back.
    pub PRAGMAS: Option<Value> = "target.settings.*", Kind::Scalar => @Trial;
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
