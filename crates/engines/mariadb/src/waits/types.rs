//! MariaDB's wait types: the events that its Performance Schema counts, and what it does not.

use engine::WaitType;
use observations::WaitClass::{
    self, Client, CpuQueue, DataRead, DataWrite, Latch, Lock, Log, Other,
};
use observations::wait_type::CPU_QUEUE;

/// A row lock of `InnoDB`, which has no event.
pub const ROW_LOCK: &str = "ROW_LOCK";
/// The redo log, which has no event either.
pub(crate) const REDO_LOG: &str = "REDO_LOG";

const fn wait(name: &'static str, class: WaitClass, meaning: &'static str) -> WaitType {
    WaitType::new(name, class, meaning)
}

/// Nothing was asked of the session.
pub const IDLE: &str = "idle";
/// The states of a session that commits, in the process lists of MariaDB and of MySQL.
pub(crate) const COMMITTING: [&str; 2] = ["Commit", "waiting for handler commit"];

/// Returns the wait of a state in the process list; `None`: the session works, or its wait is not
/// visible there.
pub fn of_state(state: &str) -> Option<&'static WaitType> {
    WaitType::find(WAIT_TYPES, state).filter(|_| !state.is_empty())
}

/// Names of events begin with `wait/`; those behind them are states of the process list, for what
/// is not instrumented (<https://mariadb.com/kb/en/general-thread-states/>).
pub const WAIT_TYPES: &[WaitType] = &[
    wait(CPU_QUEUE, CpuQueue, "runnable, waiting for a CPU"),
    wait(ROW_LOCK, Lock, "waiting for an InnoDB row lock"),
    wait(REDO_LOG, Log, "committing: waiting until InnoDB's redo log is written and durable"),
    wait("idle", Client, "waiting for the client's next statement"),
    wait("wait/io/socket/*", Client, "receiving from the client or sending to it"),
    wait(
        "wait/io/file/innodb/innodb_data_file",
        DataRead,
        "reading a data page, or writing one to free a buffer",
    ),
    wait("wait/io/file/innodb/innodb_log_file", Log, "writing or syncing the redo log"),
    wait(
        "wait/io/file/innodb/innodb_temp_file",
        DataWrite,
        "reading or writing an InnoDB temporary file",
    ),
    wait(
        "wait/io/file/innodb/innodb_dblwr_file",
        DataWrite,
        "writing pages to MySQL's doublewrite file",
    ),
    wait("wait/io/file/sql/binlog*", Log, "writing or syncing the binary log"),
    wait("wait/io/file/*", Other, "in another file operation"),
    wait("wait/synch/mutex/sql/*LOCK_log", Log, "waiting for its turn to write the binary log"),
    wait(
        "wait/synch/mutex/sql/*LOCK_commit_ordered",
        Log,
        "waiting for its turn to commit in binary log order",
    ),
    wait(
        "wait/synch/cond/sql/*COND_wakeup_ready",
        Log,
        "waiting for its group's leader to write the binary log",
    ),
    wait("wait/synch/cond/sql/*COND_queue_busy", Log, "waiting for the previous group to commit"),
    wait("wait/synch/cond/sql/MYSQL_BIN_LOG::*", Log, "waiting for its group to commit (MySQL)"),
    wait(
        "wait/synch/mutex/sql/MYSQL_BIN_LOG::*",
        Log,
        "waiting for its turn in the binary log (MySQL)",
    ),
    wait(
        "wait/synch/cond/sql/MDL_context*",
        Lock,
        "waiting for a metadata lock, for example during ALTER TABLE",
    ),
    wait("wait/lock/metadata/*", Lock, "waiting for a metadata lock"),
    wait(
        "wait/synch/cond/sql/Item_func_sleep*",
        Client,
        "sleeping because a statement called SLEEP()",
    ),
    wait("wait/synch/*", Latch, "waiting for a mutex, condition or read-write lock of the server"),
    wait("wait/*", Other, "in another instrumented wait"),
    wait(
        "Commit",
        Log,
        "committing: writing the binary log and the redo log, or waiting until they are durable",
    ),
    wait("waiting for handler commit", Log, "committing (MySQL)"),
    wait("Waiting for*ACK*", Log, "committing: waiting for a replica to acknowledge"),
    wait("Waiting for*lock", Lock, "waiting for the named kind of lock"),
    wait("User lock", Lock, "waiting for a lock taken with GET_LOCK()"),
    wait("Waiting for*", Other, "waiting for the named resource"),
    wait("Reading from net", Client, "receiving from the client"),
    wait("Receiving from client", Client, "receiving from the client (MySQL)"),
    wait("Writing to net", Client, "sending to the client"),
    wait("Sending to client", Client, "sending to the client (MySQL)"),
    wait("User sleep", Client, "sleeping because a statement called SLEEP()"),
];
