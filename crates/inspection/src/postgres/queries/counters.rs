//! Statements by `pg_stat_statements`.

use super::FILE;
use super::reader::{Reader, dropped};
use crate::query_reader::TEXT_MAX;
use crate::statements::{CountedRow, Counter, Snapshot, Spread, Statement};
use engine::server::MARK;
use engine::{AdminSession, Row, ServerError, View};
use report::text::joined;

/// Counters by the columns that they are in, and what makes the column a whole number: times are in
/// ms. Of several columns the sum of those that this version of the extension has.
#[rustfmt::skip]
const COLUMNS: [(Counter, &[&str], u32); 22] = [
    (Counter::Calls, &["calls"], 1),
    (Counter::TimeNs, &["total_exec_time"], 1_000_000),
    (Counter::Plans, &["plans"], 1),
    (Counter::PlanningNs, &["total_plan_time"], 1_000_000),
    (Counter::Rows, &["rows"], 1),
    (Counter::SharedHitBlocks, &["shared_blks_hit"], 1),
    (Counter::SharedReadBlocks, &["shared_blks_read"], 1),
    (Counter::SharedDirtiedBlocks, &["shared_blks_dirtied"], 1),
    (Counter::SharedWrittenBlocks, &["shared_blks_written"], 1),
    (Counter::LocalHitBlocks, &["local_blks_hit"], 1),
    (Counter::LocalReadBlocks, &["local_blks_read"], 1),
    (Counter::LocalDirtiedBlocks, &["local_blks_dirtied"], 1),
    (Counter::LocalWrittenBlocks, &["local_blks_written"], 1),
    (Counter::TempReadBlocks, &["temp_blks_read"], 1),
    (Counter::TempWrittenBlocks, &["temp_blks_written"], 1),
    (Counter::ReadNs, &["blk_read_time", "shared_blk_read_time"], 1_000_000),
    (Counter::WriteNs, &["blk_write_time", "shared_blk_write_time"], 1_000_000),
    (Counter::WalRecords, &["wal_records"], 1),
    (Counter::WalFullPages, &["wal_fpi"], 1),
    (Counter::WalBytes, &["wal_bytes"], 1),
    (Counter::JitFunctions, &["jit_functions"], 1),
    (Counter::JitNs, &["jit_generation_time", "jit_inlining_time", "jit_optimization_time",
        "jit_emission_time"], 1_000_000),
];

const WHAT: &str = "statements";
const NOT_INSTALLED: &str = "the extension pg_stat_statements was not found in any database that \
                             Steelbench read. To install it, add pg_stat_statements to \
                             shared_preload_libraries, restart the server, then run CREATE \
                             EXTENSION pg_stat_statements";
const NOT_LOADED: &str =
    "pg_stat_statements is not loaded; add it to shared_preload_libraries and restart the server";
const OLDER: &str = "this pg_stat_statements is older than version 1.8; run ALTER EXTENSION \
                     pg_stat_statements UPDATE, or use PostgreSQL 14 or later";

impl Reader {
    /// Reads the statements, or notes why there are none.
    ///
    /// # Errors
    /// When the server does not answer.
    pub(super) fn statements(&mut self, snapshot: &mut Snapshot) -> Result<(), ServerError> {
        match self.read_statements(snapshot) {
            Ok(()) => {}
            // "object not in prerequisite state"
            Err(error) if error.code.as_deref() == Some("55000") => {
                snapshot.note_unread(WHAT, NOT_LOADED);
            }
            Err(error) if error.is_silence() => return Err(error),
            Err(error) => snapshot.note_unread(WHAT, error.what),
        }
        Ok(())
    }

