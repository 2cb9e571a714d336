use super::{OBSERVER, while_doing};
use crate::ServerError;
use observations::{TaskSession, WaitingTask, redacted};
use pgclient::{Client, Row};
use std::collections::HashMap;

const DOING: &str = "asking who waits for whom";

/// What a [`TaskSession`] is made of, of `pg_stat_activity a`: eight columns.
const SESSION: &str = "a.pid, a.usename, a.application_name, a.datname, a.state, left(a.query, 1000), \
     extract(epoch FROM clock_timestamp() - a.query_start), extract(epoch FROM clock_timestamp() - a.xact_start)";

/// Who waits for what at this moment, the longest wait first.
///
/// Of a row lock the server says only for whose transaction a session waits. The row is known all
/// the same: the first who waits for it has locked its place in the queue, the `tuple` lock.
pub(super) fn waiting_tasks(client: &mut Client) -> Result<Vec<WaitingTask>, ServerError> {
    // Blockers are asked for only where a lock is waited for, because the answer stops the lock
    // manager for a moment. Names can be told only of the database that we are connected to.
    let sql = format!(
        "WITH locks AS MATERIALIZED (SELECT * FROM pg_locks), \
         here AS (SELECT oid FROM pg_database WHERE datname = current_database()) \
         SELECT {SESSION}, concat_ws(':', a.wait_event_type, a.wait_event), \
         extract(epoch FROM clock_timestamp() - l.waitstart), l.mode, l.locktype, \
         CASE WHEN l.relation IS NULL AND r.relation IS NULL THEN NULL \
         WHEN coalesce(l.database, r.database) IN (0, here.oid) THEN coalesce(l.relation, r.relation)::regclass::text \
         ELSE 'relation ' || coalesce(l.relation, r.relation) || ' of another database' END, \
         coalesce(l.page, r.page), coalesce(l.tuple, r.tuple), \
         coalesce(l.transactionid::text, l.virtualxid, l.classid || ', ' || l.objid), \
         CASE WHEN a.wait_event_type = 'Lock' THEN array_to_string(pg_blocking_pids(a.pid), ',') END \
         FROM pg_stat_activity a CROSS JOIN here \
         LEFT JOIN locks l ON l.pid = a.pid AND NOT l.granted \
         LEFT JOIN locks r ON r.pid = a.pid AND r.granted AND r.locktype = 'tuple' AND l.locktype = 'transactionid' \
         WHERE a.wait_event_type NOT IN ('Activity', 'Client') AND a.application_name <> '{OBSERVER}' \
         ORDER BY 10 DESC NULLS LAST, 7 DESC NULLS LAST, 1"
    );
    let rows = client.query(&sql, &[]).map_err(while_doing(DOING))?;
    let sessions = sessions(client)?;
    Ok(rows.iter().map(|row| task(&row, &sessions)).collect())
}

/// All sessions, to name those that are in the way.
fn sessions(client: &mut Client) -> Result<HashMap<i32, TaskSession>, ServerError> {
    let sql = format!("SELECT {SESSION} FROM pg_stat_activity a");
    let rows = client.query(&sql, &[]).map_err(while_doing(DOING))?;
    Ok(rows.iter().map(|row| session(&row)).map(|session| (session.pid, session)).collect())
}

fn session(row: &Row<'_>) -> TaskSession {
    TaskSession {
        pid: row.parse(0).unwrap_or(0),
        user: row.text(1),
        application: row.text(2),
        database: row.text(3),
        state: row.text(4),
        statement: redacted(&row.text(5)),
        statement_s: row.parse(6),
        transaction_s: row.parse(7),
    }
}

fn task(row: &Row<'_>, sessions: &HashMap<i32, TaskSession>) -> WaitingTask {
    let blockers = row.get(16).unwrap_or_default().split(',').filter_map(|pid| pid.parse().ok());
    let blocked_by = blockers
        .map(|pid| match sessions.get(&pid) {
            Some(session) => session.clone(),
            // The server reports 0 for the holder of a prepared transaction.
            None if pid == 0 => {
                TaskSession { state: "prepared transaction".to_owned(), ..TaskSession::default() }
            }
            None => TaskSession { pid, ..TaskSession::default() },
        })
        .collect();
    WaitingTask {
        session: session(row),
        wait_type: row.text(8),
        waited_s: row.parse(9),
        lock_mode: row.parse(10),
        resource: row.get(11).map(|kind| resource(kind, [12, 13, 14, 15].map(|column| row.get(column)))),
        blocked_by,
    }
}

/// What a lock is on, in names.
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
    use super::resource;

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
