//! Statements by digest, and texts with values of those that are seen.

use super::{FILE, Reader};
use crate::mariadb::RULES;
use crate::query_reader::{TEXT_MAX, remember};
use crate::statements::{CountedRow, Counter, Overflow, Snapshot, Spread, Statement, fingerprint};
use engine::server::MARK;
use engine::{ServerError, View};
use report::text::joined;
use std::collections::HashSet;

/// Counters by what they are selected by: times are in picoseconds. Where a column is not there,
/// the counter is not.
#[rustfmt::skip]
const COLUMNS: [(Counter, &str, &str); 11] = [
    (Counter::Calls, "COUNT_STAR", "COUNT_STAR"),
    (Counter::TimeNs, "SUM_TIMER_WAIT", "SUM_TIMER_WAIT DIV 1000"),
    (Counter::CpuNs, "SUM_CPU_TIME", "SUM_CPU_TIME DIV 1000"),
    (Counter::LockNs, "SUM_LOCK_TIME", "SUM_LOCK_TIME DIV 1000"),
    (Counter::Rows, "SUM_ROWS_SENT", "SUM_ROWS_SENT + SUM_ROWS_AFFECTED"),
    (Counter::RowsRead, "SUM_ROWS_EXAMINED", "SUM_ROWS_EXAMINED"),
    (Counter::WithoutIndex, "SUM_NO_INDEX_USED", "SUM_NO_INDEX_USED"),
    (Counter::JoinsWithoutIndex, "SUM_SELECT_FULL_JOIN", "SUM_SELECT_FULL_JOIN"),
    (Counter::TempDiskTables, "SUM_CREATED_TMP_DISK_TABLES", "SUM_CREATED_TMP_DISK_TABLES"),
    (Counter::SortMergePasses, "SUM_SORT_MERGE_PASSES", "SUM_SORT_MERGE_PASSES"),
    (Counter::Errors, "SUM_ERRORS", "SUM_ERRORS"),
];

/// First words of those of our statements whose digest does not have our mark, because it hides
/// names of variables. They are not part of any workload.
const OURS: [&str; 3] = ["USE ", "SET @? = CONVERT (", "EXPLAIN FORMAT"];

const SAMPLE: &str = "QUERY_SAMPLE_TEXT";

impl Reader {
    pub(super) fn statements(&mut self, snapshot: &mut Snapshot) -> Result<(), ServerError> {
        let there = self.rows::<1>(&View::new("columns of digests", FILE).sql())?;
        let there: HashSet<String> =
            there.into_iter().map(|[name]| name.to_ascii_uppercase()).collect();
        // MySQL has the column, but leaves it at 0 unless configured to count. A user who may not
        // read the configuration gets no CPU time.
        let counts_cpu = self.rows::<1>(&View::new("consumer of CPU times", FILE).sql());
        let counts_cpu = counts_cpu.is_ok_and(|rows| !rows.is_empty());
        let counters = COLUMNS.into_iter().filter(|(counter, column, _)| {
            there.contains(*column) && (*counter != Counter::CpuNs || counts_cpu)
        });
        let counters: Vec<(Counter, &str)> =
            counters.map(|(counter, _, sql)| (counter, sql)).collect();
        let sample = there.contains(SAMPLE).then(|| format!("left({SAMPLE}, {TEXT_MAX})"));
        let sample = sample.unwrap_or_else(|| "''".to_owned());
        let sql = format!(
            "SELECT DIGEST, SCHEMA_NAME, left(DIGEST_TEXT, {TEXT_MAX}) AS {MARK}, MIN_TIMER_WAIT, \
             MAX_TIMER_WAIT, round(unix_timestamp(FIRST_SEEN) * 1000), {sample}, {} FROM \
             performance_schema.events_statements_summary_by_digest WHERE COUNT_STAR > 0",
            joined(counters.iter().map(|(_, sql)| sql), ", ")
        );
        let mut others: Option<u64> = None;
        let rows = self.session.query(&sql)?;
        let observed_from = self.session.server().database.clone();
        for row in rows.iter() {
            // A name that is a keyword too is written as the first of its synonyms.
            let text = row.get(2).map(|text| text.replace("SQL_TSI_", ""));
            let (Some(digest), Some(text)) = (row.parse::<String>(0), text) else {
                let runs = row.parse(7).unwrap_or(0);
                others = Some(others.unwrap_or(0).saturating_add(runs));
                continue;
            };
            let database = row.text(1);
            let of_observers =
                row.get(1).is_some_and(|schema| schema.eq_ignore_ascii_case(&observed_from));
            let is_ours = OURS.iter().any(|begin| text.starts_with(begin));
            if of_observers || is_ours || text.contains(MARK) {
                continue;
            }
            let first = row.parse::<f64>(5).map(|ms| ms as i64);
            snapshot.span.from_ms = snapshot.span.from_ms.into_iter().chain(first).min();
            if let Some(sample) = row.get(6).filter(|sample| !sample.is_empty()) {
                remember(&mut self.sampled, [(digest.clone(), sample.to_owned())].into_iter());
            }
            let ms = |at: usize| row.parse::<f64>(at).map(|ps| ps / 1e9);
            let counted = (7..)
                .zip(&counters)
                .filter_map(|(at, (counter, _))| Some((*counter, row.parse(at)?)));
            snapshot.statements.push(Statement {
                digest,
                rows: vec![CountedRow {
                    id: database.clone(),
                    since_ms: first,
                    ..CountedRow::default()
                }],
                database,
                is_top: true,
                text,
                spread: Some(Spread { min_ms: ms(3), max_ms: ms(4), stddev_ms: None }),
                counters: counted.collect(),
                ..Statement::default()
            });
        }
        let why = "the digest table is full (performance_schema_digests_size)";
        snapshot.overflow = others.map(|runs| Overflow { runs, why: why.to_owned() });
        let lost = self.rows::<1>(&View::new("lost digests", FILE).sql());
        snapshot.evictions = lost.ok().and_then(|rows| rows.first()?[0].parse().ok());
        Ok(())
    }

    /// Reads the running statement of each session, and the last one where the server keeps it.
    pub(super) fn look_at_sessions(&mut self) -> Result<(), ServerError> {
        let running = self.rows::<2>(&format!(
            "SELECT left(info, {TEXT_MAX}) AS {MARK}, state FROM information_schema.processlist \
             WHERE info IS NOT NULL AND id <> connection_id()"
        ))?;
        let running = running.into_iter().map(|[text, state]| {
            let key = fingerprint(&text, &RULES);
            // The server's states are its waits and its work, in its words.
            if !state.is_empty() {
                self.waits.add(key.clone(), state);
            }
            (key, text)
        });
        remember(&mut self.running, running);
        for view in ["history_long", "history", "current"] {
            let sql = format!(
                "SELECT digest AS {MARK}, left(sql_text, {TEXT_MAX}) FROM \
                 performance_schema.events_statements_{view} WHERE digest IS NOT NULL AND \
                 sql_text IS NOT NULL"
            );
            // Without the right to read it, samples are those of the process list.
            let Ok(rows) = self.rows::<2>(&sql) else { continue };
            remember(&mut self.sampled, rows.into_iter().map(|[digest, text]| (digest, text)));
        }
        Ok(())
    }
}
