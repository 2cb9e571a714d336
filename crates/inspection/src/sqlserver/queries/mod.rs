//! Statements and plans that the server keeps, tables, indexes and their use, of the database that
//! the URL names.
//!
//! Where the Query Store of that database counts, a statement's figures are its: they outlive
//! restarts, and plans that left the cache. What it has not captured, and statements of other
//! databases, are those of the cache. Where it is read-only it has only the statements that are no
//! longer in the cache. No server has been asked yet: tests work on rows as they are documented.

mod counters;
mod indexes;
mod storage;
pub mod views;

pub use counters::{Handle, Placed, merged, statements};
pub use indexes::tables;

use super::{ENGINE, PLANS};
use crate::OpenedReader;
use crate::plans::Plan;
use crate::query_reader::{QueryLimits, QueryReader, StorageDetail, explain_each};
use crate::statements::{Origin, Snapshot, Span, StatementPlan, TableStatistics};
use command_line::servers::now_ms;
use engine::{
    AdminOptions, AdminSession, NoPlan, Row, Rows, Server, ServerError, View, WaitType, while_doing,
};
use observations::{Wait, WaitClass, WaitSource};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::time::Duration;
use views::{PAGE, STORED, STORED_END, STORED_INTERVAL, STORED_INTERVAL_END};
use work::Stop;

/// Timeout for reading the last counters after the user asked to stop.
const LAST_ANSWERS: Duration = Duration::from_secs(5);
/// Plans of one statement that are read of the Query Store: those that took most time.
const PLANS_MAX: usize = 3;
/// Plans of the Query Store that are remembered.
const KNOWN_MAX: usize = 1_000;
/// The product whose databases count their own waits.
const AZURE: &str = "Azure SQL Database";
/// `actual_state` of a Query Store that counts.
const READ_WRITE: i32 = 2;

/// A plan with the document that it was read from.
#[derive(Debug, Clone)]
struct ReadPlan {
    plan: Plan,
    text: String,
}

impl ReadPlan {
    fn with_origin(self, origin: Origin) -> StatementPlan {
        StatementPlan::new(origin, self.plan).with_text("sqlplan", self.text)
    }
}

/// Asks a server.
struct Reader {
    session: Box<dyn AdminSession>,
    limits: QueryLimits,
    stop: Stop,
    /// Where the plans of statements are.
    handles: HashMap<String, Vec<Handle>>,
    /// Plans of the Query Store, by their number.
    known: HashMap<i64, ReadPlan>,
    /// The Query Store's counts before this interval, at our first reading: rows that it drops
    /// later do not count as unexecuted.
    closed: (Vec<Rows>, i64),
}

/// Connects to the database that the URL names.
pub(super) fn open(server: &Rc<dyn Server>, limits: QueryLimits, stop: &Stop) -> OpenedReader {
    let options = AdminOptions { grace: LAST_ANSWERS, ..AdminOptions::default() };
    Ok(Box::new(Reader {
        session: server.session(&options, stop)?,
        limits,
        stop: stop.clone(),
        handles: HashMap::new(),
        known: HashMap::new(),
        closed: (Vec::new(), 0),
    }))
}

impl Reader {
    fn empty(&self, span: Span) -> Snapshot {
        Snapshot::new(ENGINE, self.session.server().version.clone(), span, PAGE)
    }

    /// Rows of a view whose statement ends with `end`; where the server refuses it, the snapshot
    /// gets the reason why `what` is not known.
    fn read(
        &mut self,
        what: &str,
        view: &View,
        end: &str,
        to: &mut Snapshot,
    ) -> Result<Option<Rows>, ServerError> {
        let answer = view.read(end, |sql| self.session.query(sql));
        let answer = answer.map_err(while_doing("reading its statistics"))?;
        Ok(answer.map_err(|why| to.note_unread(what, why)).ok())
    }

    fn rows(&mut self, what: &str, view: &View, to: &mut Snapshot) -> Result<Rows, ServerError> {
        Ok(self.read(what, view, "", to)?.unwrap_or_default())
    }

    /// Statements of the Query Store in intervals, by their numbers.
    fn stored(
        &mut self,
        first: i64,
        last: i64,
        to: &mut Snapshot,
    ) -> Result<Option<Rows>, ServerError> {
        let end = format!(" {first} AND {last}{STORED_END}");
        self.read("statements of the Query Store", &STORED, &end, to)
    }

