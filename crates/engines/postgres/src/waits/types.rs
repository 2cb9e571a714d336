//! PostgreSQL's wait events: `Type:Event`, as `pg_stat_activity` has them.

use engine::WaitType;
use observations::WaitClass::{
    self, Checkpoint, Client, CpuQueue, DataRead, DataWrite, Idle, Latch, Lock, Log, Other,
};
use observations::wait_type::CPU_QUEUE;

/// The usual wait events of PostgreSQL 14 to 18, named as from 17 on where the spelling differs
/// (`WALSync`, from 17 on `WalSync`), then patterns for all others.
///
/// Events are classified by what would have to be faster for the wait to be shorter: the log, the
/// data files, another session, the client. A wait for another process that reads a page
/// (`IPC:BufferIo`, `IO:AioIoCompletion`) is a wait for that read. Snapshots that conflict with
/// another session's are waited for like locks. A session in `pg_sleep` sleeps because its client
/// asked for it: think time. A vacuum's own brake, and waits between the processes of one parallel
/// query, have no class here.
#[rustfmt::skip]
pub const WAIT_TYPES: &[WaitType] = &[
    wait("Client:ClientRead", Client, "waiting for the client's next message: think time, network \
        or a busy client"),
    wait("Client:ClientWrite", Client, "sending results faster than the client or the network \
                                        accepts them"),
    wait("Client:WalSenderWaitForWal", Client, "WAL sender, waiting for WAL to be flushed"),
    wait("Client:WalSenderWriteData", Client, "WAL sender, waiting for a reply from a standby or \
                                               subscriber"),
    wait("IO:AioIoCompletion", DataRead, "waiting for another process to finish a read"),
    wait("IO:AioIoUringExecution", DataRead, "waiting for reads submitted to io_uring"),
    wait("IO:AioIoUringSubmit", DataRead, "submitting reads to io_uring"),
    wait("IO:BuffileRead", DataRead, "reading a temporary file: a sort or hash exceeded work_mem"),
    wait("IO:BuffileTruncate", DataWrite, "truncating a temporary file"),
    wait("IO:BuffileWrite", DataWrite, "writing a temporary file: a sort or hash exceeded \
        work_mem"),
    wait("IO:ControlFileSync", Checkpoint, "syncing the control file"),
    wait("IO:ControlFileSyncUpdate", Checkpoint,
        "syncing an update of the control file, for example at a checkpoint"),
    wait("IO:ControlFileWriteUpdate", Checkpoint, "updating the control file"),
    wait("IO:CopyFileRead", DataRead, "reading a file to copy it, for example to create a \
        database"),
    wait("IO:CopyFileWrite", DataWrite, "writing a copy of a file, for example to create a \
                                         database"),
    wait("IO:DataFileExtend", DataWrite, "adding pages to the end of a table or index"),
    wait("IO:DataFileFlush", DataWrite, "asking the operating system to start writing dirty \
                                         pages of a data file"),
    wait("IO:DataFileImmediateSync", DataWrite, "syncing a file that was built without writing \
                                                 WAL"),
    wait("IO:DataFilePrefetch", DataRead, "asking the operating system to prefetch pages of a \
                                           data file"),
    wait("IO:DataFileRead", DataRead, "reading a page of a table or index that was not in \
        shared_buffers"),
    wait("IO:DataFileSync", DataWrite, "syncing a data file at a checkpoint"),
    wait("IO:DataFileTruncate", DataWrite, "truncating the empty end of a table or index"),
    wait("IO:DataFileWrite", DataWrite, "writing a dirty page of a table or index"),
    wait("IO:DsmAllocate", Other, "allocating shared memory for a parallel query"),
    wait("IO:DsmFillZeroWrite", Other, "zero-filling shared memory for a parallel query"),
    wait("IO:LogicalRewriteCheckpointSync", Checkpoint,
        "syncing logical decoding mappings at a checkpoint"),
    wait("IO:RelationMapRead", DataRead, "reading the relation map of the system catalogs"),
    wait("IO:RelationMapWrite", DataWrite, "writing the relation map of the system catalogs"),
    wait("IO:ReorderBufferRead", DataRead, "reading spilled changes of a large transaction for \
                                            logical decoding"),
    wait("IO:ReorderBufferWrite", DataWrite, "spilling changes of a large transaction in logical \
        decoding"),
    wait("IO:ReplicationSlotSync", DataWrite, "syncing the state of a replication slot"),
    wait("IO:ReplicationSlotWrite", DataWrite, "writing the state of a replication slot"),
    wait("IO:SlruFlushSync", Checkpoint, "syncing transaction status at a checkpoint"),
    wait("IO:SlruRead", DataRead, "reading a page of transaction status (commit, subtransaction, \
        multixact)"),
    wait("IO:SlruSync", DataWrite, "syncing a page of transaction status"),
    wait("IO:SlruWrite", DataWrite, "writing a page of transaction status (commit, \
        subtransaction, multixact)"),
    wait("IO:TwophaseFileWrite", DataWrite, "writing the file of a prepared transaction"),
    wait("IO:WalCopyRead", Log, "reading a WAL file to copy it"),
    wait("IO:WalCopyWrite", Log, "writing a copy of a WAL file"),
    wait("IO:WalInitSync", Log, "syncing a new WAL file before its first use"),
    wait("IO:WalInitWrite", Log, "zero-filling a new WAL file, because no old one was left to \
                                  recycle"),
    wait("IO:WalRead", Log, "reading WAL for a standby, a subscriber or recovery"),
    wait("IO:WalSync", Log, "syncing WAL: the disk's part of a commit"),
    wait("IO:WalWrite", Log, "writing WAL to its file"),
    wait("IPC:AppendReady", Other, "waiting for rows from a subplan of an asynchronous Append"),
    wait("IPC:ArchiveCommand", Log, "waiting for archive_command"),
    wait("IPC:BackupWaitWalArchive", Log, "waiting for a backup's WAL files to be archived"),
    wait("IPC:BgworkerShutdown", Other, "waiting for a background worker to end"),
    wait("IPC:BgworkerStartup", Other, "waiting for a background worker to start"),
    wait("IPC:BtreePage", Other, "waiting for the next page of a parallel index scan from \
                                  another worker"),
    wait("IPC:BufferIo", DataRead, "waiting for another session to read or write the same page"),
    wait("IPC:CheckpointDelayComplete", Checkpoint, "waiting for a transaction that delays the \
        end of a checkpoint"),
    wait("IPC:CheckpointDelayStart", Checkpoint, "waiting for a transaction that delays the start \
        of a checkpoint"),
    wait("IPC:CheckpointDone", Checkpoint, "waiting for a requested checkpoint to complete"),
    wait("IPC:CheckpointStart", Checkpoint, "waiting for a requested checkpoint to start"),
    wait("IPC:ExecuteGather", Other, "waiting for rows from the workers of a parallel query"),
    wait("IPC:HashBatchLoad", Other, "waiting for other workers to load a batch of a parallel \
        hash join"),
    wait("IPC:HashBuildHashInner", Other, "waiting for other workers to hash the inner table of a \
        parallel join"),
    wait("IPC:HashBuildHashOuter", Other, "waiting for other workers to split the outer table of \
        a parallel join"),
    wait("IPC:MessageQueueReceive", Other, "waiting for a message from a worker of a parallel \
        query"),
    wait("IPC:MessageQueueSend", Other, "waiting for the leader of a parallel query to receive \
                                         rows"),
    wait("IPC:MultixactCreation", Other, "waiting for another session to finish creating a \
                                          multixact"),
    wait("IPC:ParallelCreateIndexScan", Other,
        "waiting for the workers of a parallel CREATE INDEX to scan the table"),
    wait("IPC:ParallelFinish", Other, "waiting for the workers of a parallel query to finish"),
    wait("IPC:ProcArrayGroupUpdate", Latch, "waiting for the group leader to clear the \
                                             transaction ID at transaction end"),
    wait("IPC:ProcSignalBarrier", Other, "waiting for all backends to process a global barrier \
                                          event"),
    wait("IPC:SafeSnapshot", Lock, "waiting for a safe snapshot for a read-only serializable \
                                    transaction"),
    wait("IPC:SyncRep", Log, "waiting for a synchronous standby to confirm a commit"),
    wait("IPC:XactGroupUpdate", Latch, "waiting for the group leader to update transaction \
                                        status at transaction end"),
    wait("LWLock:AioWorkerSubmissionQueue", Latch, "waiting for the submission queue of the I/O \
                                                    workers"),
    wait("LWLock:BufferContent", Latch,
        "waiting for a page in shared_buffers that another session holds: a hot page"),
    wait("LWLock:BufferMapping", Latch, "waiting to look up or replace a page in shared_buffers"),
    wait("LWLock:CheckpointerComm", Latch, "waiting to queue a sync request for the checkpointer"),
    wait("LWLock:ControlFile", Log, "waiting for the control file, or for another session to \
                                     create a WAL file"),
    wait("LWLock:LockFastPath", Latch, "waiting for a session's list of fast-path table locks"),
    wait("LWLock:LockManager", Latch,
        "waiting for the lock table itself: a very large number of locks, for example on many \
         partitions"),
    wait("LWLock:MultiXactGen", Latch, "waiting to create a multixact (several sessions lock one \
                                        row)"),
    wait("LWLock:MultiXactMemberSLRU", Latch, "waiting for the cache of multixact members"),
    wait("LWLock:MultiXactOffsetSLRU", Latch, "waiting for the cache of multixact offsets"),
    wait("LWLock:NotifyQueue", Latch, "waiting for the queue of NOTIFY messages"),
    wait("LWLock:OidGen", Latch, "waiting for a new object ID (OID)"),
    wait("LWLock:ParallelHashJoin", Latch, "waiting for other workers of a parallel hash join"),
    wait("LWLock:PgStatsData", Latch, "waiting to update the server's statistics"),
    wait("LWLock:PredicateLockManager", Latch, "waiting for the locks of serializable \
        transactions"),
    wait("LWLock:ProcArray", Latch, "waiting to take a snapshot, or to end a transaction while \
        others take theirs"),
    wait("LWLock:RelationMapping", Latch, "waiting for the relation map of the system catalogs"),
    wait("LWLock:SerializableXactHash", Latch, "waiting for the list of serializable transactions"),
    wait("LWLock:SInvalRead", Latch, "waiting to read cache invalidation messages"),
    wait("LWLock:SInvalWrite", Latch, "waiting to send cache invalidation messages"),
    wait("LWLock:SubtransSLRU", Latch, "waiting for the cache of subtransactions: savepoints and \
        long transactions"),
    wait("LWLock:SyncRep", Log, "waiting for access to the queue of commits that wait for a \
                                 synchronous standby"),
    wait("LWLock:WALBufMapping", Log, "waiting for space in wal_buffers"),
    wait("LWLock:WALInsert", Log, "waiting to insert records into wal_buffers"),
    wait("LWLock:WALWrite", Log, "waiting for another session that is writing WAL, to commit \
                                  with it or after it"),
    wait("LWLock:XactSLRU", Latch, "waiting for the cache of transaction status"),
    wait("LWLock:XidGen", Latch, "waiting for a new transaction ID"),
    wait("Lock:advisory", Lock, "waiting for an advisory lock that the application uses"),
    wait("Lock:extend", Lock, "waiting for another session that is adding pages to the same \
                               table or index"),
    wait("Lock:frozenid", Lock, "waiting to advance a database's oldest transaction ID"),
    wait("Lock:object", Lock, "waiting for a lock on something that is not a table"),
    wait("Lock:page", Lock, "waiting for a lock on an index page"),
    wait("Lock:relation", Lock, "waiting for a lock on a table or index, for example during ALTER \
        TABLE"),
    wait("Lock:spectoken", Lock, "waiting for another session's INSERT ... ON CONFLICT of the \
        same key"),
    wait("Lock:transactionid", Lock, "waiting for the transaction that changed or locked the same \
        row to end"),
    wait("Lock:tuple", Lock, "waiting in the queue for a row on which another session already \
                              waits"),
    wait("Lock:virtualxid", Lock,
        "waiting for another session's transaction to end, for example in CREATE INDEX \
         CONCURRENTLY"),
    wait("BufferPin:BufferPin", Latch, "waiting for other sessions to release a page, to clean \
                                        it up"),
    wait("Extension:Extension", Other, "waiting inside an extension"),
    wait("Timeout:BaseBackupThrottle", Other, "throttled by the rate limit of a base backup"),
    wait("Timeout:CheckpointWriteDelay", Checkpoint, "pausing between writes, to spread a \
        checkpoint over time"),
    wait("Timeout:PgSleep", Client, "sleeping because a query called pg_sleep"),
    wait("Timeout:RegisterSyncRequest", DataWrite,
        "waiting because the checkpointer's queue of sync requests is full"),
    wait("Timeout:SpinDelay", Latch, "waiting for a contended spinlock"),
    wait("Timeout:VacuumDelay", Other, "pausing because vacuum_cost_delay throttles vacuum"),
    wait("Timeout:VacuumTruncate", Other, "waiting to truncate the empty end of a table after \
                                           vacuum"),
    wait(CPU_QUEUE, CpuQueue, "runnable, waiting for a CPU, outside other waits"),
    wait("Activity:*", Idle, "a background process, waiting for work"),
    wait("Client:*", Client, "exchanging data with a client or a standby"),
    wait("Lock:*", Lock, "waiting for a lock that another session holds"),
    wait("LWLock:WAL*", Log, "waiting for a WAL structure in shared memory"),
    wait("LWLock:*", Latch, "waiting for a shared-memory structure that another session is using"),
    wait("BufferPin:*", Latch, "waiting for a page that another session is using"),
    wait("Buffer:*", Latch, "waiting for a page in shared_buffers that another session is using"),
    wait("IO:WAL*", Log, "reading, writing or syncing WAL"),
    wait("IO:TimelineHistory*", Log, "reading, writing or syncing a timeline history file"),
    wait("IO:ControlFile*", Checkpoint, "reading, writing or syncing the control file"),
    wait("IO:AioIo*", DataRead, "in asynchronous I/O"),
    wait("IO:DSM*", Other, "allocating or filling shared memory"),
    wait("IO:LockFile*", Other, "accessing the lock file of the data directory"),
    wait("IO:VersionFile*", Other, "accessing a version file"),
    wait("IO:*Read", DataRead, "reading a file"),
    wait("IO:*", DataWrite, "writing, syncing or truncating a file"),
    wait("IPC:Archive*", Log, "waiting for WAL archiving"),
    wait("IPC:Checkpoint*", Checkpoint, "waiting for a checkpoint"),
    wait("IPC:RecoveryConflict*", Lock, "waiting for a recovery conflict with another session to \
                                         be resolved"),
    wait("Timeout:Recovery*", Idle, "recovery, pausing"),
    wait("*", Other, "unknown to Steelbench"),
];

