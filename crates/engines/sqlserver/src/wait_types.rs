//! SQL Server's wait types. The classes follow the documented wait categories of Query Store.

use engine::{BenignGroup, WaitType};
use observations::WaitClass::{
    self, Checkpoint, Client, CpuQueue, DataRead, DataWrite, Idle, Latch, Lock, Log, Other,
};

/// The benign wait types are those of the list that Paul Randal maintains at sqlskills.com, as of
/// this date.
pub const BENIGN_VERSION: &str = "2026-03-21";

const BACKGROUND: BenignGroup = group("background", true);
/// Meaningful when availability groups or mirroring are the suspect.
const AVAILABILITY: BenignGroup = group("availability", true);
/// Meaningful when checkpoints are the suspect: the studies of 2010 print `SLEEP_BPOOL_FLUSH`.
const CHECKPOINT: BenignGroup = group("checkpoint", true);
/// A session asked to wait: think time when the load does so.
const REQUESTED: BenignGroup = group("requested", true);
/// Meaningful when parallel plans are the suspect.
const PARALLEL_START: BenignGroup = group("parallel-start", true);
/// Filtered by some derivatives of the list and not by others.
const PARALLELISM: BenignGroup = group("parallelism", false);

const fn group(name: &'static str, is_filtered: bool) -> BenignGroup {
    BenignGroup { name, is_filtered }
}

/// The time in which a session of a load has no request to work on. The server does not count it;
/// we do.
pub const BETWEEN_REQUESTS: &str = "BETWEEN_REQUESTS";

