use crate::client::Client;
use crate::connecting::OBSERVER;
use engine::{Row, ServerError, while_doing};
use observations::{TaskSession, WaitingTask};
use servers::activity::conflict;
use std::collections::HashMap;
use work::sql::Syntax;
use work::sql::statement::{self, TEXT_MAX};

const DOING: &str = "reading blocking sessions";

/// Returns the waiting sessions now, the longest wait first; statements contain constants only with
/// `literals`.
///
/// Of a row lock the server says only for whose transaction a session waits. The row is known all
/// the same: the first who waits for it has locked its place in the queue, the `tuple` lock.
pub(super) fn waiting_tasks(
    client: &mut Client,
    literals: bool,
) -> Result<Vec<WaitingTask>, ServerError> {
    // Blockers are asked for only where a lock is waited for, because the answer stops the lock
    // manager for a moment. Names are known only for the database of the connection.
    let sql = format!(
        "WITH locks AS MATERIALIZED (SELECT * FROM pg_locks), here AS (SELECT oid FROM \
         pg_database WHERE datname = current_database()) SELECT a.pid, concat_ws(':', \
         a.wait_event_type, a.wait_event), extract(epoch FROM clock_timestamp() - l.waitstart), \
         l.mode, l.locktype, CASE WHEN l.relation IS NULL AND r.relation IS NULL THEN NULL WHEN \
         coalesce(l.database, r.database) IN (0, here.oid) THEN coalesce(l.relation, \
         r.relation)::regclass::text ELSE 'relation ' || coalesce(l.relation, r.relation) || ' of \
         another database' END, coalesce(l.page, r.page), coalesce(l.tuple, r.tuple), \
         coalesce(l.transactionid::text, l.virtualxid, l.classid || ', ' || l.objid), CASE WHEN \
         a.wait_event_type = 'Lock' THEN array_to_string(pg_blocking_pids(a.pid), ',') END FROM \
         pg_stat_activity a CROSS JOIN here LEFT JOIN locks l ON l.pid = a.pid AND NOT l.granted \
         LEFT JOIN locks r ON r.pid = a.pid AND r.granted AND r.locktype = 'tuple' AND l.locktype \
         = 'transactionid' WHERE a.wait_event_type NOT IN ('Activity', 'Client') AND \
         a.application_name <> '{OBSERVER}' ORDER BY 3 DESC NULLS LAST, a.query_start NULLS LAST, \
         1"
    );
    let rows = client.query(&sql, &[]).map_err(while_doing(DOING))?;
    let sessions = sessions(client, literals)?;
    let prepared = if rows
        .iter()
        .any(|row| row.get(9).is_some_and(|pids| pids.split(',').any(|pid| pid == "0")))
    {
        prepared(client)?
    } else {
        Vec::new()
    };
    Ok(rows.iter().map(|row| task(&row, &sessions, &prepared)).collect())
}

/// All sessions, to name those that wait and those that are in the way.
fn sessions(client: &mut Client, literals: bool) -> Result<HashMap<i32, TaskSession>, ServerError> {
    let sql = format!(
        "SELECT pid, backend_type, leader_pid, usename, application_name, datname, state, \
         left(query, {TEXT_MAX}), extract(epoch FROM clock_timestamp() - state_change), \
         extract(epoch FROM clock_timestamp() - query_start), extract(epoch FROM \
         clock_timestamp() - xact_start) FROM pg_stat_activity"
    );
    let rows = client.query(&sql, &[]).map_err(while_doing(DOING))?;
    Ok(rows
        .iter()
        .filter_map(|row| {
            let pid = row.parse(0)?;
            let session = TaskSession {
                pid,
                process: row.text(1),
                leader: row.parse(2),
                prepared: None,
                user: row.text(3),
                application: row.text(4),
                database: row.text(5),
                state: row.text(6),
                statement: statement::shown(&row.text(7), Syntax::Postgres, literals),
                state_s: row.parse(8),
                statement_s: row.parse(9),
                transaction_s: row.parse(10),
                ended_by: Some(format!("SELECT pg_terminate_backend({pid})")),
            };
            Some((pid, session))
        })
        .collect())
}

/// A lock that a prepared transaction holds and that a session waits for.
struct PreparedLock {
    waiter: i32,
    requested: String,
    held: String,
    holder: TaskSession,
}

/// Returns the lock waits of sessions and the locks of prepared transactions. Their locks have no
/// process; the lock on its own number identifies each transaction.
fn prepared(client: &mut Client) -> Result<Vec<PreparedLock>, ServerError> {
    let sql = "WITH locks AS MATERIALIZED (SELECT * FROM pg_locks) SELECT w.pid, w.mode, h.mode, \
               p.gid, p.owner, p.database, extract(epoch FROM clock_timestamp() - p.prepared) \
               FROM locks w JOIN locks h ON h.granted AND h.pid IS NULL AND NOT w.granted AND \
               (h.locktype, h.database, h.relation, h.page, h.tuple, h.virtualxid, \
               h.transactionid::text, h.classid, h.objid, h.objsubid) IS NOT DISTINCT FROM \
               (w.locktype, w.database, w.relation, w.page, w.tuple, w.virtualxid, \
               w.transactionid::text, w.classid, w.objid, w.objsubid) JOIN locks own ON own.pid \
               IS NULL AND own.locktype = 'transactionid' AND own.virtualtransaction = \
               h.virtualtransaction JOIN pg_prepared_xacts p ON p.transaction::text = \
               own.transactionid::text ORDER BY p.prepared";
    let rows = client.query(sql, &[]).map_err(while_doing(DOING))?;
    Ok(rows
        .iter()
        .filter_map(|row| {
            let holder = TaskSession {
                prepared: row.parse(3),
                user: row.text(4),
                database: row.text(5),
                state: PREPARED.to_owned(),
                transaction_s: row.parse(6),
                ..TaskSession::default()
            };
            Some(PreparedLock {
                waiter: row.parse(0)?,
                requested: row.text(1),
                held: row.text(2),
                holder,
            })
        })
        .collect())
}

