use crate::client::Client;
use engine::{ServerError, while_doing};
use observations::{CounterReadings, Operation};
use std::collections::BTreeMap;
use std::time::Duration;

const DOING: &str = "reading the server's counters";

/// Makes a session report what it has counted before it goes idle (from version 15 on). Sessions
/// report of themselves once a second at most, and when they end.
pub const FLUSH_OWN_COUNTERS: &str = "SELECT pg_stat_force_next_flush()";

/// Before 15 a process of its own collected what sessions sent, and wrote it twice a second.
const COLLECTOR_DELAY: Duration = Duration::from_millis(600);

/// The server's own counters and times, over all processes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Counters {
    counted: BTreeMap<String, Count>,
    /// When each view was reset last.
    resets: BTreeMap<&'static str, String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Count {
    count: u64,
    bytes: u64,
    wall_ms: f64,
}

/// A view, the versions that have it in this form, and the query that lists what it counts: name,
/// calls, bytes, milliseconds, time of the last reset.
type View = (&'static str, std::ops::RangeInclusive<u32>, &'static str);

const LAST: u32 = u32::MAX;

#[rustfmt::skip]
const VIEWS: &[View] = &[
    ("pg_stat_io", 16..=17,
        "SELECT concat_ws(' ', 'IO', backend_type, object, nullif(context, 'normal'), o.op), o.n, \
         o.n * coalesce(op_bytes, 0) * o.moves, o.ms, stats_reset FROM pg_stat_io, LATERAL \
         (VALUES ('read', reads, 1, read_time), ('write', writes, 1, write_time), ('extend', \
         extends, 1, extend_time), ('writeback', writebacks, 1, writeback_time), ('fsync', \
         fsyncs, 0, fsync_time)) o(op, n, moves, ms)"),
    ("pg_stat_io", 18..=LAST,
        "SELECT concat_ws(' ', 'IO', backend_type, object, nullif(context, 'normal'), o.op), o.n, \
         o.bytes, o.ms, stats_reset FROM pg_stat_io, LATERAL (VALUES ('read', reads, read_bytes, \
         read_time), ('write', writes, write_bytes, write_time), ('extend', extends, \
         extend_bytes, extend_time), ('writeback', writebacks, writebacks * \
         current_setting('block_size')::int, writeback_time), ('fsync', fsyncs, 0, fsync_time)) \
         o(op, n, bytes, ms)"),
    ("pg_stat_database", 14..=15,
        "SELECT o.* , stats_reset FROM pg_stat_database, LATERAL (VALUES ('IO client backend \
         relation read', blks_read, blks_read * current_setting('block_size')::int, \
         blk_read_time), ('IO client backend relation write', 0, 0, blk_write_time)) o WHERE \
         datname = current_database()"),
    ("pg_stat_wal", 14..=17,
        "SELECT o.*, stats_reset FROM pg_stat_wal, LATERAL (VALUES ('WAL record', wal_records, \
         wal_bytes, 0), ('WAL buffers full', wal_buffers_full, 0, 0), ('WAL write', wal_write, 0, \
         wal_write_time), ('WAL sync', wal_sync, 0, wal_sync_time)) o"),
    ("pg_stat_wal", 18..=LAST,
        "SELECT o.*, stats_reset FROM pg_stat_wal, LATERAL (VALUES ('WAL record', wal_records, \
         wal_bytes, 0), ('WAL buffers full', wal_buffers_full, 0, 0)) o"),
    ("pg_stat_bgwriter", 14..=16,
        "SELECT o.*, stats_reset FROM pg_stat_bgwriter, LATERAL (VALUES ('checkpoint', \
         checkpoints_timed + checkpoints_req, 0, 0), ('checkpoint write', buffers_checkpoint, \
         buffers_checkpoint * current_setting('block_size')::int, checkpoint_write_time), \
         ('checkpoint sync', 0, 0, checkpoint_sync_time), ('background writer write', \
         buffers_clean, buffers_clean * current_setting('block_size')::int, 0), ('backend write', \
         buffers_backend, buffers_backend * current_setting('block_size')::int, 0), ('backend \
         fsync', buffers_backend_fsync, 0, 0)) o"),
    ("pg_stat_checkpointer", 17..=LAST,
        "SELECT o.*, stats_reset FROM pg_stat_checkpointer, LATERAL (VALUES ('checkpoint', \
         num_timed + num_requested, 0, 0), ('checkpoint write', buffers_written, buffers_written \
         * current_setting('block_size')::int, write_time), ('checkpoint sync', 0, 0, sync_time)) \
         o"),
];

impl Counters {
    /// Reads all that this version has.
    pub(super) fn read(client: &mut Client) -> Result<Self, ServerError> {
        let version = client.server_version() / 10_000;
        if version < 15 {
            std::thread::sleep(COLLECTOR_DELAY);
        }
        let mut counters = Self { counted: BTreeMap::new(), resets: BTreeMap::new() };
        for (view, _, sql) in VIEWS.iter().filter(|(_, versions, _)| versions.contains(&version)) {
            let rows = client.query(sql, &[]).map_err(while_doing(DOING))?;
            for row in rows.iter() {
                let number = |index| row.parse::<f64>(index).unwrap_or(0.0);
                let counted =
                    Count { count: number(1) as u64, bytes: number(2) as u64, wall_ms: number(3) };
                counters.counted.insert(row.text(0), counted);
                counters.resets.insert(view, row.text(4));
            }
        }
        Ok(counters)
    }

