//! Waiting sessions and their blockers.

use super::reading::{list, sessions};
use super::types::{self, ROW_LOCK};
use crate::client::Client;
use engine::{Row, Rows, ServerError, while_doing};
use observations::{TaskSession, WaitingTask, order};
use servers::activity::{CONNECTION, conflict};
use std::cmp::Ordering::Equal;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use work::sql::Syntax;
use work::sql::statement::{self, TEXT_MAX};

const DOING: &str = "reading blocking sessions";

/// A session with what it waits for.
struct WaitingSession {
    session: TaskSession,
    wait: Option<String>,
    waited_s: Option<f64>,
}

/// A lock that is waited for.
struct LockWait {
    wait_type: String,
    lock_mode: String,
    resource: String,
    waited_s: Option<f64>,
    blocked_by: Vec<i32>,
}

/// Returns the waiting sessions now, the longest wait first; statements contain constants only with
/// `literals`. `excluded`: our connections.
pub fn waiting_tasks(
    client: &mut Client,
    excluded: &[u32],
    literals: bool,
) -> Result<Vec<WaitingTask>, ServerError> {
    let has_performance_schema =
        cell(client, "SELECT @@performance_schema")?.as_deref() == Some("1");
    let sessions = sessions_seen(client, excluded, literals, has_performance_schema)?;
    let mut row_locks = row_locks(client)?;
    if has_performance_schema {
        row_locks.extend(metadata_locks(client)?);
    }
    let known = |id: &i32| {
        let session = sessions.get(id).map(|entry| entry.session.clone());
        session.unwrap_or_else(|| unknown(*id))
    };
    let mut tasks: Vec<WaitingTask> = row_locks
        .iter()
        .map(|(id, lock)| WaitingTask {
            session: known(id),
            wait_type: lock.wait_type.clone(),
            waited_s: lock.waited_s.or_else(|| sessions.get(id)?.waited_s),
            resource: Some(lock.resource.clone()),
            lock_mode: Some(lock.lock_mode.clone()).filter(|mode| !mode.is_empty()),
            blocked_by: lock.blocked_by.iter().map(known).collect(),
        })
        .collect();
    // The process list shows for the others what they wait for, but not for whom.
    let others = sessions.iter().filter(|(id, _)| !row_locks.contains_key(id));
    tasks.extend(others.filter_map(|(id, entry)| {
        Some(WaitingTask {
            session: entry.session.clone(),
            wait_type: entry.wait.clone()?,
            waited_s: entry.waited_s,
            resource: None,
            lock_mode: None,
            blocked_by: likely_blockers(*id, entry, &sessions),
        })
    }));
    order::by_key(&mut tasks, &|task| Reverse((task.waited_s.unwrap_or(0.0) * 1e6) as u64));
    Ok(tasks)
}

/// The likely blockers of a session that waits for a metadata lock, where the server does not show
/// these locks (`wait/lock/metadata/sql/mdl` is off by default): the transactions that were open
/// before. Where there are none, it is the session that has waited longest.
fn likely_blockers(
    id: i32,
    waiting: &WaitingSession,
    waiting_sessions: &BTreeMap<i32, WaitingSession>,
) -> Vec<TaskSession> {
    let is_metadata = |waiting_session: &WaitingSession| {
        waiting_session.wait.as_ref().is_some_and(|wait| wait.contains("metadata lock"))
    };
    let Some(waited_s) = waiting.waited_s.filter(|_| is_metadata(waiting)) else {
        return Vec::new();
    };
    let others = || waiting_sessions.iter().filter(|(other, _)| **other != id);
    let open = others().filter(|(_, entry)| {
        let since_s = entry.session.transaction_s.or(entry.session.statement_s);
        // Transactions are dated in whole seconds.
        !is_metadata(entry) && since_s.is_some_and(|since_s| since_s + 1.0 >= waited_s)
    });
    let mut found: Vec<&WaitingSession> = open.map(|(_, entry)| entry).collect();
    if found.is_empty() {
        let before =
            others().filter(|(_, entry)| is_metadata(entry) && entry.waited_s > Some(waited_s));
        let first = before.max_by(|a, b| a.1.waited_s.partial_cmp(&b.1.waited_s).unwrap_or(Equal));
        found.extend(first.map(|(_, entry)| entry));
    }
    found
        .into_iter()
        .map(|entry| TaskSession {
            state: format!("{}, likely the blocker", entry.session.state),
            ..entry.session.clone()
        })
        .collect()
}

