//! The load of a table: one connection appends rows as they come, or several do, each some row
//! groups at a time.

use super::bulk;
use super::library::{Answered, Connection, failed};
use super::stored::GROUP_ROWS;
use engine::{EngineError, Result, lock};
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{Builder, scope};
use work::{Cancel, Column, Fill, Rows, Table};

/// Rows of a transaction, by however many connections a table is filled: so it takes the same
/// bytes. DuckDB compresses full row groups of a transaction and writes them to their place before
/// its end if there are more than one; else it would log the rows. The last one it compresses at
/// the end, where one transaction waits for the other.
const RUN_ROWS: usize = 2 * GROUP_ROWS;

/// Bytes of rows that may wait for their transactions.
const WAITING_BYTES: u64 = 1 << 30;

/// A setting of DuckDB's, with its values while rows are loaded and otherwise.
pub(crate) struct LoadSetting {
    pub name: String,
    pub loading: String,
    pub otherwise: String,
}

/// The number of threads that DuckDB works with.
const THREADS: &str = "threads";

/// DuckDB's settings while connections load, each in its own thread. DuckDB's threads cannot help
/// them; but where there are some, each flush of an appender is a statement that one of them may
/// take, and our thread would wait for it in a busy loop. DuckDB compresses row groups when they
/// are full (newer versions collect some), not at the end of their transactions, which wait for
/// each other. Where `is_given`, only the threads are set.
pub fn settings(
    connection: &Connection,
    is_given: impl Fn(&str) -> bool,
) -> Answered<Vec<LoadSetting>> {
    let mut statement = connection.prepare(
        "SELECT name, CASE name WHEN 'threads' THEN current_setting('external_threads') ELSE 1 \
         END, value FROM duckdb_settings() WHERE name IN ('threads', \
         'write_buffer_row_group_count')",
    )?;
    let mut answer = statement.execute()?;
    let mut all = Vec::new();
    for row in 0..answer.rows() {
        let [name, loading, otherwise] =
            [0, 1, 2].map(|column| answer.cell(column, row).unwrap_or_default());
        if name == THREADS || !is_given(&name) {
            all.push(LoadSetting { name, loading, otherwise });
        }
    }
    Ok(all)
}

/// Returns the number of connections that are to fill a table: as many as DuckDB otherwise has
/// threads, but each has the rows of a transaction in memory.
pub fn connections(table: &Table, settings: &[LoadSetting]) -> usize {
    let threads = settings.iter().find(|setting| setting.name == THREADS);
    let threads = threads.and_then(|thread| thread.otherwise.parse().ok()).unwrap_or(1);
    let run_bytes = table.row_bytes().max(1).saturating_mul(RUN_ROWS as u64);
    ((WAITING_BYTES / run_bytes) as usize).clamp(1, threads)
}

/// Fills a table in transactions that are committed as their rows come one behind the other, by one
/// connection or by several at the same time. So rows have the same order, and all row groups but
/// the last are full. `ends` is called in each thread that is started, at its end.
///
/// # Errors
/// When DuckDB refuses, or the trial is asked to stop.
pub fn fill(
    connections: &[Connection],
    table: &Table,
    fill: Fill,
    cancel: &Cancel,
    ends: &(impl Fn() + Sync),
) -> Result<()> {
    let Fill { columns, batches, busy, .. } = fill;
    let source = Mutex::new(Source { batches, rest: None, runs: 0 });
    let load = &Load {
        table,
        columns,
        cancel,
        busy,
        source,
        turn: Mutex::default(),
        turned: Condvar::new(),
    };
    let Some((first, others)) = connections.split_first() else { return Ok(()) };
    if others.is_empty() {
        return load.all(first);
    }
    scope(|scope| {
        let started: Vec<_> = others
            .iter()
            .map_while(|worker| {
                // Where the system gives fewer threads, those do it.
                Builder::new()
                    .name("load-rows".into())
                    .spawn_scoped(scope, move || {
                        let result = load.runs(worker);
                        ends();
                        result
                    })
                    .ok()
            })
            .collect();
        let runs = load.runs(first);
        let ended = started
            .into_iter()
            .map(|started| started.join().unwrap_or_else(|panic| resume_unwind(panic)));
        ended.fold(runs, Result::and)
    })
}

/// Some rows of a batch.
type Slice = (Arc<Rows>, Range<usize>);

/// Rows, from which connections take those of their transactions.
struct Source {
    batches: Box<dyn Iterator<Item = Rows> + Send>,
    rest: Option<Slice>,
    runs: usize,
}

