//! SQLite's description of a statement before it runs: its plan, the pages of the table, and its
//! own counters of one run.

use engine::planned::{PlanStep, each, indented};
use engine::{Explained, NoPlan, PlanRequest, Planned};
use observations::Fact;
use rusqlite::{Connection, Row, StatementStatus};
use work::Table;

/// The counters of a statement's work
/// (<https://www.sqlite.org/c3ref/c_stmtstatus_counter.html>).
const COUNTERS: [(&str, StatementStatus); 4] = [
    ("vm_steps", StatementStatus::VmStep),
    ("fullscan_steps", StatementStatus::FullscanStep),
    ("sorts", StatementStatus::Sort),
    ("automatic_index_rows", StatementStatus::AutoIndex),
];

/// Explains a statement on a table of the file `main`.
pub fn explain(
    connection: &Connection,
    sql: &str,
    table: &Table,
    analyze: bool,
) -> rusqlite::Result<Explained> {
    let (pages, bytes) = connection.query_row(
        "SELECT pageno, pgsize FROM dbstat WHERE name = ?1 AND aggregate = TRUE",
        [table.name],
        |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)),
    )?;
    let mut explained = Explained {
        plan: Some(Planned { text: plan(connection, sql)?, ..Planned::default() }),
        pages: Some(pages as u64),
        page_bytes: Some((bytes / pages.max(1)) as u64),
        ..Explained::default()
    };
    let mut statement = connection.prepare(sql)?;
    // Without values for its parameters a statement would do something else.
    if analyze && statement.parameter_count() == 0 {
        let mut rows = statement.raw_query();
        while rows.next()?.is_some() {}
        drop(rows);
        explained.counters = COUNTERS
            .iter()
            .map(|(name, status)| Fact {
                name: (*name).into(),
                unit: String::new(),
                value: f64::from(statement.get_status(*status)),
            })
            .collect();
    }
    Ok(explained)
}

/// The plans of the user's statements; they do not depend on the values of parameters, and SQLite
/// shows no estimates.
pub fn plans(
    connection: &Connection,
    plan_requests: &[PlanRequest],
) -> Vec<Result<Planned, NoPlan>> {
    each(plan_requests, |plan_request| {
        let text = plan(connection, &plan_request.statement.sql(|number| format!("?{number}")));
        match text {
            // An INSERT of values, or a DELETE of all rows.
            Ok(text) if text.is_empty() => Err(NoPlan::NoSteps { engine: "SQLite" }),
            Ok(text) => Ok(Planned { text, ..Planned::default() }),
            // Its text would repeat the statement.
            Err(rusqlite::Error::SqlInputError { msg, .. }) => Err(NoPlan::refused(msg)),
            Err(error) => Err(NoPlan::refused(error)),
        }
    })
}

/// The steps of a statement, a line for each, indented below the one that it belongs to.
fn plan(connection: &Connection, sql: &str) -> rusqlite::Result<String> {
    let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
    let steps = statement.raw_query().mapped(|row: &Row<'_>| {
        Ok(PlanStep { id: row.get(0)?, parent: row.get(1)?, detail: row.get(3)? })
    });
    Ok(indented(&steps.collect::<rusqlite::Result<Vec<_>>>()?))
}