/// A transaction without a session: it was prepared (XA), and its client has gone.
fn unknown(id: i32) -> TaskSession {
    let state = if id == 0 { "prepared transaction" } else { "" };
    TaskSession {
        pid: id,
        process: CONNECTION.into(),
        state: state.into(),
        ..TaskSession::default()
    }
}

fn cell(client: &mut Client, sql: &str) -> Result<Option<String>, ServerError> {
    client.cell(sql).map_err(while_doing(DOING))
}

fn rows(client: &mut Client, sql: &str) -> Result<Rows, ServerError> {
    client.query(sql).map_err(while_doing(DOING))
}

/// All sessions by number. Of one that has nothing to do the Performance Schema may have the last
/// statement.
fn sessions_seen(
    client: &mut Client,
    excluded: &[u32],
    literals: bool,
    has_performance_schema: bool,
) -> Result<BTreeMap<i32, WaitingSession>, ServerError> {
    let last = if has_performance_schema {
        "(SELECT max(sql_text) FROM performance_schema.events_statements_current JOIN \
         performance_schema.threads USING (thread_id) WHERE processlist_id = sessions.id)"
    } else {
        "NULL"
    };
    let transaction = "(SELECT max(timestampdiff(SECOND, trx_started, now())) FROM \
                       information_schema.innodb_trx WHERE trx_mysql_thread_id = sessions.id)";
    let sql = format!(
        "SELECT id, command, state, user, db, time_ms, left(coalesce(info, {last}), {TEXT_MAX}), \
         {transaction} FROM {} WHERE id NOT IN ({})",
        sessions(client),
        list(excluded)
    );
    Ok(rows(client, &sql)?
        .iter()
        .filter_map(|row| {
            let [_, command, state, user, database] = row.texts();
            let pid = row.parse(0)?;
            let transaction_s: Option<f64> = row.parse(7);
            let is_idle = command == "Sleep";
            let state_s = row.parse::<f64>(5).map(|ms| ms / 1e3);
            let in_words = match (is_idle, transaction_s) {
                (true, Some(_)) => "idle in transaction",
                (true, None) => "idle",
                (false, _) => "active",
            };
            let session = TaskSession {
                pid,
                process: CONNECTION.into(),
                user,
                database,
                state: in_words.into(),
                state_s,
                statement: statement::shown(&row.text(6), Syntax::MariaDb, literals),
                statement_s: state_s.filter(|_| !is_idle),
                transaction_s,
                ended_by: Some(format!("KILL {pid}")),
                ..TaskSession::default()
            };
            let wait = types::of_state(&state).filter(|_| !is_idle).map(|_| state);
            Some((pid, WaitingSession { session, wait, waited_s: state_s.filter(|_| !is_idle) }))
        })
        .collect())
}

