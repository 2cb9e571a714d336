//! Statements of scripts on a database file: their plans, what SQLite counts when they run, and the
//! indexes.
//!
//! SQLite keeps no statistics of statements: those that only read are run once, in a connection
//! that can change nothing (<https://www.sqlite.org/c3ref/stmt_status.html>); what writes, or has
//! parameters, is explained only.

use super::{RULES, plan_of_steps};
use crate::OpenedReader;
use crate::plans::{Kind, Plan, Predicate, Role};
use crate::query_reader::{QueryLimits, QueryReader, StorageDetail, distinct_query, explain_each};
use crate::statements::{
    Column, Counter, DataFile, ForeignKey, Index, Key, Origin, ScriptStatement, Snapshot, Span,
    Statement, StatementPlan, Table, TableStatistics, aliases, condition, fingerprint,
};
use command_line::servers::now_ms;
use engine::planned::{PlanStep, indented};
use engine::{NoPlan, ServerError};
use rusqlite::{Connection, Error, OpenFlags, Row, StatementStatus};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use work::Stop;

/// The counters of a statement's work
/// (<https://www.sqlite.org/c3ref/c_stmtstatus_counter.html>).
const COUNTERS: [(StatementStatus, Counter); 4] = [
    (StatementStatus::VmStep, Counter::MachineSteps),
    (StatementStatus::FullscanStep, Counter::RowsRead),
    (StatementStatus::Sort, Counter::Sorts),
    (StatementStatus::AutoIndex, Counter::AutomaticIndexRows),
];
/// The engine's name in snapshots.
const ENGINE: &str = "sqlite";
/// Time for a statement's run, and for the sizes of tables.
const RUN_MAX: Duration = Duration::from_secs(10);
/// Time for the sample of a table.
const SAMPLE_MAX: Duration = Duration::from_secs(1);
/// Time for all runs together.
const RUNS_MAX: Duration = Duration::from_secs(60);
/// The time that we wait for a writer.
const PATIENCE: Duration = Duration::from_secs(1);
/// Steps of SQLite's machine between two looks at the clock.
const STEPS: i32 = 10_000;

/// Reads a database file, and runs what only reads of the statements that are given.
struct FileReader {
    connection: Connection,
    statements: Vec<ScriptStatement>,
    limits: QueryLimits,
    stop: Stop,
    until: Arc<Mutex<Instant>>,
}

/// Opens a database file to read it.
///
/// # Errors
/// When it cannot be opened, or is not a database.
pub fn open(
    path: &Path,
    statements: Vec<ScriptStatement>,
    limits: QueryLimits,
    stop: &Stop,
) -> OpenedReader {
    let text = |error: Error| ServerError::new(format!("cannot open it: {error}"));
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(text)?;
    connection.busy_timeout(PATIENCE).map_err(text)?;
    let until = Arc::new(Mutex::new(Instant::now() + RUN_MAX));
    let (stop_flag, limit) = (stop.clone(), Arc::clone(&until));
    connection
        .progress_handler(
            STEPS,
            Some(move || stop_flag.is_asked() || Instant::now() > *engine::lock(&limit)),
        )
        .map_err(text)?;
    connection
        .execute_batch("PRAGMA query_only = on; SELECT count(*) FROM sqlite_schema")
        .map_err(text)?;
    Ok(Box::new(FileReader { connection, statements, limits, stop: stop.clone(), until }))
}

impl FileReader {
    /// Stops work that takes longer than this from now on.
    fn limit(&self, time: Duration) {
        *engine::lock(&self.until) = Instant::now() + time;
    }

    /// Each statement once, with what its runs count. Those that differ in constants only are one.
    fn statements(&self, snapshot: &mut Snapshot) {
        let begun = Instant::now();
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        for script_statement in &self.statements {
            let at =
                *known.entry(fingerprint(&script_statement.text, &RULES)).or_insert_with(|| {
                    let (digest, text) =
                        (script_statement.place.clone(), script_statement.text.clone());
                    snapshot.statements.push(Statement {
                        digest,
                        text,
                        is_top: true,
                        ..Statement::default()
                    });
                    snapshot.statements.len() - 1
                });
            let left = RUNS_MAX.saturating_sub(begun.elapsed()).min(RUN_MAX);
            let statement = &mut snapshot.statements[at];
            if let Err(why) = self.run(statement, &script_statement.text, left) {
                snapshot.note_unread(format!("counters of {}", script_statement.place), why);
            }
        }
    }

