//! Our class of each wait event of PostgreSQL.

use super::accounting::CPU_QUEUE;
use observations::WaitClass::{
    self, Checkpoint, Client, CpuQueue, DataRead, DataWrite, Idle, Latch, Lock, Log, Other,
};

/// Pattern to class; the first that fits counts. `*` stands for any text; case does not matter,
/// because some names changed theirs between versions (`WALSync`, from 17 on `WalSync`).
///
/// Events are sorted by what would have to be faster for the wait to be shorter: the log, the data
/// files, another session, the client. A wait for another process that reads a page
/// (`IPC:BufferIO`, `IO:AioIoCompletion`) is a wait for that read.
const RULES: &[(&str, WaitClass)] = &[
    ("Activity:*", Idle),
    // What the server sends or receives: to clients, and between a primary and its standbys.
    ("Client:*", Client),
    ("Lock:*", Lock),
    ("LWLock:WAL*", Log),
    ("LWLock:SyncRep", Log),
    ("LWLock:ControlFile", Log),
    ("LWLock:*", Latch),
    ("BufferPin:*", Latch),
    ("Buffer:*", Latch),
    ("IO:WAL*", Log),
    ("IO:TimelineHistory*", Log),
    ("IO:ControlFile*", Checkpoint),
    ("IO:LogicalRewriteCheckpointSync", Checkpoint),
    ("IO:SLRUFlushSync", Checkpoint),
    ("IO:AioIo*", DataRead),
    ("IO:DataFilePrefetch", DataRead),
    ("IO:DSM*", Other),
    ("IO:LockFile*", Other),
    ("IO:VersionFile*", Other),
    ("IO:*Read", DataRead),
    ("IO:*", DataWrite),
    ("IPC:BufferIO", DataRead),
    ("IPC:SyncRep", Log),
    ("IPC:Archive*", Log),
    ("IPC:BackupWaitWalArchive", Log),
    ("IPC:Checkpoint*", Checkpoint),
    ("IPC:ProcArrayGroupUpdate", Latch),
    ("IPC:XactGroupUpdate", Latch),
    // Snapshots that conflict with another session's are waited for like locks.
    ("IPC:SafeSnapshot", Lock),
    ("IPC:RecoveryConflict*", Lock),
    ("IPC:LogicalApplyMain", Idle),
    ("Timeout:CheckpointWriteDelay", Checkpoint),
    ("Timeout:RegisterSyncRequest", DataWrite),
    ("Timeout:SpinDelay", Latch),
    // The session sleeps because its client asked for it: think time.
    ("Timeout:PgSleep", Client),
    ("Timeout:Recovery*", Idle),
    (CPU_QUEUE, CpuQueue),
    // Between the processes of one parallel query, vacuum's own brake, extensions: none of ours.
    ("*", Other),
];

/// Class of a wait event by its name, `Type:Event`.
pub fn class(name: &str) -> WaitClass {
    RULES.iter().find(|(pattern, _)| fits(pattern, name)).map_or(Other, |(_, class)| *class)
}

fn fits(pattern: &str, name: &str) -> bool {
    let Some((prefix, suffix)) = pattern.split_once('*') else { return pattern.eq_ignore_ascii_case(name) };
    let (start, end) = (name.get(..prefix.len()), name.len().checked_sub(suffix.len()));
    let end = end.filter(|end| *end >= prefix.len()).and_then(|end| name.get(end..));
    start.is_some_and(|start| start.eq_ignore_ascii_case(prefix))
        && end.is_some_and(|end| end.eq_ignore_ascii_case(suffix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_all_versions_have_the_same_class() {
        for (names, expected) in [
            (
                &["IO:WALSync", "IO:WalSync", "IO:WalInitWrite", "LWLock:WALWrite", "LWLock:WALInsert"][..],
                Log,
            ),
            (
                &["IO:DataFileRead", "IO:BufFileRead", "IO:BuffileRead", "IO:SLRURead", "IPC:BufferIo"],
                DataRead,
            ),
            (
                &["IO:DataFileExtend", "IO:DataFileImmediateSync", "IO:BuffileWrite", "IO:SlruWrite"],
                DataWrite,
            ),
            (&["Lock:transactionid", "Lock:tuple", "Lock:extend", "Lock:relation"], Lock),
            (&["LWLock:BufferContent", "LWLock:LockManager", "BufferPin:BufferPin"], Latch),
            (&["Client:ClientRead", "Client:ClientWrite", "Timeout:PgSleep"], Client),
            (&["Timeout:CheckpointWriteDelay", "IPC:CheckpointDone", "IPC:CheckpointStart"], Checkpoint),
            (&["Activity:WalWriterMain", "Activity:IoWorkerMain"], Idle),
            (&["IPC:ExecuteGather", "Extension:PgSleepLike", "Timeout:VacuumDelay", "", "IO", "é:è"], Other),
        ] {
            for name in names {
                assert_eq!(class(name), expected, "{name}");
            }
        }
    }

    #[test]
    fn every_rule_is_documented_in_its_order() {
        let text = include_str!("../../../../../docs/wait-types.md");
        let rows: Vec<String> =
            RULES.iter().map(|(pattern, class)| format!("| `{pattern}` | {class} |\n")).collect();
        assert!(text.contains(&rows.concat()), "docs/wait-types.md lacks these rows:\n{}", rows.concat());
    }

    #[test]
    fn a_pattern_needs_room_for_both_of_its_ends() {
        assert!(fits("IO:*Read", "IO:Read") && fits("IO:*Read", "io:SLRUread"));
        assert!(
            !fits("IO:*Read", "IO:Rea") && !fits("ABA*ABA", "ABA") && !fits("IO:WAL*", "IO:DataFileRead")
        );
    }
}