/// Row locks of `InnoDB` that are waited for, by the number of the session that waits
/// (<https://mariadb.com/kb/en/information-schema-innodb_lock_waits-table/>; in MySQL since 8.0
/// <https://dev.mysql.com/doc/refman/8.0/en/performance-schema-data-lock-waits-table.html>).
fn row_locks(client: &mut Client) -> Result<BTreeMap<i32, LockWait>, ServerError> {
    let sql = if client.is_mariadb() {
        "SELECT r.trx_mysql_thread_id, b.trx_mysql_thread_id, l.lock_mode, l.lock_table, \
         coalesce(l.lock_index, ''), coalesce(l.lock_data, ''), timestampdiff(SECOND, \
         r.trx_wait_started, now()) FROM information_schema.innodb_lock_waits w JOIN \
         information_schema.innodb_trx r ON r.trx_id = w.requesting_trx_id JOIN \
         information_schema.innodb_trx b ON b.trx_id = w.blocking_trx_id JOIN \
         information_schema.innodb_locks l ON l.lock_id = w.requested_lock_id"
    } else {
        "SELECT r.processlist_id, coalesce(b.processlist_id, 0), l.lock_mode, concat('`', \
         l.object_schema, '`.`', l.object_name, '`'), coalesce(l.index_name, ''), \
         coalesce(l.lock_data, ''), timestampdiff(SECOND, t.trx_wait_started, now()) FROM \
         performance_schema.data_lock_waits w JOIN performance_schema.data_locks l ON \
         l.engine_lock_id = w.requesting_engine_lock_id JOIN performance_schema.threads r ON \
         r.thread_id = w.requesting_thread_id LEFT JOIN performance_schema.threads b ON \
         b.thread_id = w.blocking_thread_id JOIN information_schema.innodb_trx t ON t.trx_id = \
         w.requesting_engine_transaction_id"
    };
    let mut requests: BTreeMap<i32, LockWait> = BTreeMap::new();
    for row in rows(client, sql)?.iter() {
        let (Some(waiter), Some(blocker)) = (row.parse(0), row.parse(1)) else { continue };
        let [_, _, lock_mode, table, index, data] = row.texts();
        let lock = requests.entry(waiter).or_insert_with(|| LockWait {
            wait_type: ROW_LOCK.into(),
            lock_mode,
            resource: resource(&table.replace('`', ""), &index, &data),
            waited_s: row.parse(6),
            blocked_by: Vec::new(),
        });
        if !lock.blocked_by.contains(&blocker) {
            lock.blocked_by.push(blocker);
        }
    }
    Ok(requests)
}

/// A row by its key. `lock_data` has the values in the index, written as in SQL.
fn resource(table: &str, index: &str, data: &str) -> String {
    match (index, data) {
        ("", _) => format!("table {table}"),
        (_, "supremum pseudo-record") => format!("the end of index {index} of {table}"),
        (_, "") => format!("a row of {table}, by index {index}"),
        ("PRIMARY" | "GEN_CLUST_INDEX", key) => format!("row {key} of {table}"),
        (index, key) => format!("row {key} of index {index} of {table}"),
    }
}

/// A lock on the definition of an object, of a session.
struct MetadataLock {
    object: (String, String, String),
    mode: String,
    is_granted: bool,
    session: i32,
}

/// Metadata locks that are waited for. A session waits for those who have a lock that conflicts
/// with its own, or, where there is none, for those before it in the queue. Only those that were
/// taken while `wait/lock/metadata/sql/mdl` was on are known.
fn metadata_locks(client: &mut Client) -> Result<BTreeMap<i32, LockWait>, ServerError> {
    let sql = "SELECT object_type, coalesce(object_schema, ''), coalesce(object_name, ''), \
               lock_type, lock_status, coalesce(processlist_id, 0) FROM \
               performance_schema.metadata_locks JOIN performance_schema.threads ON thread_id = \
               owner_thread_id";
    let lock = |row: Row<'_>| {
        let [kind, schema, name, mode] = row.texts();
        MetadataLock {
            object: (kind, schema, name),
            mode,
            is_granted: row.get(4) == Some("GRANTED"),
            session: row.parse(5).unwrap_or(0),
        }
    };
    let locks: Vec<MetadataLock> = rows(client, sql)?.iter().map(lock).collect();
    Ok(locks
        .iter()
        .filter(|lock| !lock.is_granted && lock.session != 0)
        .map(|lock| (lock.session, wanted_metadata(lock, &locks)))
        .collect())
}

fn wanted_metadata(lock: &MetadataLock, locks: &[MetadataLock]) -> LockWait {
    let in_the_way = |is_granted: bool| -> Vec<i32> {
        let others = locks.iter().filter(|other| {
            other.object == lock.object
                && other.session != lock.session
                && other.is_granted == is_granted
                && conflict(&CONFLICTS, &lock.mode, &other.mode)
        });
        others.map(|other| other.session).collect::<BTreeSet<i32>>().into_iter().collect()
    };
    let granted = in_the_way(true);
    let (kind, schema, name) = &lock.object;
    let name = [schema.as_str(), name]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(".");
    LockWait {
        wait_type: format!("Waiting for {} metadata lock", kind.to_lowercase()),
        lock_mode: lock.mode.clone(),
        resource: format!("{} {name}", kind.to_lowercase()).trim_end().to_owned(),
        waited_s: None,
        blocked_by: if granted.is_empty() { in_the_way(false) } else { granted },
    }
}

