use observations::WaitClass;

/// What a session of the SQLite engine can wait for, and what an instrumented call is counted as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum WaitType {
    DataRead,
    DataWrite,
    DataSync,
    DataTruncate,
    WalRead,
    WalWrite,
    WalSync,
    WalTruncate,
    JournalRead,
    JournalWrite,
    JournalSync,
    JournalTruncate,
    TempRead,
    TempWrite,
    FileOpen,
    FileLock,
    ShmLock,
    ShmMap,
    WriterLock,
    SharedLock,
    ExclusiveLock,
    CheckpointLock,
    Sleep,
}

/// Name, class and meaning of a wait type.
#[derive(Debug, Clone, Copy)]
pub struct WaitTypeInfo {
    /// The name in tables.
    pub name: &'static str,
    /// Our class.
    pub class: WaitClass,
    /// One line for people.
    pub meaning: &'static str,
}

/// All wait types in the order of [`WaitType`].
pub const WAIT_TYPES: [WaitTypeInfo; WaitType::COUNT] = [
    info("DATA_READ", WaitClass::DataRead, "reading a page of a data file"),
    info(
        "DATA_WRITE",
        WaitClass::DataWrite,
        "writing a page of a data file (with a WAL: a checkpoint does so)",
    ),
    info("DATA_SYNC", WaitClass::DataWrite, "making a data file durable"),
    info("DATA_TRUNCATE", WaitClass::DataWrite, "growing or shrinking a data file"),
    info("WAL_READ", WaitClass::Log, "reading a page back from the write-ahead log"),
    info("WAL_WRITE", WaitClass::Log, "writing to the write-ahead log"),
    info("WAL_SYNC", WaitClass::Log, "making the write-ahead log durable"),
    info("WAL_TRUNCATE", WaitClass::Log, "shrinking the write-ahead log"),
    info("JOURNAL_READ", WaitClass::Log, "reading a rollback journal"),
    info("JOURNAL_WRITE", WaitClass::Log, "writing a rollback journal"),
    info("JOURNAL_SYNC", WaitClass::Log, "making a rollback journal durable"),
    info("JOURNAL_TRUNCATE", WaitClass::Log, "ending a rollback journal by truncating it"),
    info("TEMP_READ", WaitClass::DataRead, "reading a temporary file"),
    info("TEMP_WRITE", WaitClass::DataWrite, "writing, syncing or truncating a temporary file"),
    info("FILE_OPEN", WaitClass::Other, "opening, closing, deleting or looking for a file"),
    info("FILE_LOCK", WaitClass::Latch, "the lock call on a data file itself"),
    info("SHM_LOCK", WaitClass::Latch, "the lock call on the shared WAL index itself"),
    info("SHM_MAP", WaitClass::Latch, "mapping or growing the shared WAL index"),
    info("WRITER_LOCK", WaitClass::Lock, "another connection is writing to the same data file"),
    info("SHARED_LOCK", WaitClass::Lock, "a reader waits for a writer that is committing"),
    info("EXCLUSIVE_LOCK", WaitClass::Lock, "a committing writer waits for readers"),
    info("CHECKPOINT_LOCK", WaitClass::Checkpoint, "another connection is checkpointing the same data file"),
    info("SLEEP", WaitClass::Other, "SQLite slept for a reason of its own"),
];

const fn info(name: &'static str, class: WaitClass, meaning: &'static str) -> WaitTypeInfo {
    WaitTypeInfo { name, class, meaning }
}

impl WaitType {
    /// Number of wait types.
    pub const COUNT: usize = Self::Sleep as usize + 1;
}

#[cfg(test)]
mod tests {
    use super::{WAIT_TYPES, WaitType};

    #[test]
    fn every_wait_type_is_documented() {
        let text = include_str!("../../../../docs/wait-types.md");
        for info in &WAIT_TYPES {
            let row = format!("| `{}` | {} | {} |", info.name, info.class, info.meaning);
            assert!(text.contains(&row), "docs/wait-types.md lacks: {row}");
        }
    }

    #[test]
    fn the_table_has_the_order_of_the_types() {
        for (wait_type, name) in [
            (WaitType::DataRead, "DATA_READ"),
            (WaitType::WalSync, "WAL_SYNC"),
            (WaitType::FileOpen, "FILE_OPEN"),
            (WaitType::WriterLock, "WRITER_LOCK"),
            (WaitType::Sleep, "SLEEP"),
        ] {
            assert_eq!(WAIT_TYPES[wait_type as usize].name, name);
        }
    }
}