/// Wait types by name, then patterns for all others.
#[rustfmt::skip]
pub const WAIT_TYPES: &[WaitType] = &[
    wait("SOS_SCHEDULER_YIELD", CpuQueue, "used up its quantum, waiting for its next turn on the \
                                           CPU"),
    wait("WRITELOG", Log, "waiting for the log to become durable: the disk's part of a commit"),
    wait("LOGBUFFER", Log, "waiting for space in a log buffer"),
    wait("LOGMGR", Log, "waiting for outstanding log writes before the log is closed"),
    wait("LOGMGR_FLUSH", Log, "waiting for a log flush"),
    wait("LOGMGR_PMM_LOG", Log, "waiting for the log in persistent memory"),
    wait("LOGMGR_RESERVE_APPEND", Log, "waiting for log space to be freed"),
    wait("LOG_RATE_GOVERNOR", Log, "throttled by the log rate limit"),
    wait("WRITE_COMPLETION", DataWrite, "waiting for a data file write to complete"),
    wait("ASYNC_NETWORK_IO", Client, "sending results faster than the client or the network \
                                      accepts them"),
    wait("NET_WAITFOR_PACKET", Client, "waiting for the client's next packet"),
    wait("PROXY_NETWORK_IO", Client, "waiting for a proxy's network"),
    wait(BETWEEN_REQUESTS, Client, "between two requests: the client had none in flight"),
    wait("CXPACKET", Other, "waiting for the other threads of a parallel query"),
    wait("RESOURCE_SEMAPHORE", Other, "waiting for a memory grant to run a query"),
    wait("THREADPOOL", Other, "waiting for a worker thread"),
    benign("CHKPT", Checkpoint, CHECKPOINT, "waiting for the checkpoint task to start"),
    benign("SLEEP_BPOOL_FLUSH", Checkpoint, CHECKPOINT,
        "pausing between checkpoint writes, to throttle the checkpoint's I/O"),
    benign("WAITFOR", Client, REQUESTED, "sleeping because a statement called WAITFOR"),
    benign("WAIT_FOR_RESULTS", Client, REQUESTED, "waiting for the result of a query notification"),
    benign("BROKER_RECEIVE_WAITFOR", Client, REQUESTED, "waiting for a message in RECEIVE WAITFOR"),
    benign("EXECSYNC", Other, PARALLEL_START, "waiting for the single-threaded part of a \
                                               parallel query"),
    benign("CXCONSUMER", Other, PARALLELISM, "waiting for rows from the producer threads of a \
        parallel query"),
    benign("BROKER_EVENTHANDLER", Other, BACKGROUND, "the Service Broker event handler, waiting \
                                                      for events"),
    benign("BROKER_TASK_STOP", Other, BACKGROUND, "waiting for a Service Broker task to stop"),
    benign("BROKER_TO_FLUSH", Other, BACKGROUND, "the Service Broker flusher, waiting for work"),
    benign("BROKER_TRANSMITTER", Other, BACKGROUND, "the Service Broker transmitter, waiting for \
                                                     messages"),
    benign("CHECKPOINT_QUEUE", Idle, BACKGROUND, "the checkpoint task, waiting for the next \
        checkpoint"),
    benign("CLR_AUTO_EVENT", Other, BACKGROUND, "waiting for a synchronization event in CLR code"),
    benign("CLR_MANUAL_EVENT", Other, BACKGROUND, "waiting for a synchronization event in CLR \
        code"),
    benign("CLR_SEMAPHORE", Other, BACKGROUND, "waiting for a semaphore in CLR code"),
    benign("DIRTY_PAGE_POLL", Other, BACKGROUND,
        "the indirect checkpoint task, waiting to check dirty pages again"),
    benign("DISPATCHER_QUEUE_SEMAPHORE", Idle, BACKGROUND, "a dispatcher pool thread, waiting \
                                                            for work"),
    benign("FSAGENT", Other, BACKGROUND, "the FILESTREAM agent, waiting for work"),
    benign("FT_IFTS_SCHEDULER_IDLE_WAIT", Idle, BACKGROUND, "the full-text search scheduler, \
                                                             waiting for work"),
    benign("FT_IFTSHC_MUTEX", Other, BACKGROUND, "full-text search, synchronizing its filter \
        hosts"),
    benign("KSOURCE_WAKEUP", Other, BACKGROUND, "the service control task, waiting for requests"),
    benign("LAZYWRITER_SLEEP", Idle, BACKGROUND, "the lazy writer, pausing between two rounds"),
    benign("LOGMGR_QUEUE", Idle, BACKGROUND, "the log writer, waiting for work"),
    benign("MEMORY_ALLOCATION_EXT", Other, BACKGROUND,
        "allocating memory; counted for each allocation, not only for waits"),
    benign("ONDEMAND_TASK_QUEUE", Idle, BACKGROUND, "a background task, waiting for requests"),
    benign("PREEMPTIVE_OS_FLUSHFILEBUFFERS", Other, BACKGROUND, "asking the operating system to \
        flush a file"),
    benign("PREEMPTIVE_XE_GETTARGETSTATE", Other, BACKGROUND, "reading an Extended Events target"),
    benign("PVS_PREALLOCATE", Other, BACKGROUND, "the task that allocates the persistent version \
        store, pausing"),
    benign("PWAIT_ALL_COMPONENTS_INITIALIZED", Other, BACKGROUND, "waiting for the server to \
        finish starting"),
    benign("PWAIT_DIRECTLOGCONSUMER_GETNEXT", Other, BACKGROUND, "a log consumer, waiting for \
                                                                  new records"),
    benign("PWAIT_EXTENSIBILITY_CLEANUP_TASK", Other, BACKGROUND, "the external scripts cleanup \
                                                                   task, pausing"),
    benign("QDS_PERSIST_TASK_MAIN_LOOP_SLEEP", Other, BACKGROUND, "the Query Store flush task, \
                                                                   pausing"),
    benign("QDS_ASYNC_QUEUE", Other, BACKGROUND, "the asynchronous Query Store task, waiting for \
                                                  work"),
    benign("QDS_CLEANUP_STALE_QUERIES_TASK_MAIN_LOOP_SLEEP", Other, BACKGROUND,
        "the Query Store cleanup task, pausing"),
    benign("QDS_SHUTDOWN_QUEUE", Other, BACKGROUND, "the Query Store, waiting for a database to \
                                                     shut down"),
    benign("REQUEST_FOR_DEADLOCK_SEARCH", Idle, BACKGROUND, "the deadlock monitor, pausing \
        between two searches"),
    benign("RESOURCE_QUEUE", Other, BACKGROUND, "a background task, waiting for a resource in its \
        queue"),
    benign("SERVER_IDLE_CHECK", Idle, BACKGROUND, "checking whether the server is idle"),
    benign("SLEEP_DBSTARTUP", Idle, BACKGROUND, "waiting for databases to start"),
    benign("SLEEP_DCOMSTARTUP", Idle, BACKGROUND, "waiting for DCOM to start"),
    benign("SLEEP_MASTERDBREADY", Idle, BACKGROUND, "waiting for the master database at startup"),
    benign("SLEEP_MASTERMDREADY", Idle, BACKGROUND, "waiting for the master database's metadata \
                                                     at startup"),
    benign("SLEEP_MASTERUPGRADED", Idle, BACKGROUND, "waiting for the master database's upgrade \
                                                      at startup"),
    benign("SLEEP_MSDBSTARTUP", Idle, BACKGROUND, "waiting for the msdb database at startup"),
    benign("SLEEP_SYSTEMTASK", Idle, BACKGROUND, "a system task, waiting for tempdb at startup"),
    benign("SLEEP_TASK", Idle, BACKGROUND, "a background task, pausing"),
    benign("SLEEP_TEMPDBSTARTUP", Idle, BACKGROUND, "waiting for tempdb at startup"),
    benign("SNI_HTTP_ACCEPT", Other, BACKGROUND, "waiting for HTTP connections"),
    benign("SOS_WORK_DISPATCHER", Other, BACKGROUND, "an idle worker thread, waiting for work"),
    benign("SP_SERVER_DIAGNOSTICS_SLEEP", Other, BACKGROUND, "sp_server_diagnostics, pausing \
        between two reports"),
    benign("SQLTRACE_BUFFER_FLUSH", Idle, BACKGROUND, "the SQL Trace writer, pausing"),
    benign("SQLTRACE_INCREMENTAL_FLUSH_SLEEP", Idle, BACKGROUND, "the SQL Trace writer, pausing"),
    benign("SQLTRACE_WAIT_ENTRIES", Idle, BACKGROUND, "the SQL Trace writer, waiting for entries"),
    benign("VDI_CLIENT_OTHER", Other, BACKGROUND, "an automatic seeding thread, waiting for work"),
    benign("WAITFOR_TASKSHUTDOWN", Other, BACKGROUND, "waiting for a background task to shut down"),
    benign("WAIT_XTP_RECOVERY", Other, BACKGROUND, "waiting for memory-optimized tables to \
                                                    recover"),
    benign("WAIT_XTP_HOST_WAIT", Other, BACKGROUND, "the In-Memory OLTP host, waiting for work"),
    benign("WAIT_XTP_OFFLINE_CKPT_NEW_LOG", Other, BACKGROUND,
        "the memory-optimized checkpoint task, waiting for log"),
    benign("WAIT_XTP_CKPT_CLOSE", Other, BACKGROUND,
        "waiting for a memory-optimized checkpoint to complete"),
    benign("XE_BUFFERMGR_ALLPROCESSED_EVENT", Other, BACKGROUND,
        "waiting until Extended Events buffers are processed"),
    benign("XE_DISPATCHER_JOIN", Other, BACKGROUND, "waiting for an Extended Events dispatcher \
                                                     to end"),
    benign("XE_DISPATCHER_WAIT", Idle, BACKGROUND, "the Extended Events dispatcher, waiting for \
                                                    full buffers"),
    benign("XE_LIVE_TARGET_TVF", Other, BACKGROUND, "a live reader of Extended Events, waiting \
                                                     for events"),
    benign("XE_TIMER_EVENT", Idle, BACKGROUND, "the Extended Events timer, waiting for its next \
                                                event"),
    benign("DBMIRROR_DBM_EVENT", Other, AVAILABILITY, "database mirroring, waiting for events"),
    benign("DBMIRROR_EVENTS_QUEUE", Other, AVAILABILITY, "database mirroring, waiting for work"),
    benign("DBMIRROR_WORKER_QUEUE", Other, AVAILABILITY, "a database mirroring worker, waiting \
                                                          for work"),
    benign("DBMIRRORING_CMD", Other, AVAILABILITY, "database mirroring, waiting for log records \
        to be hardened"),
    benign("HADR_CLUSAPI_CALL", Other, AVAILABILITY, "calling the failover cluster's interface"),
    benign("HADR_FILESTREAM_IOMGR_IOCOMPLETION", Other, AVAILABILITY,
        "the availability groups FILESTREAM task, waiting for I/O"),
    benign("HADR_LOGCAPTURE_WAIT", Other, AVAILABILITY, "waiting for log records to send to a \
        replica"),
    benign("HADR_NOTIFICATION_DEQUEUE", Other, AVAILABILITY,
        "an availability groups background task, waiting for notifications"),
    benign("HADR_TIMER_TASK", Other, AVAILABILITY, "the availability groups timer, pausing"),
    benign("HADR_WORK_QUEUE", Other, AVAILABILITY, "an availability groups worker, waiting for \
                                                    work"),
    benign("PARALLEL_REDO_DRAIN_WORKER", Other, AVAILABILITY,
        "waiting for parallel redo workers to finish their queues"),
    benign("PARALLEL_REDO_LOG_CACHE", Other, AVAILABILITY, "parallel redo, waiting for the log \
        cache"),
    benign("PARALLEL_REDO_TRAN_LIST", Other, AVAILABILITY, "parallel redo, waiting for its list \
        of transactions"),
    benign("PARALLEL_REDO_WORKER_SYNC", Other, AVAILABILITY, "parallel redo workers, waiting for \
                                                              each other"),
    benign("PARALLEL_REDO_WORKER_WAIT_WORK", Other, AVAILABILITY, "a parallel redo worker, \
                                                                   waiting for work"),
    benign("REDO_THREAD_PENDING_WORK", Other, AVAILABILITY, "the redo thread of a replica, \
        waiting for log records"),
    wait("LCK_M_*", Lock, "waiting for a lock that another session holds in a conflicting mode"),
    wait("PAGEIOLATCH_*", DataRead, "waiting for a page to be read from a data file"),
    wait("PAGELATCH_*", Latch, "waiting for a page in memory that another session is using: a \
                                hot page"),
    wait("LATCH_*", Latch, "waiting for an internal structure other than a page"),
    wait("SLEEP_*", Idle, "a background task, pausing"),
    wait("*", Other, "unknown to Steelbench"),
];

