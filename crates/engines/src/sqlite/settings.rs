//! What `[target]` can say of SQLite.

use crate::CacheState;
use experiment::{Kind, Value, choice, settings};

/// Attached files that SQLite can hold at most, however it was built; `main` comes on top.
const ATTACHED_MAX: i64 = 125;

choice! {
    /// How a session opens its data files.
    pub enum Open {
        /// Each by a connection of its own.
        Separate = "separate",
        /// All attached to one connection.
        Attached = "attached",
    }
}

settings! {
    pub const SETTINGS = [];
    /// Number of database files that the table is spread over, each with its own writer lock, page cache and log.
    pub DATA_FILES: u32 = "target.data_files", Kind::Count { min: 1, max: ATTACHED_MAX + 1 }, "1";
    /// Volume (or list of volumes, round robin) that the data files are put on; the default is the results directory's
    /// file system.
    pub VOLUME: Vec<String> = "target.volume", Kind::TextList;
    /// How a session opens its data files: each by a connection of its own, or all attached to one connection.
    pub OPEN: Open = "target.open", Open::KIND, "separate";
    /// SQLite PRAGMAs: journal_mode, synchronous, page_size, cache_size, mmap_size, wal_autocheckpoint, locking_mode,
    /// temp_store and others; each is read back.
    pub PRAGMAS: Option<Value> = "target.settings.*", Kind::Scalar;
    /// How long a session waits for a lock before its transaction fails.
    pub BUSY_TIMEOUT: f64 = "target.busy_timeout", Kind::Duration, "60 s";
    /// Data files are allocated in pieces of this size, the first one before anything is measured; 0: page by page. A
    /// piece larger than the data makes a pre-sized file.
    pub FILE_GROWTH: u64 = "target.file_growth", Kind::Size { min: 0, max: 1 << 40 }, "0";
    /// State of the operating system's page cache for the data files when measuring begins: cold (nothing in memory),
    /// warm (as loading left it), hot (all in memory). Made so and verified.
    pub CACHE: CacheState = "target.cache", CacheState::KIND, "warm";
    /// Whether the measurement ends with a checkpoint of every data file, so that no configuration leaves work undone.
    pub FINAL_CHECKPOINT: bool = "target.final_checkpoint", Kind::Bool, "true";
}