const fn wait(name: &'static str, class: WaitClass, meaning: &'static str) -> WaitType {
    WaitType::new(name, class, meaning)
}

/// The class of a wait event by its name, `Type:Event`.
pub fn class(name: &str) -> WaitClass {
    WaitType::class_of(WAIT_TYPES, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_all_versions_have_the_same_class() {
        for (names, expected) in [
            (
                &[
                    "IO:WALSync",
                    "IO:WalSync",
                    "IO:WalInitWrite",
                    "LWLock:WALWrite",
                    "LWLock:WALInsert",
                ][..],
                Log,
            ),
            (
                &[
                    "IO:DataFileRead",
                    "IO:BufFileRead",
                    "IO:BuffileRead",
                    "IO:SLRURead",
                    "IPC:BufferIo",
                ],
                DataRead,
            ),
            (
                &[
                    "IO:DataFileExtend",
                    "IO:DataFileImmediateSync",
                    "IO:BuffileWrite",
                    "IO:SlruWrite",
                ],
                DataWrite,
            ),
            (&["Lock:transactionid", "Lock:tuple", "Lock:extend", "Lock:relation"], Lock),
            (&["LWLock:BufferContent", "LWLock:LockManager", "BufferPin:BufferPin"], Latch),
            (&["Client:ClientRead", "Client:ClientWrite", "Timeout:PgSleep"], Client),
            (
                &["Timeout:CheckpointWriteDelay", "IPC:CheckpointDone", "IPC:CheckpointStart"],
                Checkpoint,
            ),
            (&["Activity:WalWriterMain", "Activity:IoWorkerMain"], Idle),
            (
                &[
                    "IPC:ExecuteGather",
                    "Extension:PgSleepLike",
                    "Timeout:VacuumDelay",
                    "",
                    "IO",
                    "é:è",
                ],
                Other,
            ),
        ] {
            for name in names {
                assert_eq!(class(name), expected, "{name}");
            }
        }
    }

    #[test]
    fn events_have_the_same_meaning_in_the_spelling_of_any_version() {
        let find = |name| WaitType::find(WAIT_TYPES, name).unwrap();
        assert_eq!(find("IO:WALSync"), find("IO:WalSync"));
        assert!(!find("IO:BufFileRead").is_pattern() && find("IO:NoSuch").is_pattern());
    }
}