    /// The rows of this reading and of `after`.
    pub(super) fn pairs(&self, after: &Self) -> CounterReadings {
        let rows = [self, after].map(|reading| {
            reading
                .counted
                .iter()
                .map(|(name, counted)| {
                    let Count { count, bytes, wall_ms } = counted;
                    [name.clone(), count.to_string(), bytes.to_string(), wall_ms.to_string()]
                })
                .collect()
        });
        let views: Vec<&str> = after.resets.keys().copied().collect();
        CounterReadings::from_rows(views.join(", "), ["name", "count", "bytes", "ms"], rows)
    }

    /// Returns the counts since an earlier reading, including calls that the system's page cache
    /// served. Fails when a view was reset in between.
    pub(super) fn since(&self, before: &Self) -> Result<Vec<Operation>, ServerError> {
        if let Some((view, _)) =
            self.resets.iter().find(|(view, time)| before.resets.get(*view) != Some(*time))
        {
            return Err(reset(view));
        }
        let mut operations = Vec::new();
        for (name, now) in &self.counted {
            let then = before.counted.get(name).copied().unwrap_or_default();
            let fell = || reset(name);
            let operation = Operation {
                name: name.clone(),
                count: now.count.checked_sub(then.count).ok_or_else(fell)?,
                bytes: now.bytes.checked_sub(then.bytes).ok_or_else(fell)?,
                wall_s: (now.wall_ms - then.wall_ms).max(0.0) / 1000.0,
            };
            if operation.count > 0 || operation.wall_s > 0.0 {
                operations.push(operation);
            }
        }
        Ok(operations)
    }
}

/// A wait that the server has timed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Timed {
    /// The view that has it.
    pub counter: &'static str,
    /// Only client backends are in it, not all processes.
    pub is_of_clients: bool,
    pub count: u64,
    pub wall_s: f64,
}

/// A server's counts and times over an interval.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ServerCounts<'a> {
    pub operations: &'a [Operation],
    /// Major version of the server.
    pub version: u32,
}

/// A wait event, the versions in which the server times exactly it, and the operations: `*` stands
/// for the contexts of `pg_stat_io`.
type TimedWait = (&'static str, std::ops::RangeInclusive<u32>, &'static str);

/// From 18 on the time of reads is that of several wait events.
#[rustfmt::skip]
const TIMED: [TimedWait; 9] = [
    ("IO:WalSync", 14..=17, "WAL sync"),
    ("IO:WalWrite", 14..=17, "WAL write"),
    ("IO:WalSync", 18..=LAST, "IO client backend wal* fsync"),
    ("IO:WalWrite", 18..=LAST, "IO client backend wal* write"),
    ("IO:DataFileRead", 16..=17, "IO client backend relation* read"),
    ("IO:DataFileWrite", 16..=LAST, "IO client backend relation* write"),
    ("IO:DataFileExtend", 16..=LAST, "IO client backend relation* extend"),
    ("IO:DataFileSync", 16..=LAST, "IO client backend relation* fsync"),
    ("IO:DataFileFlush", 16..=LAST, "IO client backend relation* writeback"),
];

impl ServerCounts<'_> {
    /// Returns the server's time of a wait event; `None` if it is not timed.
    pub(super) fn timed(&self, wait: &str) -> Option<Timed> {
        let (_, _, pattern) = TIMED.iter().find(|(event, versions, _)| {
            event.eq_ignore_ascii_case(wait) && versions.contains(&self.version)
        })?;
        let (start, end) = pattern.split_once('*').unwrap_or((pattern, ""));
        let operations = self
            .operations
            .iter()
            .filter(|operation| operation.name.starts_with(start) && operation.name.ends_with(end));
        let (count, wall_s) = operations
            .fold((0, 0.0), |sum, operation| (sum.0 + operation.count, sum.1 + operation.wall_s));
        let is_of_clients = pattern.starts_with("IO ");
        let counter = if is_of_clients { "pg_stat_io" } else { "pg_stat_wal" };
        (wall_s > 0.0).then_some(Timed { counter, is_of_clients, count, wall_s })
    }
}

/// The server's counters cannot be subtracted.
pub(super) fn reset(view: &str) -> ServerError {
    ServerError::new(format!(
        "the statistics of {view} were reset during the measurement; measure again without calls \
         of pg_stat_reset"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(count: u64, reset: &str) -> Counters {
        let counted = Count { count, bytes: count * 8192, wall_ms: count as f64 };
        Counters {
            counted: [("IO client backend relation read".to_owned(), counted)].into(),
            resets: [("pg_stat_io", reset.to_owned())].into(),
        }
    }

    #[test]
    fn differences_are_operations_and_resets_are_errors() {
        let operations = reading(1500, "a").since(&reading(500, "a")).unwrap();
        let read = &operations[0];
        assert_eq!((read.count, read.bytes, read.wall_s), (1000, 8_192_000, 1.0));
        assert!(reading(500, "a").since(&reading(500, "a")).unwrap().is_empty());
        for wrong in [reading(1500, "b"), reading(499, "a")] {
            let error = wrong.since(&reading(500, "a")).unwrap_err();
            assert!(error.to_string().contains("were reset during the measurement"), "{error}");
        }
    }
}
