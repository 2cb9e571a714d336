use engine::WaitType;
use observations::WaitClass;

/// What a session can wait for, and what an instrumented call is counted as: the table of wait
/// types, and each one's place in it.
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
    DataWrite = "DATA_WRITE", DataWrite, "writing a page of a data file (with a WAL: a checkpoint \
                                          does so)";
    DataSync = "DATA_SYNC", DataWrite, "making a data file durable";
    DataTruncate = "DATA_TRUNCATE", DataWrite, "growing or shrinking a data file";
    WalRead = "WAL_READ", Log, "reading a page back from the write-ahead log";
    WalWrite = "WAL_WRITE", Log, "writing to the write-ahead log";
    WalSync = "WAL_SYNC", Log, "making the write-ahead log durable";
    WalTruncate = "WAL_TRUNCATE", Log, "shrinking the write-ahead log";
    JournalRead = "JOURNAL_READ", Log, "reading a rollback journal";
    JournalWrite = "JOURNAL_WRITE", Log, "writing a rollback journal";
    JournalSync = "JOURNAL_SYNC", Log, "making a rollback journal durable";
    JournalTruncate = "JOURNAL_TRUNCATE", Log, "ending a rollback journal by truncating it";
    TempRead = "TEMP_READ", DataRead, "reading a temporary file";
    TempWrite = "TEMP_WRITE", DataWrite, "writing, syncing or truncating a temporary file";
    FileOpen = "FILE_OPEN", Other, "opening, closing, deleting or looking for a file";
    FileLock = "FILE_LOCK", Latch, "in the lock call on a data file itself";
    ShmLock = "SHM_LOCK", Latch, "in the lock call on the shared WAL index itself";
    ShmMap = "SHM_MAP", Latch, "mapping or growing the shared WAL index";
    WriterLock = "WRITER_LOCK", Lock, "waiting for another connection that writes to the same \
                                       data file";
    SharedLock = "SHARED_LOCK", Lock, "a reader, waiting for a writer that is committing";
    ExclusiveLock = "EXCLUSIVE_LOCK", Lock, "a committing writer, waiting for readers";
    CheckpointLock = "CHECKPOINT_LOCK", Checkpoint,
        "waiting for another connection that checkpoints the same data file";
    Sleep = "SLEEP", Other, "asleep for another reason of SQLite";
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