/// The state of a prepared transaction.
const PREPARED: &str = "prepared transaction";

/// Lock modes from the weakest to the strongest, each with a bit for every mode that it conflicts
/// with (table 13.2 of PostgreSQL's documentation).
const CONFLICTS: [(&str, u16); 8] = [
    ("AccessShareLock", 0b1000_0000),
    ("RowShareLock", 0b1100_0000),
    ("RowExclusiveLock", 0b1111_0000),
    ("ShareUpdateExclusiveLock", 0b1111_1000),
    ("ShareLock", 0b1110_1100),
    ("ShareRowExclusiveLock", 0b1111_1100),
    ("ExclusiveLock", 0b1111_1110),
    ("AccessExclusiveLock", 0b1111_1111),
];

fn task(
    row: &Row<'_>,
    sessions: &HashMap<i32, TaskSession>,
    prepared: &[PreparedLock],
) -> WaitingTask {
    let known = |pid: i32| {
        let session = sessions.get(&pid).cloned();
        session.unwrap_or_else(|| TaskSession { pid, ..TaskSession::default() })
    };
    let pid = row.parse(0).unwrap_or(0);
    let mut blocked_by: Vec<TaskSession> = Vec::new();
    // A parallel query blocks as often as it has workers, all under the number of its session.
    for blocker in row.get(9).unwrap_or_default().split(',').filter_map(|pid| pid.parse().ok()) {
        if blocker != 0 && blocked_by.iter().all(|known| known.pid != blocker) {
            blocked_by.push(known(blocker));
        }
        // The server reports 0 for a prepared transaction.
        if blocker == 0 && blocked_by.iter().all(|known| known.pid != 0) {
            let of_waiter = prepared.iter().filter(|lock| {
                lock.waiter == pid && conflict(&CONFLICTS, &lock.requested, &lock.held)
            });
            let holders: Vec<TaskSession> = of_waiter.map(|lock| lock.holder.clone()).collect();
            let unnamed = TaskSession { state: PREPARED.to_owned(), ..TaskSession::default() };
            blocked_by.extend(if holders.is_empty() { vec![unnamed] } else { holders });
        }
    }
    WaitingTask {
        session: known(pid),
        wait_type: row.text(1),
        waited_s: row.parse(2),
        lock_mode: row.parse(3),
        resource: row.get(4).map(|kind| resource(kind, [5, 6, 7, 8].map(|column| row.get(column)))),
        blocked_by,
    }
}

/// Names the object of a lock.
fn resource(kind: &str, [relation, page, tuple, other]: [Option<&str>; 4]) -> String {
    let (relation, other) = (relation.unwrap_or("an unknown relation"), other.unwrap_or("?"));
    match (kind, page, tuple) {
        ("relation", ..) => relation.to_owned(),
        ("extend", ..) => format!("extension of {relation}"),
        ("page", Some(page), _) => format!("page {page} of {relation}"),
        ("tuple", Some(page), Some(tuple)) => format!("row {tuple} of page {page} of {relation}"),
        ("transactionid", Some(page), Some(tuple)) => {
            format!("row {tuple} of page {page} of {relation}, changed by transaction {other}")
        }
        ("transactionid", ..) => format!("transaction {other}"),
        ("virtualxid", ..) => format!("virtual transaction {other}"),
        ("advisory", ..) => format!("advisory lock {other}"),
        _ => format!("{kind} {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{CONFLICTS, resource};

    fn conflict(mode: &str, held: &str) -> bool {
        super::conflict(&CONFLICTS, mode, held)
    }

    #[test]
    fn lock_modes_conflict_as_documented() {
        for (request, _) in CONFLICTS {
            for (held, _) in CONFLICTS {
                assert_eq!(conflict(request, held), conflict(held, request), "{request} {held}");
            }
        }
        assert!(
            !conflict("RowExclusiveLock", "RowExclusiveLock")
                && conflict("RowExclusiveLock", "ShareLock")
        );
        assert!(
            !conflict("ShareLock", "ShareLock")
                && conflict("ShareUpdateExclusiveLock", "ShareUpdateExclusiveLock")
        );
        assert!(
            !conflict("AccessShareLock", "ExclusiveLock")
                && conflict("AccessShareLock", "AccessExclusiveLock")
        );
    }

    #[test]
    fn locks_are_named_by_what_they_are_on() {
        let (relation, page, tuple, other) = (Some("accounts"), Some("7"), Some("3"), Some("4711"));
        for (kind, columns, text) in [
            ("relation", [relation, None, None, None], "accounts"),
            ("extend", [relation, None, None, None], "extension of accounts"),
            ("page", [relation, page, None, None], "page 7 of accounts"),
            ("tuple", [relation, page, tuple, None], "row 3 of page 7 of accounts"),
            (
                "transactionid",
                [relation, page, tuple, other],
                "row 3 of page 7 of accounts, changed by transaction 4711",
            ),
            ("transactionid", [None, None, None, other], "transaction 4711"),
            ("virtualxid", [None, None, None, Some("3/12")], "virtual transaction 3/12"),
            ("advisory", [None, None, None, Some("0, 42")], "advisory lock 0, 42"),
            ("object", [None, None, None, Some("1262, 5")], "object 1262, 5"),
        ] {
            assert_eq!(resource(kind, columns), text);
        }
    }
}
