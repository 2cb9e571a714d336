//! Our class of an engine's wait type.

use observations::WaitClass::{
    self, Checkpoint, Client, CpuQueue, DataRead, DataWrite, Idle, Latch, Lock, Log, Other,
};

/// SQL Server: name, or prefix ending in `*`, to class; the first that fits counts.
///
/// The grouping follows the documented wait categories of Query Store, folded into our classes.
const SQL_SERVER: &[(&str, WaitClass)] = &[
    // A used-up quantum: nothing was waited for but the next turn on the processor.
    ("SOS_SCHEDULER_YIELD", CpuQueue),
    ("LCK_M_*", Lock),
    ("PAGEIOLATCH_*", DataRead),
    ("PAGELATCH_*", Latch),
    ("LATCH_*", Latch),
    ("WRITELOG", Log),
    ("LOGBUFFER", Log),
    ("LOGMGR", Log),
    ("LOGMGR_FLUSH", Log),
    ("LOGMGR_PMM_LOG", Log),
    ("LOGMGR_RESERVE_APPEND", Log),
    ("LOG_RATE_GOVERNOR", Log),
    ("WRITE_COMPLETION", DataWrite),
    ("CHKPT", Checkpoint),
    // The checkpoint holds back its own writes.
    ("SLEEP_BPOOL_FLUSH", Checkpoint),
    ("ASYNC_NETWORK_IO", Client),
    ("NET_WAITFOR_PACKET", Client),
    ("PROXY_NETWORK_IO", Client),
    // WAITFOR is think time when a session asks for it.
    ("WAITFOR", Client),
    ("WAIT_FOR_RESULTS", Client),
    ("BROKER_RECEIVE_WAITFOR", Client),
    ("SLEEP_*", Idle),
    ("LAZYWRITER_SLEEP", Idle),
    ("SQLTRACE_BUFFER_FLUSH", Idle),
    ("SQLTRACE_INCREMENTAL_FLUSH_SLEEP", Idle),
    ("SQLTRACE_WAIT_ENTRIES", Idle),
    ("FT_IFTS_SCHEDULER_IDLE_WAIT", Idle),
    ("XE_DISPATCHER_WAIT", Idle),
    ("XE_TIMER_EVENT", Idle),
    ("REQUEST_FOR_DEADLOCK_SEARCH", Idle),
    ("LOGMGR_QUEUE", Idle),
    ("ONDEMAND_TASK_QUEUE", Idle),
    ("CHECKPOINT_QUEUE", Idle),
    ("DISPATCHER_QUEUE_SEMAPHORE", Idle),
    ("SERVER_IDLE_CHECK", Idle),
];

/// Class of a SQL Server wait type; [`WaitClass::Other`] when it is none of ours or not known.
pub fn sql_server(wait_type: &str) -> WaitClass {
    let fits = |pattern: &str| match pattern.strip_suffix('*') {
        Some(prefix) => wait_type.starts_with(prefix),
        None => wait_type == pattern,
    };
    SQL_SERVER.iter().find(|(pattern, _)| fits(pattern)).map_or(Other, |(_, class)| *class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_the_waits_of_the_studies_apart() {
        for (wait_type, class) in [
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
            assert_eq!(sql_server(wait_type), class, "{wait_type}");
        }
    }
}