const fn wait(name: &'static str, class: WaitClass, meaning: &'static str) -> WaitType {
    WaitType::new(name, class, meaning)
}

const fn benign(
    name: &'static str,
    class: WaitClass,
    group: BenignGroup,
    meaning: &'static str,
) -> WaitType {
    WaitType { name, class, meaning, benign: Some(group) }
}

/// The class of a wait type.
pub fn class(name: &str) -> WaitClass {
    WaitType::class_of(WAIT_TYPES, name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn tells_the_waits_of_the_studies_apart() {
        for (wait_type, expected) in [
            ("PAGEIOLATCH_EX", DataRead),
            ("PAGELATCH_UP", Latch),
            ("LATCH_EX", Latch),
            ("WRITELOG", Log),
            ("SOS_SCHEDULER_YIELD", CpuQueue),
            ("SLEEP_BPOOL_FLUSH", Checkpoint),
            ("SLEEP_TASK", Idle),
            ("LOGMGR_QUEUE", Idle),
            ("LCK_M_RIn_NL", Lock),
            ("ASYNC_NETWORK_IO", Client),
            ("CXPACKET", Other),
            ("NOT_KNOWN_YET", Other),
        ] {
            assert_eq!(class(wait_type), expected, "{wait_type}");
        }
    }
    #[test]
    fn lists_each_name_once_and_can_be_switched() {
        let benign = WAIT_TYPES.iter().filter(|wait_type| wait_type.benign.is_some());
        let names: Vec<_> = benign.map(|wait_type| wait_type.name).collect();
        let unique: BTreeSet<_> = names.iter().collect();
        assert_eq!((names.len(), unique.len()), (LISTED, LISTED));
        assert_eq!(BENIGN_VERSION, "2026-03-21");
        let is_benign = |name, switched: &[_]| WaitType::is_benign(WAIT_TYPES, name, switched);
        assert!(is_benign("LAZYWRITER_SLEEP", &[]) && is_benign("HADR_WORK_QUEUE", &[]));
        assert!(!is_benign("PAGELATCH_UP", &[]) && !is_benign("CXCONSUMER", &[]));
        let switched = [("availability", false), ("parallelism", true), ("nothing", true)];
        assert!(!is_benign("HADR_WORK_QUEUE", &switched) && is_benign("CXCONSUMER", &switched));
        assert!(is_benign("LAZYWRITER_SLEEP", &switched) && !is_benign("PAGELATCH_UP", &switched));
        let kept = [("background", true), ("LAZYWRITER_SLEEP", false)];
        assert!(!is_benign("LAZYWRITER_SLEEP", &kept) && is_benign("SLEEP_TASK", &kept));
    }

    /// As counted in the source of the list.
    const LISTED: usize = 80;
}