/// Lock modes of tables and other objects, each with a bit for every mode that it conflicts with
/// (the matrix of granted locks before `MDL_lock::MDL_object_lock` in `sql/mdl.cc`).
const CONFLICTS: [(&str, u16); 9] = [
    ("SHARED", 0b1_0000_0000),
    ("SHARED_HIGH_PRIO", 0b1_0000_0000),
    ("SHARED_READ", 0b1_1000_0000),
    ("SHARED_WRITE", 0b1_1110_0000),
    ("SHARED_UPGRADABLE", 0b1_1101_0000),
    ("SHARED_READ_ONLY", 0b1_1000_1000),
    ("SHARED_NO_WRITE", 0b1_1101_1000),
    ("SHARED_NO_READ_WRITE", 0b1_1111_1100),
    ("EXCLUSIVE", 0b1_1111_1111),
];

#[cfg(test)]
mod tests {
    use super::{CONFLICTS, MetadataLock, resource, wanted_metadata};

    fn conflict(mode: &str, held: &str) -> bool {
        super::conflict(&CONFLICTS, mode, held)
    }

    #[test]
    fn metadata_locks_conflict_both_ways_and_as_documented() {
        for (request, _) in CONFLICTS {
            for (held, _) in CONFLICTS {
                assert_eq!(conflict(request, held), conflict(held, request), "{request} {held}");
            }
            assert!(
                conflict(request, "EXCLUSIVE") && conflict(request, "BACKUP_BLOCK_DDL"),
                "{request}"
            );
        }
        // Readers and writers of rows beside each other, ALTER TABLE beside readers, LOCK TABLES
        // READ beside no writer.
        assert!(
            !conflict("SHARED_READ", "SHARED_WRITE")
                && !conflict("SHARED_UPGRADABLE", "SHARED_WRITE")
        );
        assert!(
            !conflict("SHARED_NO_WRITE", "SHARED_READ")
                && conflict("SHARED_NO_WRITE", "SHARED_WRITE")
        );
        assert!(
            conflict("SHARED_READ_ONLY", "SHARED_WRITE")
                && !conflict("SHARED_READ_ONLY", "SHARED_READ")
        );
        assert!(conflict("SHARED_UPGRADABLE", "SHARED_UPGRADABLE"));
    }

    #[test]
    fn a_reader_behind_a_change_of_the_table_waits_for_that_change() {
        let lock = |session, mode: &str, is_granted| MetadataLock {
            object: ("TABLE".into(), "shop".into(), "t".into()),
            mode: mode.into(),
            is_granted,
            session,
        };
        let locks = [
            lock(5, "SHARED_WRITE", true),
            lock(7, "SHARED_UPGRADABLE", true),
            lock(7, "EXCLUSIVE", false),
            lock(8, "SHARED_READ", false),
        ];
        let change = wanted_metadata(&locks[2], &locks);
        assert_eq!((change.blocked_by, change.resource.as_str()), (vec![5], "table shop.t"));
        assert_eq!(wanted_metadata(&locks[3], &locks).blocked_by, [7]);
    }

    #[test]
    fn rows_are_named_by_their_key() {
        for (index, data, text) in [
            ("PRIMARY", "1, 'x'", "row 1, 'x' of shop.t"),
            ("k_1", "7, 3", "row 7, 3 of index k_1 of shop.t"),
            ("PRIMARY", "supremum pseudo-record", "the end of index PRIMARY of shop.t"),
            ("PRIMARY", "", "a row of shop.t, by index PRIMARY"),
            ("", "", "table shop.t"),
        ] {
            assert_eq!(resource("shop.t", index, data), text);
        }
    }
}
