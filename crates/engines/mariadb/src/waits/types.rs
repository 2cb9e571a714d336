//! MariaDB's wait types: the events that its Performance Schema counts, and what it does not.

use engine::WaitType;
use observations::WaitClass::{
    self, Client, CpuQueue, DataRead, DataWrite, Latch, Lock, Log, Other,
};

/// Runnable, waiting for a processor.
pub const CPU_QUEUE: &str = "CPU_QUEUE";
/// A row lock of `InnoDB`, which has no event.
pub const ROW_LOCK: &str = "ROW_LOCK";
/// The redo log, which has no event either.
pub const REDO_LOG: &str = "REDO_LOG";

const fn wait(name: &'static str, class: WaitClass, meaning: &'static str) -> WaitType {
    WaitType::new(name, class, meaning)
}

/// Nothing was asked of the session.
pub const IDLE: &str = "idle";
/// The states of a session that commits, in the process lists of MariaDB and of MySQL.
pub const COMMITTING: [&str; 2] = ["Commit", "waiting for handler commit"];

/// What a session waits for by its state in the process list; `None`: it works, or waits for
/// something that the list does not tell.
pub fn of_state(state: &str) -> Option<&'static WaitType> {
    WaitType::find(WAIT_TYPES, state).filter(|_| !state.is_empty())
}

/// Names of events begin with `wait/`; those behind them are states of the process list, for what
/// is not instrumented (<https://mariadb.com/kb/en/general-thread-states/>).
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
    wait(
        "wait/io/file/innodb/innodb_temp_file",
        DataWrite,
        "reading or writing a temporary file of InnoDB",
    ),
    wait(
        "wait/io/file/innodb/innodb_dblwr_file",
        DataWrite,
        "writing pages to MySQL's doublewrite file",
    ),
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
    wait(
        "wait/synch/cond/sql/*COND_queue_busy",
        Log,
        "waiting until the group before had committed",
    ),
    wait(
        "wait/synch/cond/sql/MYSQL_BIN_LOG::*",
        Log,
        "waiting until its group had committed, as MySQL calls it",
    ),
    wait(
        "wait/synch/mutex/sql/MYSQL_BIN_LOG::*",
        Log,
        "waiting for its turn in the binary log, as MySQL calls it",
    ),
    wait(
        "wait/synch/cond/sql/MDL_context*",
        Lock,
        "waiting for a metadata lock, such as that of a table whose definition changes",
    ),
    wait("wait/lock/metadata/*", Lock, "waiting for a metadata lock"),
    wait(
        "wait/synch/*",
        Latch,
        "waiting for a mutex, a condition or a read-write lock of the server",
    ),
    wait("wait/*", Other, "in another instrumented wait"),
    wait(
        "Commit",
        Log,
        "committing: writing the binary log and the redo log, or waiting until they were durable",
    ),
    wait("waiting for handler commit", Log, "committing, as MySQL calls it"),
    wait("Waiting for*ACK*", Log, "committing, until a replica had acknowledged it"),
    wait("Waiting for*lock", Lock, "waiting for a lock of the kind that the name says"),
    wait("User lock", Lock, "waiting for a lock of GET_LOCK()"),
    wait("Waiting for*", Other, "waiting for what the name says"),
    wait("Reading from net", Client, "receiving from its client"),
    wait("Receiving from client", Client, "receiving from its client, as MySQL calls it"),
    wait("Writing to net", Client, "sending to its client"),
    wait("Sending to client", Client, "sending to its client, as MySQL calls it"),
    wait("User sleep", Client, "sleeping because a statement called SLEEP()"),
];