    /// All statements of the Query Store, where it is on, and whether it counts.
    fn store(&mut self, to: &mut Snapshot) -> Result<(Placed, bool), ServerError> {
        let options = self.rows("the state of the Query Store", &views::STORE, to)?;
        let Some(options) = options.first() else { return Ok((Placed::new(), false)) };
        let state = options.parse::<i32>("state").unwrap_or(0);
        to.notes.push(note(state, options));
        let newest = options.parse::<i64>("newest").filter(|_| state != 0);
        let Some(newest) = newest else { return Ok((Placed::new(), false)) };
        if newest > self.closed.1 {
            let ended = self.stored(self.closed.1, newest - 1, to)?;
            let Some(ended) = ended else { return Ok((Placed::new(), false)) };
            self.closed.0.push(ended);
            self.closed.1 = newest;
        }
        let open = self.stored(self.closed.1, i64::MAX, to)?.unwrap_or_default();
        let rows = self.closed.0.iter().chain([&open]).flat_map(Rows::iter);
        Ok((statements(rows), state == READ_WRITE))
    }

    /// Remembers where the plans of statements are.
    fn place(&mut self, placed: Placed, to: &mut Snapshot) {
        self.handles.clear();
        for (statement, handles) in placed {
            self.handles.entry(statement.digest.clone()).or_insert(handles);
            to.statements.push(statement);
        }
    }

    fn tables(&mut self, to: &mut Snapshot) -> Result<(), ServerError> {
        let [indexes, columns, sizes, usage, changes, missed] = [
            ("tables and indexes", views::INDEXES),
            ("index columns", views::COLUMNS),
            ("table and index sizes", views::SIZES),
            ("index usage", views::USAGE),
            ("table changes", views::CHANGES),
            ("missing indexes", views::MISSED),
        ]
        .map(|(what, view)| self.rows(what, &view, to));
        let statistics = self.storage(to)?;
        let counted = [&sizes?, &usage?, &changes?, &missed?];
        to.tables = tables(&indexes?, &columns?, counted, statistics);
        Ok(())
    }

    /// Reads the files, and returns the statistics of tables, where they are asked for.
    fn storage(
        &mut self,
        to: &mut Snapshot,
    ) -> Result<HashMap<i32, Vec<TableStatistics>>, ServerError> {
        if self.limits.storage == StorageDetail::Nothing {
            return Ok(HashMap::new());
        }
        to.files = storage::files(&self.rows("files", &views::DATABASE_FILES, to)?);
        let properties = self.rows("statistics of tables", &views::STATISTICS, to)?;
        let columns = self.rows("columns of statistics", &views::STATISTICS_COLUMNS, to)?;
        let histograms = if self.limits.storage == StorageDetail::Values {
            self.rows("histograms", &views::HISTOGRAMS, to)?
        } else {
            Rows::default()
        };
        Ok(storage::statistics(&properties, &columns, &histograms))
    }

    /// The plans of a statement: that of the cache, or those of the Query Store that took most
    /// time.
    fn plans(&mut self, digest: &str) -> Result<Vec<StatementPlan>, NoPlan> {
        let handles = self.handles.get(digest).cloned().ok_or(NoPlan::Unnamed)?;
        let read: Vec<Result<StatementPlan, NoPlan>> = handles
            .into_iter()
            .take(PLANS_MAX)
            .map(|handle| match handle {
                Handle::Cached(handle, begins, ends) => {
                    let plan =
                        self.plan(&format!("{}({handle}, {begins}, {ends})", views::PLAN))?;
                    Ok(plan.with_origin(Origin::Cached))
                }
                Handle::Stored(number, runs, mean_ms) => {
                    let plan = self.stored_plan(number)?.with_origin(Origin::Stored);
                    Ok(StatementPlan { runs, mean_ms: Some(mean_ms), ..plan })
                }
            })
            .collect();
        match read.iter().find_map(|answer| answer.as_ref().err()) {
            Some(why) if read.iter().all(Result::is_err) => Err(why.clone()),
            _ => Ok(read.into_iter().flatten().collect()),
        }
    }

    fn stored_plan(&mut self, number: i64) -> Result<ReadPlan, NoPlan> {
        if let Some(plan) = self.known.get(&number) {
            return Ok(plan.clone());
        }
        let plan = self.plan(&format!("{}{number}", views::STORED_PLAN))?;
        if self.known.len() >= KNOWN_MAX {
            self.known.clear();
        }
        Ok(self.known.entry(number).or_insert(plan).clone())
    }

