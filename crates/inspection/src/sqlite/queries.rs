//! Statements of scripts on a database file: their plans, what SQLite counts when they run, and the
//! indexes.
//!
//! SQLite keeps no statistics of statements: those that only read are run once, in a connection
//! that can change nothing (<https://www.sqlite.org/c3ref/stmt_status.html>); what writes, or has
//! parameters, is explained only.

use super::{RULES, plan_of_steps};
use crate::OpenedReader;
use crate::plans::{Kind, Plan, Predicate, Role};
use crate::query_reader::{
    QueryLimits, QueryReader, StorageDetail, counted_distinct, distinct_query, explain_each,
};
use crate::statements::{
    Column, Counter, DataFile, ForeignKey, Index, Key, Origin, ScriptStatement, Snapshot, Span,
    Statement, StatementPlan, Table, TableStatistics, aliases, condition, fingerprint,
};
use command_line::servers::now_ms;
use engine::planned::{PlanStep, indented};
use engine::{NoPlan, Row, Rows, ServerError};
use rusqlite::types::Value;
use rusqlite::{Connection, Error, OpenFlags, StatementStatus, params_from_iter};
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
        self.rows(sql, &[])?.iter().map(|row| self.table(row.text(0))).collect()
    }

    fn table(&self, name: String) -> Result<Table, Error> {
        let mut table = Table { quoted: quoted(&name), name, ..Table::default() };
        let sql =
            "SELECT id, \"from\", \"table\" FROM pragma_foreign_key_list(?1) ORDER BY id, seq";
        for row in self.rows(sql, &[&table.name])?.iter() {
            let (name, target) = (format!("foreign key {}", row.text(0)), row.text(2));
            if table.foreign_keys.last().is_none_or(|last| last.name != name) {
                table.foreign_keys.push(ForeignKey { name, columns: Vec::new(), target });
            }
            let Some(key) = table.foreign_keys.last_mut() else { continue };
            key.columns.push(quoted_where_needed(row.text(1)));
        }
        let sql = "SELECT l.name, l.\"unique\", l.origin <> 'c', s.sql FROM pragma_index_list(?1) \
                   l LEFT JOIN sqlite_schema s ON s.type = 'index' AND s.name = l.name ORDER BY \
                   l.name";
        let indexes = self.rows(sql, &[&table.name])?;
        table.indexes = indexes.iter().map(|row| self.index(row)).collect::<Result<_, _>>()?;
        let sql = "SELECT name, type FROM pragma_table_info(?1) ORDER BY cid";
        let columns = self.rows(sql, &[&table.name])?;
        let columns = columns.iter().map(|row| Column {
            name: quoted_where_needed(row.text(0)),
            kind: row.text(1).to_lowercase(),
            is_unanalyzed: true,
            ..Column::default()
        });
        table.columns = columns.collect();
        Ok(table)
    }

    /// An index with the columns that it is ordered by. SQLite names no text of an expression,
    /// which therefore equals no other.
    fn index(&self, row: Row<'_>) -> Result<Index, Error> {
        let [name, is_unique, is_needed, definition] = row.texts();
        let sql =
            "SELECT name, \"desc\", coll FROM pragma_index_xinfo(?1) WHERE key ORDER BY seqno";
        let keys = self.rows(sql, &[&name])?;
        let keys = keys.iter().map(|row| match row.parse(0) {
            Some(column) => Key {
                column: quoted_where_needed(column),
                serves_prefix: row.text(2).eq_ignore_ascii_case("nocase"),
                rules: row.text(2),
                descending: row.get(1) == Some("1"),
                ..Key::default()
            },
            None => Key { column: "(expression)".into(), rules: name.clone(), ..Key::default() },
        });
        let condition = definition.to_ascii_uppercase().find(" WHERE ");
        Ok(Index {
            quoted: quoted(&name),
            method: "btree".into(),
            keys: keys.collect(),
            predicate: condition.map(|at| definition[at + 7..].to_owned()),
            is_unique: is_unique == "1",
            is_needed: is_needed == "1",
            is_valid: true,
            name,
            definition,
            ..Index::default()
        })
    }

    /// Bytes and entries of all tables and indexes, which reads the whole file.
    fn sizes(&self, tables: &mut [Table]) -> Result<(), Error> {
        self.limit(RUN_MAX);
        let sql = "SELECT name, sum(pgsize), sum(ncell), sum(CASE pagetype WHEN 'leaf' THEN ncell \
                   END) FROM dbstat GROUP BY name";
        for row in self.rows(sql, &[])?.iter() {
            let name = row.text(0);
            for table in tables.iter_mut() {
                if table.name == name {
                    // Rows are in the leaves of a table, and in all pages of an index.
                    (table.bytes, table.rows) = (row.parse(1), row.parse(3).or(Some(0.0)));
                }
                for index in table.indexes.iter_mut().filter(|index| index.name == name) {
                    (index.bytes, index.entries) = (row.parse(1), row.parse(2));
                }
            }
        }
        Ok(())
    }

    /// Counts different values among the first rows of each table.
    fn sample_columns(&self, tables: &mut [Table]) -> Result<(), Error> {
        for table in tables.iter_mut().filter(|table| !table.columns.is_empty()) {
            self.limit(SAMPLE_MAX);
            let mut columns: Vec<&mut Column> = table.columns.iter_mut().collect();
            let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
            let counts = self.rows(&distinct_query(&table.quoted, &names), &[])?;
            counted_distinct(&mut columns, &counts);
        }
        Ok(())
    }

    /// Adds what ANALYZE has counted, where it ran: the rows of an index, and how many have the
    /// same value in its columns.
    fn statistics(&self, tables: &mut [Table]) -> Result<(), Error> {
        let exists = "SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_stat1'";
        if self.rows(exists, &[])?.is_empty() {
            return Ok(());
        }
        let sql = "SELECT tbl, idx, stat FROM sqlite_stat1 ORDER BY tbl, idx";
        for row in self.rows(sql, &[])?.iter() {
            let (name, index) = (row.text(0), row.parse::<String>(1));
            let Some(table) = tables.iter_mut().find(|table| table.name == name) else { continue };
            let figures = row.text(2);
            let figures: Vec<f64> =
                figures.split_whitespace().map_while(|word| word.parse().ok()).collect();
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

    /// The rows of a query, as texts.
    fn rows(&self, sql: &str, parameters: &[&str]) -> Result<Rows, Error> {
        let mut statement = self.connection.prepare(sql)?;
        let columns = statement.column_names().map(str::to_owned).collect();
        let (count, mut all) = (statement.column_count(), Rows::with_columns(columns));
        let mut rows = statement.query(params_from_iter(parameters))?;
        while let Some(row) = rows.next()? {
            let cells = (0..count).map(|at| match row.get(at)? {
                Value::Null | Value::Blob(_) => Ok(None),
                Value::Integer(value) => Ok(Some(value.to_string())),
                Value::Real(value) => Ok(Some(value.to_string())),
                Value::Text(text) => Ok(Some(text)),
            });
            all.push(cells.collect::<Result<Vec<_>, Error>>()?);
        }
        Ok(all)
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
        .mapped(|row| Ok(PlanStep { id: row.get(0)?, parent: row.get(1)?, detail: row.get(3)? }))
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

fn quoted_where_needed(name: String) -> String {
    let is_plain = name.chars().all(|c| c.is_alphanumeric() || c == '_')
        && name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    if is_plain { name } else { quoted(&name) }
}
