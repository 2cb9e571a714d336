//! What wait events mean, for servers that do not say it themselves (`pg_wait_events` came with 17).

use super::accounting::CPU_QUEUE;

/// The usual wait events of PostgreSQL 14 to 18, named as from 17 on where the spelling differs, and
/// what a session does in them. The sentence goes on from "the session was ...".
pub const MEANINGS: &[(&str, &str)] = &[
    ("Client:ClientRead", "waiting for the client's next message: think time, network, or a busy client"),
    ("Client:ClientWrite", "sending results that the client or the network takes too slowly"),
    ("Client:WalSenderWaitForWal", "sending changes to a standby, and nothing new had been flushed"),
    ("Client:WalSenderWriteData", "sending changes to a standby or subscriber and waiting for its reply"),
    ("IO:AioIoCompletion", "waiting until a read that another process carries out had finished"),
    ("IO:AioIoUringExecution", "waiting for reads handed to io_uring"),
    ("IO:AioIoUringSubmit", "handing reads to io_uring"),
    ("IO:BuffileRead", "reading back a temporary file: a sort or hash exceeded work_mem"),
    ("IO:BuffileTruncate", "shortening a temporary file"),
    ("IO:BuffileWrite", "writing a temporary file: a sort or hash exceeded work_mem"),
    ("IO:ControlFileSync", "making the control file durable"),
    ("IO:ControlFileSyncUpdate", "making an update of the control file durable, as a checkpoint does"),
    ("IO:ControlFileWriteUpdate", "updating the control file"),
    ("IO:CopyFileRead", "reading a file to copy it, as when a database is created"),
    ("IO:CopyFileWrite", "writing the copy of a file, as when a database is created"),
    ("IO:DataFileExtend", "adding pages to the end of a table or index"),
    ("IO:DataFileFlush", "asking the system to begin writing changed pages of a data file"),
    ("IO:DataFileImmediateSync", "making a file durable that was built without the log"),
    ("IO:DataFilePrefetch", "asking the system to read pages of a data file ahead"),
    ("IO:DataFileRead", "reading a page of a table or index that was not in shared_buffers"),
    ("IO:DataFileSync", "making the changes of a data file durable at a checkpoint"),
    ("IO:DataFileTruncate", "cutting off the empty end of a table or index"),
    ("IO:DataFileWrite", "writing a changed page of a table or index"),
    ("IO:DsmAllocate", "allocating shared memory for a parallel query"),
    ("IO:DsmFillZeroWrite", "filling shared memory of a parallel query with zeros"),
    ("IO:RelationMapRead", "reading the map of the system catalogs' files"),
    ("IO:RelationMapWrite", "writing the map of the system catalogs' files"),
    ("IO:ReorderBufferRead", "reading changes of a large transaction back for logical decoding"),
    ("IO:ReorderBufferWrite", "spilling changes of a large transaction in logical decoding"),
    ("IO:ReplicationSlotSync", "making the state of a replication slot durable"),
    ("IO:ReplicationSlotWrite", "writing the state of a replication slot"),
    ("IO:SlruFlushSync", "making transaction status durable at a checkpoint"),
    ("IO:SlruRead", "reading a page of transaction status (commit, subtransaction, multixact)"),
    ("IO:SlruSync", "making a page of transaction status durable"),
    ("IO:SlruWrite", "writing a page of transaction status (commit, subtransaction, multixact)"),
    ("IO:TwophaseFileWrite", "writing the file of a prepared transaction"),
    ("IO:WalCopyRead", "reading a log file to make a new one of it"),
    ("IO:WalCopyWrite", "writing a log file made of another"),
    ("IO:WalInitSync", "making a new log file durable before its first use"),
    ("IO:WalInitWrite", "filling a new log file with zeros: no old one was left to recycle"),
    ("IO:WalRead", "reading the log, for a standby, a subscriber or recovery"),
    ("IO:WalSync", "making the log durable: the disk's part of a commit"),
    ("IO:WalWrite", "writing the log to its file"),
    ("IPC:AppendReady", "waiting until a part of an asynchronous Append had rows"),
    ("IPC:ArchiveCommand", "waiting for archive_command"),
    ("IPC:BackupWaitWalArchive", "waiting until the log files of a backup were archived"),
    ("IPC:BgworkerShutdown", "waiting for a background worker to end"),
    ("IPC:BgworkerStartup", "waiting for a background worker to start"),
    ("IPC:BtreePage", "waiting for another worker to give the next page of a parallel index scan"),
    ("IPC:BufferIo", "waiting for another session to read or write the same page"),
    ("IPC:CheckpointDelayComplete", "waiting for a transaction that keeps a checkpoint from completing"),
    ("IPC:CheckpointDelayStart", "waiting for a transaction that keeps a checkpoint from starting"),
    ("IPC:CheckpointDone", "waiting for a checkpoint that it asked for to complete"),
    ("IPC:CheckpointStart", "waiting for a checkpoint that it asked for to start"),
    ("IPC:ExecuteGather", "waiting for rows from the workers of a parallel query"),
    ("IPC:HashBatchLoad", "waiting for other workers to load a batch of a parallel hash join"),
    ("IPC:HashBuildHashInner", "waiting for other workers to hash the inner table of a parallel join"),
    ("IPC:HashBuildHashOuter", "waiting for other workers to split the outer table of a parallel join"),
    ("IPC:MessageQueueReceive", "waiting for a message from a worker of a parallel query"),
    ("IPC:MessageQueueSend", "waiting for the leader of a parallel query to take rows"),
    ("IPC:MultixactCreation", "waiting for another session to finish making a multixact"),
    ("IPC:ParallelCreateIndexScan", "waiting for the workers of a parallel CREATE INDEX to scan the table"),
    ("IPC:ParallelFinish", "waiting for the workers of a parallel query to finish"),
    ("IPC:ProcArrayGroupUpdate", "waiting for the leader of a group to end its transaction"),
    ("IPC:ProcSignalBarrier", "waiting for all sessions to confirm a change"),
    ("IPC:SafeSnapshot", "waiting for a snapshot that a read-only serializable transaction can trust"),
    ("IPC:SyncRep", "waiting for a synchronous standby to confirm a commit"),
    ("IPC:XactGroupUpdate", "waiting for the leader of a group to record its commit"),
    ("LWLock:AioWorkerSubmissionQueue", "waiting for the queue of the I/O workers"),
    ("LWLock:BufferContent", "waiting for a page in shared_buffers that another session holds: a hot page"),
    ("LWLock:BufferMapping", "waiting to look up or replace a page in shared_buffers"),
    ("LWLock:CheckpointerComm", "waiting to queue a sync request for the checkpointer"),
    ("LWLock:ControlFile", "waiting for the control file, or for another session to make a log file"),
    ("LWLock:LockFastPath", "waiting for the list of a session's weak table locks"),
    ("LWLock:LockManager", "waiting for the lock table itself: very many locks, as of many partitions"),
    ("LWLock:MultiXactGen", "waiting to make a multixact (several sessions lock one row)"),
    ("LWLock:MultiXactMemberSLRU", "waiting for the cache of multixact members"),
    ("LWLock:MultiXactOffsetSLRU", "waiting for the cache of multixact offsets"),
    ("LWLock:NotifyQueue", "waiting for the queue of NOTIFY messages"),
    ("LWLock:OidGen", "waiting to be given a new object number"),
    ("LWLock:ParallelHashJoin", "waiting for other workers of a parallel hash join"),
    ("LWLock:PgStatsData", "waiting to add to the server's statistics"),
    ("LWLock:PredicateLockManager", "waiting for the locks of serializable transactions"),
    ("LWLock:ProcArray", "waiting to take a snapshot, or to end a transaction while others take theirs"),
    ("LWLock:RelationMapping", "waiting for the map of the system catalogs' files"),
    ("LWLock:SerializableXactHash", "waiting for the list of serializable transactions"),
    ("LWLock:SInvalRead", "waiting to read notices of changed definitions"),
    ("LWLock:SInvalWrite", "waiting to send notices of changed definitions"),
    ("LWLock:SubtransSLRU", "waiting for the cache of subtransactions: savepoints and long transactions"),
    ("LWLock:SyncRep", "waiting for the queue of commits that wait for a synchronous standby"),
    ("LWLock:WALBufMapping", "waiting for room in wal_buffers"),
    ("LWLock:WALInsert", "waiting to put records into wal_buffers"),
    ("LWLock:WALWrite", "waiting for another session that is writing the log, to commit with it or next"),
    ("LWLock:XactSLRU", "waiting for the cache of transaction status"),
    ("LWLock:XidGen", "waiting to be given a transaction number"),
    ("Lock:advisory", "waiting for an advisory lock that the application uses"),
    ("Lock:extend", "waiting for another session that adds pages to the same table or index"),
    ("Lock:frozenid", "waiting to advance a database's oldest transaction number"),
    ("Lock:object", "waiting for a lock on something that is not a table"),
    ("Lock:page", "waiting for a lock on a page of an index"),
    ("Lock:relation", "waiting for a lock on a table or index, as during ALTER TABLE"),
    ("Lock:spectoken", "waiting for another session's INSERT ... ON CONFLICT of the same key"),
    ("Lock:transactionid", "waiting for the transaction that changed or locked the same row to end"),
    ("Lock:tuple", "queueing for a row for which another session is already waiting"),
    (
        "Lock:virtualxid",
        "waiting for another session's transaction to end, as CREATE INDEX CONCURRENTLY does",
    ),
    ("BufferPin:BufferPin", "waiting until nobody else looked at a page, to clean it up"),
    ("Extension:Extension", "waiting inside an extension"),
    ("Timeout:BaseBackupThrottle", "held back by the rate limit of a base backup"),
    ("Timeout:CheckpointWriteDelay", "pausing between writes, to spread a checkpoint over time"),
    ("Timeout:PgSleep", "sleeping because a query called pg_sleep"),
    ("Timeout:RegisterSyncRequest", "waiting because the checkpointer's queue of sync requests was full"),
    ("Timeout:SpinDelay", "waiting for a contended spinlock"),
    ("Timeout:VacuumDelay", "pausing because vacuum_cost_delay throttles vacuum"),
    ("Timeout:VacuumTruncate", "waiting to cut off the empty end of a table after vacuum"),
    // Ours, not the server's: the kernel's figure.
    (CPU_QUEUE, "ready to run, waiting for a processor, as far as it was not in another wait"),
];

/// What a session that waits for `Type:Event` does, in our words.
pub fn meaning(name: &str) -> Option<&'static str> {
    MEANINGS.iter().find(|(event, _)| event.eq_ignore_ascii_case(name)).map(|(_, meaning)| *meaning)
}

#[cfg(test)]
mod tests {
    use super::super::classes::class;
    use super::*;

    #[test]
    fn every_meaning_is_documented_with_its_class() {
        let text = include_str!("../../../../../docs/wait-types.md");
        for (name, meaning) in MEANINGS {
            let row = format!("| `{name}` | {} | {meaning} |", class(name));
            assert!(text.contains(&row), "docs/wait-types.md lacks: {row}");
        }
    }

    #[test]
    fn names_are_found_in_the_spelling_of_any_version() {
        assert_eq!(meaning("IO:WALSync"), meaning("IO:WalSync"));
        assert!(meaning("IO:BufFileRead").is_some() && meaning("IO:NoSuch").is_none());
        let mut names: Vec<String> = MEANINGS.iter().map(|(name, _)| name.to_lowercase()).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), MEANINGS.len(), "a name is listed twice");
    }
}