    /// A wait type's waits, their time and the signal part of it, ms. Waits of background tasks are
    /// of class idle, which the table leaves out and sums up.
    fn wait(&self, wait_type: String, [count, wait_ms, signal_ms]: [u64; 3]) -> Wait {
        let seconds = |ms: u64| ms as f64 / 1e3;
        let wait_types = self.session.server().wait_types;
        let is_benign = WaitType::is_benign(wait_types, &wait_type, &[]);
        let class = WaitType::class_of(wait_types, &wait_type);
        Wait {
            class: if is_benign { WaitClass::Idle } else { class },
            wait_type,
            count: Some(count),
            resource_s: seconds(wait_ms.saturating_sub(signal_ms)),
            signal_s: seconds(signal_ms.min(wait_ms)),
            source: WaitSource::Counted,
        }
    }

    fn plan(&mut self, sql: &str) -> Result<ReadPlan, NoPlan> {
        let text = self.session.cell(sql).map_err(NoPlan::refused)?.ok_or(NoPlan::Evicted)?;
        Ok(ReadPlan { plan: PLANS.read_one(&text).map_err(NoPlan::refused)?, text })
    }
}

/// Returns the note on statements for the state of the Query Store.
fn note(state: i32, options: Row<'_>) -> String {
    let cached = "statements whose plans are still cached (counted since each plan was compiled).";
    match state {
        0 => format!(
            "Includes {cached} The Query Store of this database is off; ALTER DATABASE CURRENT \
             SET QUERY_STORE = ON also keeps evicted statements."
        ),
        READ_WRITE => format!(
            "Includes statements in this database's Query Store since {} UTC, and other {cached}",
            options.get("since").unwrap_or("it is on")
        ),
        _ => format!(
            "Includes {cached} The Query Store of this database is not collecting data \
             (readonly_reason {}); statements evicted from the cache come from it.",
            options.get("reason").unwrap_or("unknown")
        ),
    }
}

impl QueryReader for Reader {
    fn snapshot(&mut self) -> Result<Snapshot, ServerError> {
        let mut snapshot = self.empty(Span { to_ms: now_ms(), ..Span::default() });
        let cached = self.rows("statements", &views::STATEMENTS, &mut snapshot)?;
        snapshot.is_cut = cached.iter().count() >= views::ROWS_MAX;
        let (cached, (stored, counts)) = (statements(cached.iter()), self.store(&mut snapshot)?);
        let placed = if counts { merged(stored, cached) } else { merged(cached, stored) };
        self.place(placed, &mut snapshot);
        if self.limits.tables {
            self.tables(&mut snapshot)?;
        }
        Ok(snapshot)
    }

    fn explain(&mut self, snapshot: &mut Snapshot) {
        let (plans, stop) = (self.limits.plans, self.stop.clone());
        explain_each(&mut snapshot.statements, plans, &stop, |statement| {
            self.plans(&statement.digest)
        });
    }

    fn waits(&mut self) -> Result<Option<Vec<Wait>>, ServerError> {
        let is_azure = self.session.server().product == AZURE;
        let view = if is_azure { views::DATABASE_WAITS } else { views::WAITS };
        let answer = view.read("", |sql| self.session.query(sql));
        let rows = answer.map_err(while_doing("reading the waits"))?.map_err(ServerError::new)?;
        let counted: BTreeMap<String, [u64; 3]> = rows
            .iter()
            .filter_map(|row| {
                let counters =
                    [row.parse("waits")?, row.parse("wait_ms")?, row.parse("signal_ms")?];
                Some((row.text("wait_type"), counters))
            })
            .collect();
        let waits = counted.into_iter().filter(|(_, counters)| *counters != [0; 3]);
        Ok(Some(waits.map(|(name, counters)| self.wait(name, counters)).collect()))
    }

    fn stored_interval(&mut self, after_ms: i64) -> Result<Option<Snapshot>, ServerError> {
        let end = format!(" {after_ms}{STORED_INTERVAL_END}");
        let answer = STORED_INTERVAL.read(&end, |sql| self.session.query(sql));
        let answer = answer.map_err(while_doing("reading the intervals of the Query Store"))?;
        let rows = answer.map_err(ServerError::new)?;
        let Some(row) = rows.first() else { return Ok(None) };
        let number = row.parse("number").unwrap_or(0);
        let span = Span {
            from_ms: row.parse("from_ms"),
            to_ms: row.parse("to_ms").unwrap_or(after_ms + 1),
            is_interval: true,
        };
        let mut snapshot = self.empty(span);
        let rows = self.stored(number, number, &mut snapshot)?;
        let rows = rows.ok_or_else(|| ServerError::new(snapshot.unread.remove(0).why))?;
        self.place(statements(rows.iter()), &mut snapshot);
        Ok(Some(snapshot))
    }
}
