use engine::WaitType;
use observations::WaitClass;

/// Table of wait types, with the events that count instrumented calls and their positions.
macro_rules! wait_types {
    ($($event:ident = $name:literal, $class:ident, $meaning:literal;)*) => {
        /// A wait type by its place in [`WAIT_TYPES`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(usize)]
        pub enum Event { $($event),* }

        impl Event {
            /// Number of wait types.
            pub const COUNT: usize = WAIT_TYPES.len();
        }

        /// All wait types in the order of [`Event`].
        pub const WAIT_TYPES: &[WaitType] =
            &[$(WaitType::new($name, WaitClass::$class, $meaning)),*];
    };
}

wait_types! {
    DataRead = "DATA_READ", DataRead, "reading a page of a data file";
    DataWrite = "DATA_WRITE", DataWrite, "writing a page of a data file (in WAL mode: during a \
                                          checkpoint)";
    DataSync = "DATA_SYNC", DataWrite, "syncing a data file";
    DataTruncate = "DATA_TRUNCATE", DataWrite, "growing or shrinking a data file";
    WalRead = "WAL_READ", Log, "reading a page from the write-ahead log";
    WalWrite = "WAL_WRITE", Log, "writing to the write-ahead log";
    WalSync = "WAL_SYNC", Log, "syncing the write-ahead log";
    WalTruncate = "WAL_TRUNCATE", Log, "truncating the write-ahead log";
    JournalRead = "JOURNAL_READ", Log, "reading a rollback journal";
    JournalWrite = "JOURNAL_WRITE", Log, "writing a rollback journal";
    JournalSync = "JOURNAL_SYNC", Log, "syncing a rollback journal";
    JournalTruncate = "JOURNAL_TRUNCATE", Log, "ending a rollback journal by truncating it";
    TempRead = "TEMP_READ", DataRead, "reading a temporary file";
    TempWrite = "TEMP_WRITE", DataWrite, "writing, syncing or truncating a temporary file";
    FileOpen = "FILE_OPEN", Other, "opening, closing, deleting or looking up a file";
    FileLock = "FILE_LOCK", Latch, "in a lock call on a data file";
    ShmLock = "SHM_LOCK", Latch, "in a lock call on the shared WAL index";
    ShmMap = "SHM_MAP", Latch, "mapping or growing the shared WAL index";
    WriterLock = "WRITER_LOCK", Lock, "waiting for another connection that is writing to the \
                                       same data file";
    SharedLock = "SHARED_LOCK", Lock, "reader waiting for a committing writer";
    ExclusiveLock = "EXCLUSIVE_LOCK", Lock, "committing writer waiting for readers";
    CheckpointLock = "CHECKPOINT_LOCK", Checkpoint,
        "waiting for another connection that is checkpointing the same data file";
    Sleep = "SLEEP", Other, "sleeping in SQLite for another reason";
}

#[cfg(test)]
mod tests {
    use super::{Event, WAIT_TYPES};

    #[test]
    fn the_table_has_the_order_of_the_types() {
        for (event, name) in [
            (Event::DataRead, "DATA_READ"),
            (Event::WalSync, "WAL_SYNC"),
            (Event::FileOpen, "FILE_OPEN"),
            (Event::WriterLock, "WRITER_LOCK"),
            (Event::Sleep, "SLEEP"),
        ] {
            assert_eq!(WAIT_TYPES[event as usize].name, name);
        }
        assert_eq!(WAIT_TYPES.len(), Event::COUNT);
    }
}
