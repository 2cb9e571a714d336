//! Tables, indexes, what is known of their columns, and what was counted of them.

use super::reader::version;
use crate::statements::{Column, ForeignKey, Index, Key, Table};
use engine::{AdminSession, Row, ServerError, View};
use serde_json::Value;
use std::collections::HashMap;

/// The queries about tables of users, and of extensions; temporary ones are their sessions' own.
const FILE: &str = include_str!("tables.sql");
/// The indexes, with the time of the last scan where the server has it.
///
/// Keys have what decides whether two are the same: operator class and collation by number, and the
/// two bits of `pg_index.indoption` (`INDOPTION_DESC`, `INDOPTION_NULLS_FIRST`).
const INDEXES: View = View::new("indexes", FILE);
/// The first major version that notes the last scan.
const LAST_SCAN_SINCE: u32 = 16;

/// The tables of the database that a connection is to.
pub(super) fn tables(
    session: &mut dyn AdminSession,
    database: &str,
) -> Result<Vec<Table>, ServerError> {
    // Counters that were never reset go back to the server's start at least: a crash before it
    // would have emptied them.
    let since = session.cell(&View::new("start of counters", FILE).sql())?;
    let since: Option<i64> = since.and_then(|ms| ms.parse().ok());
    let rows = session.query(&View::new("tables", FILE).sql())?;
    let mut tables: Vec<Table> = rows.iter().map(|row| table(&row, database, since)).collect();
    let at: HashMap<String, usize> =
        rows.iter().enumerate().map(|(at, row)| (row.text(0), at)).collect();
    let indexes = INDEXES.form(version(session)[0] >= LAST_SCAN_SINCE);
    for row in session.query(&indexes)?.iter() {
        if let Some(at) = row.get(0).and_then(|oid| at.get(oid)) {
            tables[*at].indexes.push(index(&row));
        }
    }
    for row in session.query(&View::new("foreign keys", FILE).sql())?.iter() {
        if let Some(at) = row.get(0).and_then(|oid| at.get(oid)) {
            tables[*at].foreign_keys.push(ForeignKey {
                name: row.text(1),
                columns: texts(&json(&row, 2)),
                target: row.text(3),
            });
        }
    }
    columns(session, &mut tables)?;
    Ok(tables)
}

fn table(row: &Row<'_>, database: &str, since_ms: Option<i64>) -> Table {
    Table {
        database: database.into(),
        schema: row.text(1),
        name: row.text(2),
        quoted: row.text(3),
        rows: row.parse(4),
        bytes: row.parse(5),
        since_ms,
        scans: row.parse(6),
        scanned_rows: row.parse(7),
        inserts: row.parse(8),
        updates: row.parse(9),
        hot_updates: row.parse(10),
        deletes: row.parse(11),
        dead_rows: row.parse(12),
        changed_since_analyze: row.parse(13),
        analyzed_ms: row.parse(14),
        storage: row.text(15),
        lacks_primary_key: row.get(16) == Some("t"),
        ..Table::default()
    }
}

fn key(part: &Value) -> Key {
    let option = part[3].as_i64().unwrap_or(0);
    Key {
        column: part[0].as_str().unwrap_or_default().into(),
        rules: format!("{} {}", part[1], part[2]),
        descending: option & 1 != 0,
        nulls_first: option & 2 != 0,
        serves_prefix: part[4].as_bool().unwrap_or(false),
    }
}

fn index(row: &Row<'_>) -> Index {
    let is = |at| row.get(at) == Some("t");
    Index {
        name: row.text(1),
        quoted: row.text(2),
        method: row.text(3),
        keys: json(row, 17).as_array().into_iter().flatten().map(key).collect(),
        included: texts(&json(row, 18)),
        predicate: row.parse(4),
        is_unique: is(5),
        is_needed: is(6),
        is_valid: is(7),
        bytes: row.parse(8),
        entries: row.parse(9),
        scans: row.parse(10),
        interval_scans: None,
        last_scan_ms: row.parse(11),
        rows_read: row.parse(12),
        rows_fetched: row.parse(13),
        blocks: row.parse(14).zip(row.parse(15)),
        definition: row.text(16),
    }
}

pub(super) fn json(row: &Row<'_>, at: usize) -> Value {
    row.get(at).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

pub(super) fn texts(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The position of each table, by its schema and name.
pub(super) fn positions(tables: &[Table]) -> HashMap<(String, String), usize> {
    let named = tables.iter().enumerate();
    named.map(|(at, table)| ((table.schema.clone(), table.name.clone()), at)).collect()
}

/// Reads the columns with the planner's statistics of them; unreadable tables have none.
fn columns(session: &mut dyn AdminSession, tables: &mut [Table]) -> Result<(), ServerError> {
    let at = positions(tables);
    for row in session.query(&View::new("columns", FILE).sql())?.iter() {
        if let Some(at) = at.get(&(row.text(0), row.text(1))) {
            tables[*at].columns.push(Column {
                name: row.text(2),
                width: row.parse(3).unwrap_or(0.0),
                nulls: row.parse(4).unwrap_or(0.0),
                distinct: row.parse(5).unwrap_or(0.0),
                kind: row.text(6),
                is_unanalyzed: row.get(3).is_none(),
            });
        }
    }
    Ok(())
}
