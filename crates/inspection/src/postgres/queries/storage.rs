//! The planner's statistics of columns, and the files of the server.
//!
//! <https://www.postgresql.org/docs/current/view-pg-stats.html>,
//! <https://www.postgresql.org/docs/current/monitoring-stats.html>

use super::indexes::{json, positions, texts};
use super::reader::version;
use crate::query_reader::StorageDetail;
use crate::statements::{DataFile, FileIo, HistogramStep, Snapshot, Table, TableStatistics};
use engine::{AdminSession, Row, ServerError, View};
use serde_json::Value;

/// The queries.
const FILE: &str = include_str!("storage.sql");

/// Adds the statistics of each column, where they are asked for. The server records neither the
/// rows that it sampled nor their number then.
pub(super) fn statistics(
    session: &mut dyn AdminSession,
    detail: StorageDetail,
    tables: &mut [Table],
) -> Result<(), ServerError> {
    if detail == StorageDetail::Nothing {
        return Ok(());
    }
    let sql = View::new("statistics", FILE).form(detail == StorageDetail::Values);
    let at = positions(tables);
    for row in session.query(&sql)?.iter() {
        let Some(table) = at.get(&(row.text(0), row.text(1))).map(|at| &mut tables[*at]) else {
            continue;
        };
        let table_statistics = TableStatistics {
            name: row.text(2),
            columns: vec![row.text(2)],
            changes: table.changed_since_analyze,
            gathered_ms: table.analyzed_ms,
            distinct: row.parse::<f64>(4).filter(|distinct| *distinct != 0.0),
            nulls: row.parse(3),
            steps: row.parse(5),
            histogram: histogram(&row),
            ..TableStatistics::default()
        };
        table.statistics.push(table_statistics);
    }
    Ok(())
}

/// Frequent values, then bounds of groups that have equally many of the other rows without NULL.
fn histogram(row: &Row<'_>) -> Vec<HistogramStep> {
    let shares: Vec<f64> =
        json(row, 7).as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
    let frequent = texts(&json(row, 6)).into_iter().zip(&shares).map(|(value, share)| {
        HistogramStep { value, share_equal: Some(*share), ..HistogramStep::default() }
    });
    let bounds = texts(&json(row, 8));
    let rest = 1.0 - row.parse::<f64>(3).unwrap_or(0.0) - shares.iter().sum::<f64>();
    let group = rest.max(0.0) / bounds.len().saturating_sub(1).max(1) as f64;
    let groups = bounds.into_iter().enumerate().map(|(at, value)| HistogramStep {
        value,
        share_between: (at > 0).then_some(group),
        ..HistogramStep::default()
    });
    frequent.chain(groups).collect()
}

/// A query, and the files that a row of its answer tells of.
struct Part {
    query: View,
    /// The first major version that has the view.
    since: u32,
    files: fn(Row<'_>) -> Vec<DataFile>,
}

const PARTS: [Part; 4] = [
    Part { query: View::new("tablespaces", FILE), since: 0, files: tablespaces },
    Part { query: View::new("files of databases", FILE), since: 0, files: databases },
    Part { query: View::new("WAL files", FILE), since: 0, files: wal },
    Part { query: View::new("I/O by kind", FILE), since: 16, files: io },
];

/// The first major version that counts bytes of I/O.
const IO_BYTES_SINCE: u32 = 18;

/// Reads sizes and I/O; what this role may not see is noted.
pub(super) fn files(session: &mut dyn AdminSession, snapshot: &mut Snapshot) {
    let major = version(session)[0];
    for Part { query, files, .. } in PARTS.iter().filter(|part| major >= part.since) {
        let answer = session.query(&query.form(major >= IO_BYTES_SINCE));
        if let Some(rows) = snapshot.read(query.name, answer) {
            snapshot.files.extend(rows.iter().flat_map(files));
        }
    }
}

fn tablespaces(row: Row<'_>) -> Vec<DataFile> {
    let location = row.text(1);
    vec![DataFile {
        // The folder of the server itself has none.
        name: if location.is_empty() { row.text(0) } else { location },
        kind: "tablespace".into(),
        bytes: row.parse(2),
        ..DataFile::default()
    }]
}

fn databases(row: Row<'_>) -> Vec<DataFile> {
    let of = |name: String, kind: &str| DataFile {
        database: row.text(0),
        name,
        kind: kind.into(),
        since_ms: row.parse(8),
        ..DataFile::default()
    };
    let data = DataFile {
        bytes: row.parse(2),
        reads: FileIo { count: row.parse(3), bytes: row.parse(4), ns: row.parse(5) },
        ..of(row.text(1), "data files")
    };
    let temporary = DataFile {
        files: row.parse(6),
        writes: FileIo { bytes: row.parse(7), ..FileIo::default() },
        ..of(String::new(), "temporary files, all since then")
    };
    vec![data, temporary]
}

fn wal(row: Row<'_>) -> Vec<DataFile> {
    vec![DataFile {
        name: "pg_wal".into(),
        kind: "WAL".into(),
        files: row.parse(0),
        bytes: row.parse(1),
        ..DataFile::default()
    }]
}

fn io(row: Row<'_>) -> Vec<DataFile> {
    vec![DataFile {
        name: row.text(0),
        kind: "I/O of all databases".into(),
        since_ms: row.parse(7),
        reads: FileIo { count: row.parse(1), bytes: row.parse(2), ns: row.parse(3) },
        writes: FileIo { count: row.parse(4), bytes: row.parse(5), ns: row.parse(6) },
        ..DataFile::default()
    }]
}