impl Source {
    /// The next rows, this many at most.
    fn next(&mut self, most: usize) -> Option<Slice> {
        let (rows, range) = if let Some(rest) = self.rest.take() {
            rest
        } else {
            let rows = self.batches.next()?;
            let all = 0..rows.count;
            (Arc::new(rows), all)
        };
        let end = range.end.min(range.start.saturating_add(most));
        if end < range.end {
            self.rest = Some((rows.clone(), end..range.end));
        }
        Some((rows, range.start..end))
    }

    /// The rows of the next transaction, and its number.
    fn run(&mut self, cancel: &Cancel) -> (usize, Vec<Slice>) {
        let (mut left, mut run) = (RUN_ROWS, Vec::new());
        while left > 0
            && !cancel.is_cancelled()
            && let Some((rows, range)) = self.next(left)
        {
            left -= range.len();
            run.push((rows, range));
        }
        self.runs += 1;
        (self.runs - 1, run)
    }
}

struct Load<'l> {
    table: &'l Table,
    columns: Vec<&'static str>,
    cancel: &'l Cancel,
    busy: Arc<AtomicUsize>,
    source: Mutex<Source>,
    turn: Mutex<Turn>,
    turned: Condvar,
}

/// The turn to commit a transaction.
#[derive(Default)]
struct Turn {
    /// The number that is over.
    over: usize,
    /// Loads after a failed one are not started.
    failed: bool,
}

impl Load<'_> {
    /// Loads all rows by one connection, which need not wait for each other.
    fn all(&self, connection: &Connection) -> Result<()> {
        let mut left = 0;
        while left == 0 {
            left = RUN_ROWS;
            let run = std::iter::from_fn(|| {
                let slice = if left > 0 { lock(&self.source).next(left)? } else { return None };
                left -= slice.1.len();
                Some(slice)
            });
            self.transaction(connection, run, || true)?;
        }
        Ok(())
    }

    /// Loads runs of rows until there are none.
    fn runs(&self, connection: &Connection) -> Result<()> {
        let ended = EndGuard(self);
        loop {
            let (number, run) = lock(&self.source).run(self.cancel);
            if self.cancel.is_cancelled() {
                return Err(EngineError::Cancelled);
            }
            if run.is_empty() {
                std::mem::forget(ended);
                return Ok(());
            }
            self.busy.fetch_add(1, Ordering::Relaxed);
            let result =
                self.transaction(connection, run.into_iter(), || self.wait_for_turn(number));
            self.busy.fetch_sub(1, Ordering::Relaxed);
            result?;
            let mut turn = lock(&self.turn);
            turn.over += 1;
            self.turned.notify_all();
            if turn.failed {
                // Another thread reports the error.
                return Ok(());
            }
        }
    }

    /// Appends rows and commits them, unless `may` returns false.
    fn transaction(
        &self,
        connection: &Connection,
        rows: impl Iterator<Item = Slice>,
        may: impl FnOnce() -> bool,
    ) -> Result<()> {
        let doing = || failed(format!("filling table {}", self.table.name));
        let columns: Vec<&Column> =
            self.columns.iter().filter_map(|name| self.table.column(name)).collect();
        let mut chunk = bulk::chunk(connection, &columns);
        connection.run("BEGIN").map_err(doing())?;
        let mut appender = connection.appender(self.table.name, &self.columns).map_err(doing())?;
        for (rows, range) in rows {
            if self.cancel.is_cancelled() {
                return Err(EngineError::Cancelled);
            }
            bulk::append(&mut appender, &mut chunk, &columns, &rows, range).map_err(doing())?;
        }
        appender.flush().map_err(doing())?;
        drop(appender);
        connection.run(if may() { "COMMIT" } else { "ROLLBACK" }).map_err(doing())
    }

    /// Waits until all transactions before this one are over; false: one has failed.
    fn wait_for_turn(&self, number: usize) -> bool {
        let turn = self
            .turned
            .wait_while(lock(&self.turn), |turn: &mut Turn| turn.over < number && !turn.failed)
            .unwrap_or_else(PoisonError::into_inner);
        !turn.failed
    }
}

/// Tells the others when a thread ends before its time, also by a panic.
struct EndGuard<'l>(&'l Load<'l>);

impl Drop for EndGuard<'_> {
    fn drop(&mut self) {
        lock(&self.0.turn).failed = true;
        self.0.turned.notify_all();
    }
}
