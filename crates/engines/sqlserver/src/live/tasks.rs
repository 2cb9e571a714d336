//! Waiting sessions and their blockers.

use crate::PageId;
use engine::{Row, Rows};
use observations::{TaskSession, WaitingTask, order};
use std::collections::BTreeMap;
use work::sql::Syntax;
use work::sql::statement;

/// Characters of a resource's description that are kept.
const RESOURCE_MAX: usize = 300;
/// Value of `blocking_session_id` for a distributed transaction without a session.
const ORPHANED: i32 = -2;

/// Returns the waiting sessions, the longest wait first, from the rows of [`super::views::TASKS`]
/// and [`super::views::SESSIONS`]. Of a parallel query's tasks the blocked one counts, else the one
/// that has waited longest.
pub fn waiting(tasks: &Rows, sessions: &Rows, literals: bool) -> Vec<WaitingTask> {
    let known: BTreeMap<i32, TaskSession> = sessions
        .iter()
        .filter_map(|row| session(row, literals))
        .map(|session| (session.pid, session))
        .collect();
    let find = |pid: i32| {
        known.get(&pid).cloned().unwrap_or_else(|| TaskSession { pid, ..TaskSession::default() })
    };
    let mut waiting: Vec<WaitingTask> = Vec::new();
    for row in tasks.iter() {
        let Some(pid) = row.parse::<i32>("session_id") else { continue };
        let blocker = row.parse::<i32>("blocking_session_id").filter(|blocker| *blocker != pid);
        let blocked_by = match blocker {
            Some(blocker) if blocker > 0 => vec![find(blocker)],
            Some(ORPHANED) => {
                let process = "distributed transaction without a session".to_owned();
                vec![TaskSession { pid: ORPHANED, process, ..TaskSession::default() }]
            }
            _ => Vec::new(),
        };
        let task = WaitingTask {
            session: find(pid),
            wait_type: row.text("wait_type"),
            waited_s: seconds(row, "wait_ms"),
            resource: row.get("resource").map(resource),
            lock_mode: row
                .get("wait_type")
                .and_then(|name| name.strip_prefix("LCK_M_"))
                .map(str::to_owned),
            blocked_by,
        };
        match waiting.iter_mut().find(|other| other.session.pid == pid) {
            Some(other) if other.blocked_by.is_empty() && !task.blocked_by.is_empty() => {
                *other = task;
            }
            Some(_) => {}
            None => waiting.push(task),
        }
    }
    order::largest_first(&mut waiting, &|row| row.waited_s.unwrap_or(0.0));
    waiting
}

/// A column of milliseconds.
fn seconds(row: Row<'_>, column: &str) -> Option<f64> {
    Some(row.parse::<f64>(column)? / 1e3)
}

fn session(row: Row<'_>, literals: bool) -> Option<TaskSession> {
    let pid = row.parse("session_id")?;
    let is_open = row.parse::<i64>("open_transactions").is_some_and(|open| open > 0);
    let status = row.text("status");
    let sleeps = status == "sleeping";
    Some(TaskSession {
        pid,
        user: row.text("login_name"),
        application: row.text("program_name"),
        database: row.text("database_name"),
        state: if sleeps && is_open { "idle in transaction".to_owned() } else { status },
        state_s: row.parse("idle_s").filter(|_| sleeps),
        statement: statement::shown(&row.text("statement"), Syntax::SqlServer, literals),
        statement_s: seconds(row, "statement_ms"),
        transaction_s: row.parse("transaction_s"),
        ended_by: Some(format!("KILL {pid}")),
        ..TaskSession::default()
    })
}

/// Describes the awaited resource, with the kind of a page.
fn resource(description: &str) -> String {
    match description.parse::<PageId>() {
        Ok(page) => format!("page {page}, a {} page", page.kind().name),
        Err(_) => description.trim().chars().take(RESOURCE_MAX).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use testing::rows::rows;

    #[test]
    fn blockers_are_named_and_a_parallel_query_counts_once() {
        let tasks = rows(
            "session_id | exec_context_id | wait_ms | wait_type | resource | blocking_session_id
             51 | 0 | 2500 | LCK_M_X | keylock hobtid=72057594043432960 dbid=5 mode=X | 52
             53 | 3 | 900 | CXPACKET | exchangeEvent | 53
             53 | 1 | 400 | LCK_M_S | objectlock | 51
             54 | 0 | 12 | PAGELATCH_UP | 2:1:1 | -4
             55 | 0 | 5 | LCK_M_S | objectlock | -2",
        );
        let sessions = rows(
            "session_id | status | login_name | program_name | database_name | open_transactions \
             | idle_s | statement_ms | transaction_s | statement
             51 | suspended | anna | shop | orders | 1 | - | 2600 | 3 | UPDATE t SET a = 'S3c' \
             WHERE b = 42
             52 | sleeping | bert | report | orders | 1 | 12 | - | 13 | UPDATE t SET a = 1
             53 | suspended | anna | shop | orders | 0 | - | 950 | - | SELECT [a b] FROM t WHERE c \
             = N'S3c'",
        );
        let waiting = waiting(&tasks, &sessions, false);
        let rows: Vec<_> = waiting
            .iter()
            .map(|task| {
                (
                    task.session.pid,
                    &*task.wait_type,
                    task.blocked_by.iter().map(|blocked_by| blocked_by.pid).collect::<Vec<_>>(),
                )
            })
            .collect();
        assert_eq!(
            rows,
            [
                (51, "LCK_M_X", vec![52]),
                (53, "LCK_M_S", vec![51]),
                (54, "PAGELATCH_UP", vec![]),
                (55, "LCK_M_S", vec![-2]),
            ]
        );
        assert_eq!((waiting[0].waited_s, waiting[0].lock_mode.as_deref()), (Some(2.5), Some("X")));
        assert_eq!(waiting[0].session.statement, "UPDATE t SET a = ? WHERE b = ?");
        let holder = &waiting[0].blocked_by[0];
        assert!(holder.is_idle_in_transaction());
        assert_eq!(
            (holder.state_s, holder.transaction_s, holder.ended_by.as_deref()),
            (Some(12.0), Some(13.0), Some("KILL 52"))
        );
        assert_eq!(waiting[2].resource.as_deref(), Some("page 2:1:1, a PFS page"));
        assert_eq!(waiting[1].session.statement, "SELECT [a b] FROM t WHERE c = N?");
    }
}