    /// Reads the statements.
    fn read_statements(&mut self, snapshot: &mut Snapshot) -> Result<(), ServerError> {
        if self.extension.is_none() {
            self.extension = self.find_extension()?;
        }
        let Some((database, schema)) = self.extension.clone() else {
            return Err(ServerError::new(NOT_INSTALLED));
        };
        let session = self.session(&database)?;
        let there = columns(session, &schema)?;
        if !there.iter().any(|name| name == "total_exec_time") {
            return Err(ServerError::new(OLDER));
        }
        let counters: Vec<(Counter, String)> = COLUMNS
            .into_iter()
            .filter_map(|(counter, columns, scale)| Some((counter, sum(columns, &there, scale)?)))
            .collect();
        let column = |name: &str, sql: &'static str, absent: &'static str| {
            if there.iter().any(|known| known == name) { sql } else { absent }
        };
        // From 14 on, and from 17 on.
        let toplevel = column("toplevel", "s.toplevel", "true");
        let since =
            column("stats_since", "(extract(epoch FROM s.stats_since) * 1000)::int8", "NULL::int8");
        let sql = format!(
            "SELECT /* {MARK} */ s.queryid, d.datname, r.rolname, {toplevel}, \
             pg_catalog.left(s.query, {TEXT_MAX}), s.min_exec_time, s.max_exec_time, \
             s.stddev_exec_time, s.dbid, s.userid, {since}, {} FROM {schema}.pg_stat_statements s \
             LEFT JOIN pg_catalog.pg_database d ON d.oid = s.dbid LEFT JOIN pg_catalog.pg_roles r \
             ON r.oid = s.userid WHERE coalesce(s.query, '') NOT LIKE '%{MARK}%' AND s.calls > 0",
            joined(counters.iter().map(|(_, sql)| sql), ", ")
        );
        let rows = session.query(&sql)?;
        let read = rows.iter().filter(|row| row.get(0).is_some());
        snapshot.statements = read.map(|row| statement(&row, &counters)).collect();
        let hidden = rows.len() - snapshot.statements.len();
        if hidden > 0 {
            let why = "this role is not a member of pg_read_all_stats";
            snapshot.note_unread(format!("{hidden} statements of other roles"), why);
        }
        let info = format!(
            "SELECT /* {MARK} */ (extract(epoch FROM stats_reset) * 1000)::int8, dealloc FROM \
             {schema}.pg_stat_statements_info"
        );
        // Version 1.9 has it.
        match session.query(&info) {
            Ok(rows) => {
                snapshot.span.from_ms = rows.first().and_then(|row| row.parse(0));
                snapshot.evictions = rows.first().and_then(|row| row.parse(1));
            }
            Err(error) if error.is_silence() => return Err(error),
            Err(_) => {}
        }
        Ok(())
    }

    /// In the database that was named, else in others that we may connect to.
    fn find_extension(&mut self) -> Result<Option<(String, String)>, ServerError> {
        let home = self.home.clone();
        let rows = self.session(&home)?.query(&View::new("other databases", FILE).sql())?;
        let others: Vec<String> = rows.iter().map(|row| row.text(0)).collect();
        let limit = self.limits.databases.max(1);
        for database in std::iter::once(home.clone()).chain(others).take(limit) {
            let is_home = database == home;
            let schema = self.session(&database).and_then(schema);
            match schema {
                Ok(Some(schema)) => return Ok(Some((database, schema))),
                Err(error) if is_home || error.is_silence() => return Err(error),
                // Another that does not let us in has none for us.
                _ => {}
            }
        }
        Ok(None)
    }
}

fn schema(session: &mut dyn AdminSession) -> Result<Option<String>, ServerError> {
    session.cell(&format!(
        "SELECT /* {MARK} */ pg_catalog.quote_ident(n.nspname) FROM pg_catalog.pg_extension e \
         JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = \
         'pg_stat_statements'"
    ))
}

/// The columns that this version of the extension has.
fn columns(session: &mut dyn AdminSession, schema: &str) -> Result<Vec<String>, ServerError> {
    let sql = format!(
        "SELECT /* {MARK} */ attname FROM pg_catalog.pg_attribute WHERE attrelid = \
         '{}.pg_stat_statements'::regclass AND attnum > 0",
        schema.replace('\'', "''")
    );
    Ok(session.query(&sql)?.iter().map(|row| row.text(0)).collect())
}

/// Returns the select expression of a counter.
fn sum(columns: &[&str], there: &[String], scale: u32) -> Option<String> {
    let known = columns.iter().filter(|column| there.iter().any(|name| name == *column));
    let sum = joined(known.map(|column| format!("s.{column}")), " + ");
    match scale {
        _ if sum.is_empty() => None,
        // Whole numbers already: a conversion of each counter of thousands of statements costs the
        // server more than they do.
        1 => Some(sum),
        _ => Some(format!("pg_catalog.round((({sum}) * {scale})::numeric)")),
    }
}

fn statement(row: &Row<'_>, counters: &[(Counter, String)]) -> Statement {
    let times = [5, 6, 7].map(|at| row.parse::<f64>(at));
    let (dbid, userid) = (row.text(8), row.text(9));
    let name = |at: usize, oid: &str| row.get(at).map_or_else(|| dropped(oid), str::to_owned);
    Statement {
        digest: row.text(0),
        database: name(1, &dbid),
        user: name(2, &userid),
        rows: vec![CountedRow {
            id: format!("{dbid}/{userid}"),
            since_ms: row.parse(10),
            ..CountedRow::default()
        }],
        is_top: row.get(3) != Some("f"),
        text: row.text(4),
        spread: Some(Spread { min_ms: times[0], max_ms: times[1], stddev_ms: times[2] }),
        counters: (11..)
            .zip(counters)
            .filter_map(|(at, (counter, _))| Some((*counter, row.parse(at)?)))
            .collect(),
        ..Statement::default()
    }
}
