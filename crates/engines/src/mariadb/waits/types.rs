//! MariaDB's wait types: the events that its Performance Schema counts, and what it does not.

use crate::WaitType;
use observations::WaitClass::{self, Client, CpuQueue, DataRead, DataWrite, Latch, Lock, Log, Other};

/// Runnable, waiting for a processor.
pub const CPU_QUEUE: &str = "CPU_QUEUE";
/// A row lock of `InnoDB`, which has no event.
pub const ROW_LOCK: &str = "ROW_LOCK";
/// The redo log, which has no event either.
pub const REDO_LOG: &str = "REDO_LOG";

const fn wait(name: &'static str, class: WaitClass, meaning: &'static str) -> WaitType {
    WaitType::new(name, class, meaning)
}

pub const WAIT_TYPES: &[WaitType] = &[
    wait(CPU_QUEUE, CpuQueue, "runnable, waiting for a processor"),
    wait(ROW_LOCK, Lock, "waiting for a row lock of InnoDB"),
    wait(REDO_LOG, Log, "committing, until InnoDB's redo log was written and durable"),
    wait("idle", Client, "waiting for the next statement of its client"),
    wait("wait/io/socket/*", Client, "receiving from its client or sending to it"),
    wait(
        "wait/io/file/innodb/innodb_data_file",
        DataRead,
        "reading a page of a data file, or writing one to make room",
    ),
    wait("wait/io/file/innodb/innodb_log_file", Log, "writing the redo log or making it durable"),
    wait("wait/io/file/innodb/innodb_temp_file", DataWrite, "reading or writing a temporary file of InnoDB"),
    wait("wait/io/file/sql/binlog*", Log, "writing the binary log or making it durable"),
    wait("wait/io/file/*", Other, "in another file operation"),
    wait("wait/synch/mutex/sql/*LOCK_log", Log, "waiting for its turn to write the binary log"),
    wait(
        "wait/synch/mutex/sql/*LOCK_commit_ordered",
        Log,
        "waiting for its turn to commit in the order of the binary log",
    ),
    wait(
        "wait/synch/cond/sql/*COND_wakeup_ready",
        Log,
        "waiting until the leader of its group had written the binary log for it",
    ),
    wait("wait/synch/cond/sql/*COND_queue_busy", Log, "waiting until the group before had committed"),
    wait(
        "wait/synch/cond/sql/MDL_context*",
        Lock,
        "waiting for a metadata lock, such as that of a table whose definition changes",
    ),
    wait("wait/lock/metadata/*", Lock, "waiting for a metadata lock"),
    wait("wait/synch/*", Latch, "waiting for a mutex, a condition or a read-write lock of the server"),
    wait("wait/*", Other, "in another instrumented wait"),
];