    /// Runs a statement that only reads, and adds what SQLite counts.
    fn run(&self, statement: &mut Statement, text: &str, time: Duration) -> Result<(), NotRun> {
        if !statement.can_be_explained() {
            return Err(NotRun::Command);
        }
        self.limit(time);
        let not_run = |error: Error| match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::OperationInterrupted) => NotRun::Stopped { after: time },
            _ => NotRun::Refused { message: message(error) },
        };
        let mut prepared = self.connection.prepare(text).map_err(not_run)?;
        if !prepared.readonly() {
            return Err(NotRun::Writes);
        }
        if prepared.parameter_count() > 0 {
            return Err(NotRun::Parameters);
        }
        let (begun, mut count) = (Instant::now(), 0_u64);
        let mut rows = prepared.raw_query();
        while rows.next().map_err(not_run)?.is_some() {
            count += 1;
        }
        drop(rows);
        let ns = begun.elapsed().as_nanos() as u64;
        let of_run = [(Counter::Calls, 1), (Counter::TimeNs, ns), (Counter::Rows, count)];
        let counted =
            COUNTERS.map(|(status, counter)| (counter, prepared.get_status(status).max(0) as u64));
        for (counter, value) in of_run.into_iter().chain(counted) {
            *statement.counters.entry(counter).or_default() += value;
        }
        Ok(())
    }

    fn tables(&self) -> Result<Vec<Table>, Error> {
        let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE \
                   'sqlite\\_%' ESCAPE '\\' AND rootpage > 0 ORDER BY name";
        let names: Vec<String> = self.rows(sql, [], |row| row.get(0))?;
        names.into_iter().map(|name| self.table(name)).collect()
    }

    fn table(&self, name: String) -> Result<Table, Error> {
        let sql =
            "SELECT id, \"from\", \"table\" FROM pragma_foreign_key_list(?1) ORDER BY id, seq";
        let columns: Vec<(i64, String, String)> =
            self.rows(sql, [&name], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let mut foreign_keys: BTreeMap<i64, ForeignKey> = BTreeMap::new();
        for (id, column, target) in columns {
            let key = foreign_keys.entry(id).or_insert_with(|| ForeignKey {
                name: format!("foreign key {id}"),
                columns: Vec::new(),
                target,
            });
            key.columns.push(quoted_where_needed(&column));
        }
        let sql = "SELECT l.name, l.\"unique\", l.origin <> 'c', s.sql FROM pragma_index_list(?1) \
                   l LEFT JOIN sqlite_schema s ON s.type = 'index' AND s.name = l.name ORDER BY \
                   l.name";
        let listed = self.rows(sql, [&name], |row| {
            Ok(Index {
                name: row.get(0)?,
                is_unique: row.get(1)?,
                is_needed: row.get(2)?,
                definition: row.get::<_, Option<String>>(3)?.unwrap_or_default(),
                is_valid: true,
                method: "btree".into(),
                ..Index::default()
            })
        })?;
        let indexes =
            listed.into_iter().map(|index| self.index(index)).collect::<Result<_, _>>()?;
        let foreign_keys = foreign_keys.into_values().collect();
        let sql = "SELECT name, type FROM pragma_table_info(?1) ORDER BY cid";
        let columns = self.rows(sql, [&name], |row| {
            let name: String = row.get(0)?;
            Ok(Column {
                name: quoted_where_needed(&name),
                kind: row.get::<_, String>(1)?.to_lowercase(),
                is_unanalyzed: true,
                ..Column::default()
            })
        })?;
        let quoted = quoted(&name);
        Ok(Table { name, quoted, columns, foreign_keys, indexes, ..Table::default() })
    }

    /// Adds the columns that an index is ordered by. SQLite names no text of an expression, which
    /// therefore equals no other.
    fn index(&self, index: Index) -> Result<Index, Error> {
        let sql =
            "SELECT name, \"desc\", coll FROM pragma_index_xinfo(?1) WHERE key ORDER BY seqno";
        let keys = self.rows(sql, [&index.name], |row| {
            let name: Option<String> = row.get(0)?;
            let rules: String = row.get(2)?;
            Ok(match name {
                Some(name) => Key {
                    column: quoted_where_needed(&name),
                    serves_prefix: rules.eq_ignore_ascii_case("nocase"),
                    rules,
                    descending: row.get(1)?,
                    ..Key::default()
                },
                None => Key {
                    column: "(expression)".into(),
                    rules: index.name.clone(),
                    ..Key::default()
                },
            })
        })?;
        let condition = index.definition.to_ascii_uppercase().find(" WHERE ");
        let predicate = condition.map(|at| index.definition[at + 7..].to_owned());
        Ok(Index { quoted: quoted(&index.name), keys, predicate, ..index })
    }

    /// Bytes and entries of all tables and indexes, which reads the whole file.
    fn sizes(&self, tables: &mut [Table]) -> Result<(), Error> {
        self.limit(RUN_MAX);
        let sql = "SELECT name, sum(pgsize), sum(ncell), sum(CASE pagetype WHEN 'leaf' THEN ncell \
                   END) FROM dbstat GROUP BY name";
        let rows: Vec<(String, u64, f64, f64)> = self.rows(sql, [], |row| {
            Ok((
                row.get(0)?,
                row.get::<_, i64>(1)? as u64,
                row.get(2)?,
                row.get::<_, Option<f64>>(3)?.unwrap_or(0.0),
            ))
        })?;
        for (name, bytes, entries, leaves) in rows {
            for table in tables.iter_mut() {
                if table.name == name {
                    // Rows are in the leaves of a table, and in all pages of an index.
                    (table.bytes, table.rows) = (Some(bytes), Some(leaves));
                }
                for index in table.indexes.iter_mut().filter(|index| index.name == name) {
                    (index.bytes, index.entries) = (Some(bytes), Some(entries));
                }
            }
        }
        Ok(())
    }

    /// Counts different values among the first rows of each table.
    fn sample_columns(&self, tables: &mut [Table]) -> Result<(), Error> {
        for table in tables.iter_mut().filter(|table| !table.columns.is_empty()) {
            self.limit(SAMPLE_MAX);
            let names: Vec<String> =
                table.columns.iter().map(|column| column.name.clone()).collect();
            let sql = distinct_query(&table.quoted, &names);
            let counts: Vec<f64> = self.connection.query_row(&sql, [], |row| {
                (0..=names.len()).map(|at| row.get::<_, i64>(at).map(|n| n as f64)).collect()
            })?;
            let read = counts[0].max(1.0);
            for (column, distinct) in table.columns.iter_mut().zip(&counts[1..]) {
                column.distinct = Column::distinct_of(*distinct, read);
            }
        }
        Ok(())
    }

    /// Adds what ANALYZE has counted, where it ran: the rows of an index, and how many have the
    /// same value in its columns.
    fn statistics(&self, tables: &mut [Table]) -> Result<(), Error> {
        let exists = "SELECT count(*) FROM sqlite_schema WHERE name = 'sqlite_stat1'";
        if self.connection.query_row(exists, [], |row| row.get::<_, i64>(0))? == 0 {
            return Ok(());
        }
        let sql = "SELECT tbl, idx, stat FROM sqlite_stat1 ORDER BY tbl, idx";
        let rows: Vec<(String, Option<String>, Option<String>)> =
            self.rows(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        for (name, index, figures) in rows {
            let Some(table) = tables.iter_mut().find(|table| table.name == name) else { continue };
            let figures: Vec<f64> = figures
                .iter()
                .flat_map(|text| text.split_whitespace().map_while(|word| word.parse().ok()))
                .collect();
            let known = table.indexes.iter().find(|entry| Some(&entry.name) == index.as_ref());
            let rows = figures.first().copied();
            let each = figures.get(1..).and_then(<[f64]>::last).filter(|each| **each > 0.0);
            table.statistics.push(TableStatistics {
                columns: known.map_or_else(Vec::new, |entry| {
                    entry.keys.iter().map(|key| key.column.clone()).collect()
                }),
                name: index.unwrap_or(name),
                rows,
                distinct: rows.zip(each).map(|(rows, each)| rows / each),
                ..TableStatistics::default()
            });
        }
        Ok(())
    }

    /// The database's file and its log.
    fn files(&self) -> Vec<DataFile> {
        let Some(path) = self.connection.path() else { return Vec::new() };
        let parts = [("database", path.to_owned()), ("write-ahead log", format!("{path}-wal"))];
        let files = parts.into_iter().filter_map(|(kind, name)| {
            let bytes = std::fs::metadata(&name).ok()?.len();
            Some(DataFile { name, kind: kind.into(), bytes: Some(bytes), ..DataFile::default() })
        });
        files.collect()
    }

    fn rows<T, P: rusqlite::Params>(
        &self,
        sql: &str,
        parameters: P,
        read: impl FnMut(&rusqlite::Row<'_>) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        self.connection.prepare(sql)?.query_map(parameters, read)?.collect()
    }
}

impl QueryReader for FileReader {
    fn snapshot(&mut self) -> Result<Snapshot, ServerError> {
        let failed = |error: Error| ServerError::new(format!("cannot read its tables: {error}"));
        self.limit(RUN_MAX);
        let page: i64 =
            self.connection.query_row("PRAGMA page_size", [], |row| row.get(0)).map_err(failed)?;
        let span = Span { to_ms: now_ms(), ..Span::default() };
        let server = format!("SQLite {}", rusqlite::version());
        let mut snapshot = Snapshot::new(ENGINE, server, span, page as u64);
        snapshot.tables = self.tables().map_err(failed)?;
        let sizes = self.sizes(&mut snapshot.tables);
        snapshot.read("table sizes and row counts", sizes);
        // Where that fails, the number of different values stays unknown.
        let _ = self.sample_columns(&mut snapshot.tables);
        if self.limits.storage > StorageDetail::Nothing {
            let statistics = self.statistics(&mut snapshot.tables);
            snapshot.read("statistics", statistics);
            snapshot.files = self.files();
        }
        self.statements(&mut snapshot);
        Ok(snapshot)
    }

    fn explain(&mut self, snapshot: &mut Snapshot) {
        let tables = &snapshot.tables;
        explain_each(&mut snapshot.statements, self.limits.plans, &self.stop, |statement| {
            self.limit(RUN_MAX);
            let steps = steps(&self.connection, &statement.text)
                .map_err(|error| NoPlan::refused(message(error)))?;
            let aliases = aliases(&statement.text, RULES.syntax);
            let mut plan = plan_of_steps(&steps, |name: &str| {
                let meant = aliases.get(&name.to_lowercase()).map_or(name, String::as_str);
                let known = tables.iter().find(|table| table.name.eq_ignore_ascii_case(meant));
                known.map_or(meant, |table| &table.name).to_owned()
            })
            .map_err(NoPlan::refused)?;
            add_condition(&mut plan, &statement.text);
            if plan.root.is_none() {
                return Err(NoPlan::NoSteps { engine: "SQLite" });
            }
            let plan = StatementPlan::new(Origin::Generic, plan);
            Ok(vec![plan.with_text("txt", indented(&steps) + "\n")])
        });
    }
}

/// The steps of a statement.
fn steps(connection: &Connection, sql: &str) -> rusqlite::Result<Vec<PlanStep>> {
    let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
    statement
        .raw_query()
        .mapped(|row: &Row<'_>| {
            Ok(PlanStep { id: row.get(0)?, parent: row.get(1)?, detail: row.get(3)? })
        })
        .collect()
}

/// A scan does not say what rows are kept by; where the statement reads one table alone it is the
/// condition in its text.
fn add_condition(plan: &mut Plan, text: &str) {
    let reads: Vec<Kind> = plan
        .operators()
        .into_iter()
        .map(|(_, operator)| operator)
        .filter(|operator| operator.access.is_some())
        .map(|operator| operator.kind)
        .collect();
    if reads != [Kind::TableScan] {
        return;
    }
    let Some(text) = condition(text, RULES.syntax) else { return };
    plan.visit_operators(|operator| {
        if operator.access.is_some() {
            operator.predicates.push(Predicate::new(Role::Filter, text.clone(), RULES.syntax));
        }
    });
}

/// A reason why a statement was not run to count its work.
#[derive(Debug, thiserror::Error)]
enum NotRun {
    /// Not a query.
    #[error("utility statement; Steelbench runs queries only")]
    Command,
    /// It took too long.
    #[error("stopped after {:.0} s", after.as_secs_f64())]
    Stopped { after: Duration },
    /// It changes the database.
    #[error("not run, because it writes")]
    Writes,
    /// The values are not known.
    #[error("not run, because it has parameters without values")]
    Parameters,
    /// SQLite refuses.
    #[error("{message}")]
    Refused { message: String },
}

/// The message of SQLite, without the statement, which may hold data of users.
fn message(error: Error) -> String {
    match error {
        Error::SqlInputError { msg, .. } => msg,
        error => error.to_string(),
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn quoted_where_needed(name: &str) -> String {
    let is_plain = name.chars().all(|c| c.is_alphanumeric() || c == '_')
        && name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    if is_plain { name.to_owned() } else { quoted(name) }
}
