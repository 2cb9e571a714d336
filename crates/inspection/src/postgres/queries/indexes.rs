//! Tables, indexes, what is known of their columns, and what was counted of them.

use super::reader::version;
use crate::postgres::PARTITIONED;
use crate::statements::{Column, ForeignKey, Index, Key, Table};
use engine::server::MARK;
use engine::{AdminSession, Row, ServerError};
use serde_json::Value;
use std::collections::HashMap;

/// Tables of users, and of extensions; temporary ones are their sessions' own.
const OF_USERS: &str = "n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ \
                        '^pg_(toast|temp_)' AND c.relpersistence <> 't'";

/// The tables of the database that a connection is to.
pub(super) fn tables(
    session: &mut dyn AdminSession,
    database: &str,
) -> Result<Vec<Table>, ServerError> {
    // Counters that were never reset go back to the server's start at least: a crash before it
    // would have emptied them.
    let since: Option<i64> = session
        .cell(&format!(
            "SELECT /* {MARK} */ (extract(epoch FROM coalesce(stats_reset, \
             pg_catalog.pg_postmaster_start_time())) * 1000)::int8 FROM \
             pg_catalog.pg_stat_database WHERE datname = pg_catalog.current_database()"
        ))?
        .and_then(|ms| ms.parse().ok());
    let sql = format!(
        "SELECT /* {MARK} */ c.oid, n.nspname, c.relname, pg_catalog.quote_ident(n.nspname) || \
         '.' || pg_catalog.quote_ident(c.relname), CASE WHEN s.n_live_tup > 0 THEN s.n_live_tup \
         ELSE greatest(c.reltuples, 0) END, pg_catalog.pg_relation_size(c.oid), s.seq_scan, \
         s.seq_tup_read, s.n_tup_ins, s.n_tup_upd, s.n_tup_hot_upd, s.n_tup_del, s.n_dead_tup, \
         s.n_mod_since_analyze, (extract(epoch FROM greatest(s.last_analyze, s.last_autoanalyze)) \
         * 1000)::int8, CASE c.relkind WHEN 'p' THEN '{PARTITIONED}' ELSE '' END, c.relkind IN \
         ('r', 'p') AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint k WHERE k.conrelid = \
         c.oid AND k.contype = 'p') AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE \
         d.objid = c.oid AND d.deptype = 'e') FROM pg_catalog.pg_class c JOIN \
         pg_catalog.pg_namespace n ON n.oid = c.relnamespace LEFT JOIN \
         pg_catalog.pg_stat_all_tables s ON s.relid = c.oid WHERE \
         c.relkind IN ('r', 'm', 'p') AND {OF_USERS} ORDER BY 2, 3"
    );
    let rows = session.query(&sql)?;
    let mut tables: Vec<Table> = rows.iter().map(|row| table(&row, database, since)).collect();
    let at: HashMap<String, usize> =
        rows.iter().enumerate().map(|(at, row)| (row.text(0), at)).collect();
    for row in session.query(&indexes_of(version(session)[0]))?.iter() {
        if let Some(at) = row.get(0).and_then(|oid| at.get(oid)) {
            tables[*at].indexes.push(index(&row));
        }
    }
    let keys = format!(
        "SELECT /* {MARK} */ k.conrelid, k.conname, \
         pg_catalog.json_agg(pg_catalog.quote_ident(a.attname) ORDER BY \
         pg_catalog.array_position(k.conkey, a.attnum)), k.confrelid::regclass::text FROM \
         pg_catalog.pg_constraint k JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid AND \
         a.attnum = ANY (k.conkey) WHERE k.contype = 'f' AND k.conparentid = 0 GROUP BY 1, 2, \
         k.confrelid"
    );
    for row in session.query(&keys)?.iter() {
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

/// The keys with what decides whether two are the same: operator class and collation by number, and
/// the two bits of `pg_index.indoption` (`INDOPTION_DESC`, `INDOPTION_NULLS_FIRST`).
fn indexes_of(major: u32) -> String {
    let last_scan =
        if major >= 16 { "(extract(epoch FROM s.last_idx_scan) * 1000)::int8" } else { "NULL" };
    format!(
        "SELECT /* {MARK} */ x.indrelid, i.relname, pg_catalog.quote_ident(n.nspname) || '.' || \
         pg_catalog.quote_ident(i.relname), m.amname, pg_catalog.pg_get_expr(x.indpred, \
         x.indrelid), x.indisunique, x.indisprimary OR x.indisexclusion OR x.indisreplident OR \
         i.relispartition OR i.relkind = 'I' OR EXISTS (SELECT FROM pg_catalog.pg_constraint k \
         WHERE k.conindid = i.oid AND k.contype IN ('p', 'u', 'x', 'f')), x.indisvalid, CASE WHEN \
         i.relkind = 'i' THEN pg_catalog.pg_relation_size(i.oid) END, greatest(i.reltuples, 0), \
         s.idx_scan, {last_scan}, s.idx_tup_read, s.idx_tup_fetch, o.idx_blks_hit, \
         o.idx_blks_read, pg_catalog.pg_get_indexdef(i.oid), (SELECT \
         pg_catalog.json_agg(pg_catalog.json_build_array(pg_catalog.pg_get_indexdef(i.oid, p, \
         true), x.indclass[p - 1], x.indcollation[p - 1], x.indoption[p - 1], EXISTS (SELECT FROM \
         pg_catalog.pg_opclass o WHERE o.oid = x.indclass[p - 1] AND o.opcname LIKE \
         '%pattern_ops') OR EXISTS (SELECT FROM pg_catalog.pg_collation l WHERE l.oid = \
         x.indcollation[p - 1] AND CASE l.collname WHEN 'default' THEN (SELECT d.datcollate FROM \
         pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database()) ELSE \
         l.collname END IN ('C', 'POSIX'))) ORDER BY p) FROM \
         pg_catalog.generate_series(1, x.indnkeyatts) p), (SELECT \
         pg_catalog.json_agg(pg_catalog.pg_get_indexdef(i.oid, p, true) ORDER BY p) FROM \
         pg_catalog.generate_series(x.indnkeyatts + 1, x.indnatts) p) FROM pg_catalog.pg_index x \
         JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid JOIN pg_catalog.pg_class c ON c.oid = \
         x.indrelid JOIN pg_catalog.pg_namespace n ON n.oid = i.relnamespace JOIN \
         pg_catalog.pg_am m ON m.oid = i.relam LEFT JOIN pg_catalog.pg_stat_all_indexes s ON \
         s.indexrelid = i.oid LEFT JOIN pg_catalog.pg_statio_all_indexes o ON o.indexrelid = \
         i.oid WHERE {OF_USERS} ORDER BY i.oid"
    )
}

fn index(row: &Row<'_>) -> Index {
    let is = |at| row.get(at) == Some("t");
    Index {
        name: row.text(1),
        quoted: row.text(2),
        method: row.text(3),
        keys: json(row, 17)
            .as_array()
            .map(|keys| {
                keys.iter()
                    .map(|part| {
                        let option = part[3].as_i64().unwrap_or(0);
                        Key {
                            column: part[0].as_str().unwrap_or_default().into(),
                            rules: format!("{} {}", part[1], part[2]),
                            descending: option & 1 != 0,
                            nulls_first: option & 2 != 0,
                            serves_prefix: part[4].as_bool().unwrap_or(false),
                        }
                    })
                    .collect()
            })
            .unwrap_or_default(),
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
    let sql = format!(
        "SELECT /* {MARK} */ n.nspname, c.relname, pg_catalog.quote_ident(a.attname), s.avg_width, \
         s.null_frac, s.n_distinct, pg_catalog.format_type(a.atttypid, NULL) FROM \
         pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid JOIN \
         pg_catalog.pg_namespace n ON n.oid = c.relnamespace LEFT JOIN (SELECT DISTINCT ON \
         (schemaname, tablename, attname) * FROM pg_catalog.pg_stats ORDER BY schemaname, \
         tablename, attname, inherited DESC) s ON s.schemaname = n.nspname AND s.tablename = \
         c.relname AND s.attname = a.attname WHERE a.attnum > 0 AND NOT a.attisdropped AND \
         c.relkind IN ('r', 'm', 'p') AND {OF_USERS} ORDER BY c.oid, a.attnum"
    );
    let at = positions(tables);
    for row in session.query(&sql)?.iter() {
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
