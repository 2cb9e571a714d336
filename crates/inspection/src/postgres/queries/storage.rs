//! The planner's statistics of columns, and the files of the server.
//!
//! <https://www.postgresql.org/docs/current/view-pg-stats.html>,
//! <https://www.postgresql.org/docs/current/monitoring-stats.html>

use super::indexes::{json, positions, texts};
use super::reader::version;
use crate::query_reader::StorageDetail;
use crate::statements::{DataFile, FileIo, HistogramStep, Snapshot, Table, TableStatistics};
use engine::server::MARK;
use engine::{AdminSession, Row, ServerError};
use serde_json::Value;

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
    let values = if detail == StorageDetail::Values {
        "pg_catalog.to_json(most_common_vals::text::text[]), \
         pg_catalog.to_json(most_common_freqs), \
         pg_catalog.to_json(histogram_bounds::text::text[])"
    } else {
        "NULL, NULL, NULL"
    };
    let sql = format!(
        "SELECT DISTINCT ON (schemaname, tablename, attname) /* {MARK} */ schemaname, tablename, \
         attname, null_frac, n_distinct, \
         coalesce(pg_catalog.array_length(most_common_freqs, 1), 0) + \
         coalesce(pg_catalog.array_length(histogram_bounds::text::text[], 1), 0), {values} FROM \
         pg_catalog.pg_stats WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER \
         BY schemaname, tablename, attname, inherited DESC"
    );
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

/// Reads sizes and I/O; what this role may not see is noted.
pub(super) fn files(session: &mut dyn AdminSession, snapshot: &mut Snapshot) {
    let parts: [(&str, Part); 4] = [
        ("tablespaces", tablespaces),
        ("files of databases", databases),
        ("WAL files", wal),
        ("I/O by kind", io),
    ];
    for (what, part) in parts {
        match part(session) {
            Ok(files) => snapshot.files.extend(files),
            Err(error) => snapshot.note_unread(what, error),
        }
    }
}

type Part = fn(&mut dyn AdminSession) -> Result<Vec<DataFile>, ServerError>;

/// The privilege to see sizes of what is not one's own.
const READS_ALL: &str = "pg_catalog.pg_has_role('pg_read_all_stats', 'MEMBER')";

fn tablespaces(session: &mut dyn AdminSession) -> Result<Vec<DataFile>, ServerError> {
    let rows = session.query(&format!(
        "SELECT /* {MARK} */ spcname, pg_catalog.pg_tablespace_location(oid), CASE WHEN \
             {READS_ALL} OR pg_catalog.has_tablespace_privilege(oid, 'CREATE') THEN \
             pg_catalog.pg_tablespace_size(oid) END FROM pg_catalog.pg_tablespace ORDER BY 1"
    ))?;
    let files = rows.iter().map(|row| {
        let location = row.text(1);
        DataFile {
            // The folder of the server itself has none.
            name: if location.is_empty() { row.text(0) } else { location },
            kind: "tablespace".into(),
            bytes: row.parse(2),
            ..DataFile::default()
        }
    });
    Ok(files.collect())
}

fn databases(session: &mut dyn AdminSession) -> Result<Vec<DataFile>, ServerError> {
    let rows = session.query(&format!(
        "SELECT /* {MARK} */ d.datname, t.spcname, CASE WHEN {READS_ALL} OR \
             pg_catalog.has_database_privilege(d.oid, 'CONNECT') THEN \
             pg_catalog.pg_database_size(d.oid) END, s.blks_read, s.blks_read * \
             pg_catalog.current_setting('block_size')::int8, CASE \
             pg_catalog.current_setting('track_io_timing') WHEN 'on' THEN \
             pg_catalog.round(s.blk_read_time * 1000000)::int8 END, s.temp_files, s.temp_bytes, \
             (extract(epoch FROM s.stats_reset) * 1000)::int8 FROM pg_catalog.pg_database d JOIN \
             pg_catalog.pg_tablespace t ON t.oid = d.dattablespace JOIN \
             pg_catalog.pg_stat_database s ON s.datid = d.oid WHERE d.datallowconn ORDER BY 1"
    ))?;
    let files = rows.iter().flat_map(|row| {
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
        [data, temporary]
    });
    Ok(files.collect())
}

fn wal(session: &mut dyn AdminSession) -> Result<Vec<DataFile>, ServerError> {
    let sql = format!(
        "SELECT /* {MARK} */ pg_catalog.count(*), pg_catalog.sum(size)::int8 FROM \
         pg_catalog.pg_ls_waldir()"
    );
    let rows = session.query(&sql)?;
    let files = rows.iter().map(|row| DataFile {
        name: "pg_wal".into(),
        kind: "WAL".into(),
        files: row.parse(0),
        bytes: row.parse(1),
        ..DataFile::default()
    });
    Ok(files.collect())
}

/// By `pg_stat_io`, which PostgreSQL has from 16 on.
fn io(session: &mut dyn AdminSession) -> Result<Vec<DataFile>, ServerError> {
    let [read_bytes, write_bytes] = match version(session)[0] {
        18.. => ["read_bytes", "write_bytes"],
        16.. => ["reads * op_bytes", "writes * op_bytes"],
        _ => return Ok(Vec::new()),
    };
    let is_timed = "pg_catalog.current_setting(CASE object WHEN 'wal' THEN \
                    'track_wal_io_timing' ELSE 'track_io_timing' END) = 'on'";
    let time = |column: &str| {
        format!(
            "CASE WHEN {is_timed} THEN pg_catalog.round(pg_catalog.sum({column}) * 1000000)::int8 \
             END"
        )
    };
    let rows = session.query(&format!(
        "SELECT /* {MARK} */ object || ', ' || context, pg_catalog.sum(reads)::int8, \
             pg_catalog.sum({read_bytes})::int8, {}, pg_catalog.sum(writes)::int8, \
             pg_catalog.sum({write_bytes})::int8, {}, (extract(epoch FROM \
             pg_catalog.max(stats_reset)) * 1000)::int8 FROM pg_catalog.pg_stat_io GROUP BY \
             object, context ORDER BY 1",
        time("read_time"),
        time("write_time")
    ))?;
    let files = rows.iter().map(|row| DataFile {
        name: row.text(0),
        kind: "I/O of all databases".into(),
        since_ms: row.parse(7),
        reads: FileIo { count: row.parse(1), bytes: row.parse(2), ns: row.parse(3) },
        writes: FileIo { count: row.parse(4), bytes: row.parse(5), ns: row.parse(6) },
        ..DataFile::default()
    });
    Ok(files.collect())
}
