//! The data sets that probes work on: their settings, and how they get into the tables of a trial.

mod settings;

pub use settings::{ANALYZE, COLUMNS, DATA, DATA_SEED, DEGREE, ROWS, ROWS_PER_PAGE, SCALE};
pub use settings::{data_set, declared_data_set};

use crate::{ProbeError, Target, TrialContext};
use datasets::DataSet;
use engine::{
    Ability, Answer, Compressed, ConnectionSet, EngineError, EngineUse, Explained, Planned,
    Results, Tables,
};
use experiment::{Configuration, Invalid};
use observations::{Event, Fact, FactFamily, FactName, Observations, QueryPlan, number};
use observe::file_system::{is_on_btrfs, used};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use work::{
    Fill, Operation, Output, Request, Rows, SharedTables, Statement, Table, Work, while_watched,
};

/// Rows of the table.
pub const TABLE_ROWS: FactName = FactName::new("table_rows", "");
/// Pages of the table.
pub const TABLE_PAGES: FactName = FactName::new("table_pages", "");
/// Bytes of a page.
pub const PAGE_BYTES: FactName = FactName::new("page_bytes", "B");
/// Rows that the engine took for this trial: 0 where it had them.
pub(crate) const ROWS_LOADED: FactName = FactName::new("rows_loaded", "");
/// Seconds until the tables were there.
pub const LOAD_S: FactName = FactName::new("load_s", "s");
/// Bytes that the tables and their indexes take where they are stored.
pub const STORED_BYTES: FactName = FactName::new("stored_bytes", "B");
/// Processor seconds of a unit of work: those of the sessions and of their workers.
pub const CPU_S: FactName = FactName::new("cpu_s", "s");
/// Processor seconds of the kernel's threads for a unit of work.
pub const KERNEL_CPU_S: FactName = FactName::new("kernel_cpu_s", "s");
/// Pages of a unit of work that the engine's cache held.
pub const PAGES_HIT: FactName = FactName::new("pages_hit", "");
/// Pages of a unit of work that the engine asked the operating system for.
pub const PAGES_READ: FactName = FactName::new("pages_read", "");
/// Pages of a unit of work that came from storage.
pub const PAGES_DISK: FactName = FactName::new("pages_disk", "");
/// Bytes of a column that a column store has compressed by a method: `compressed.COLUMN.METHOD`.
pub const COMPRESSED: FactFamily = FactFamily::new("compressed.", "B");

/// Processor seconds of a unit of work: sessions, their workers, and where it was counted the
/// kernel's threads.
pub fn processor_s(observations: &Observations) -> Option<f64> {
    Some(CPU_S.read(observations)? + KERNEL_CPU_S.read(observations).unwrap_or(0.0))
}

/// Processor time of a unit of work in microseconds, as [`processor_s`].
pub fn processor_us(observations: &Observations) -> Option<f64> {
    Some(1e6 * processor_s(observations)?)
}

/// The kernel's part of it in microseconds.
pub fn kernel_us(observations: &Observations) -> Option<f64> {
    Some(1e6 * KERNEL_CPU_S.read(observations)?)
}

/// Position of the operation that counts the rows of a data set's first table; a probe's own
/// follow.
const COUNT: usize = 0;

/// The tables of a data set, its rows, and the operation at [`COUNT`].
pub fn work(set: &DataSet) -> Work {
    let tables = set.tables();
    Work {
        data: Some(SharedTables {
            identity: set.identity(),
            tables: tables.len(),
            bytes: set.row_bytes(),
            changed: false,
        }),
        tables,
        fills: set.fills(),
        operations: vec![Operation::scan(0, vec![Output::Count])],
        ..Work::default()
    }
}

/// The first table of a data set in a trial.
pub struct Loaded {
    /// Rows of it.
    pub rows: u64,
    /// The engine's explanation of the statement.
    pub explained: Explained,
    /// Bytes that the tables and their indexes take where they are stored.
    pub stored_bytes: Option<u64>,
    /// Of a column store: the methods by which columns are compressed.
    compressed: Vec<Compressed>,
    filled: FillResult,
    embedded: bool,
}

impl Loaded {
    /// Describes loaded tables by the engine, with the storage of the first one.
    ///
    /// # Errors
    /// When it cannot be asked.
    pub fn read(
        context: &TrialContext<'_>,
        set: &DataSet,
        table: Option<&Table>,
        filled: FillResult,
        taken: &SpaceBefore,
    ) -> Result<Self, ProbeError> {
        let compressed = match (context.instance.parts().column_store, table) {
            (Some(store), Some(table)) => store.compressed(table)?,
            _ => Vec::new(),
        };
        Ok(Self {
            filled,
            compressed,
            rows: set.rows().map_or_else(|| count(context), Ok)?,
            explained: Explained::default(),
            stored_bytes: taken.by_tables(context)?,
            embedded: context.target.abilities.contains(&Ability::Embedded),
        })
    }

    /// Adds the engine's explanation of an operation.
    ///
    /// # Errors
    /// When the engine refuses.
    pub fn explained(
        self,
        context: &TrialContext<'_>,
        operation: usize,
        table: &Table,
    ) -> Result<Self, ProbeError> {
        Ok(Self { explained: context.explain(operation, table)?, ..self })
    }

    /// The facts that all probes on data sets have: of the table, and of each of `units` units of
    /// work. `cpu_s`: processor seconds of the sessions.
    pub fn facts(&self, cpu_s: f64, used: EngineUse, units: f64) -> Facts {
        let Explained { pages, page_bytes, counters, .. } = &self.explained;
        // A server's processor seconds are known where those of its processes are.
        let known = self.embedded || used.worker_cpu_s.is_some();
        let cpu_s = known.then(|| (cpu_s + used.worker_cpu_s.unwrap_or(0.0)) / units);
        let each = |all: u64| all as f64 / units;
        let mut facts = Facts { cpu_s, all: Vec::new() };
        facts.add(TABLE_ROWS, Some(self.rows as f64));
        facts.add(TABLE_PAGES, pages.map(|pages| pages as f64));
        facts.add(PAGE_BYTES, page_bytes.map(|bytes| bytes as f64));
        facts.add(ROWS_LOADED, Some(self.filled.rows as f64));
        facts.add(LOAD_S, Some(self.filled.elapsed_s));
        facts.add(STORED_BYTES, self.stored_bytes.map(|bytes| bytes as f64));
        facts.add(CPU_S, cpu_s);
        facts.add(KERNEL_CPU_S, used.kernel_cpu_s.map(|seconds| seconds / units));
        facts.add(PAGES_HIT, used.pages.map(|pages| each(pages.hits)));
        facts.add(PAGES_READ, used.pages.map(|pages| each(pages.reads)));
        let disk = used.disk_read_bytes.zip(*page_bytes);
        facts.add(PAGES_DISK, disk.map(|(all, page)| each(all) / page as f64));
        facts.all.extend(counters.iter().cloned());
        for Compressed { column, method, bytes } in &self.compressed {
            facts.all.push(COMPRESSED.record(&format!("{column}.{method}"), *bytes as f64));
        }
        facts
    }

    /// The observations with the plan of the statement, if the engine reports it.
    pub fn with_plan(self, statement: &str, mut observations: Observations) -> Observations {
        let Explained { plan, analysis, .. } = self.explained;
        observations.plans.extend(plan.map(|plan| recorded(statement, plan).analyzed(analysis)));
        observations
    }
}

/// Returns the record of a plan.
pub fn recorded(statement: &str, plan: Planned) -> QueryPlan {
    QueryPlan::new(statement, plan.text).estimated(plan.rows, plan.cost)
}

/// Facts of a trial, as they are found.
pub struct Facts {
    /// Processor seconds of a unit of work, of all that worked on it.
    pub cpu_s: Option<f64>,
    /// All of them.
    pub all: Vec<Fact>,
}

impl Facts {
    /// Adds a fact that is known.
    pub fn add(&mut self, name: FactName, value: Option<f64>) {
        self.all.extend(value.map(|value| name.record(value)));
    }
}

/// Creates and fills the tables of a trial, and reports progress to the user.
///
/// # Errors
/// When the engine fails or the trial is asked to stop.
pub fn create(context: &TrialContext<'_>, set: &DataSet, work: Work) -> Result<Loaded, ProbeError> {
    let taken = SpaceBefore::before(context);
    let table = work.tables.first().cloned();
    let filled = load(context, work, set.name(), set.all_rows())?;
    Loaded::read(context, set, table.as_ref(), filled, &taken)
}

/// Creates and fills the tables of a trial, of about this number of rows, and reports progress to
/// the user.
///
/// # Errors
/// When the engine fails or the trial is asked to stop.
pub fn load(
    context: &TrialContext<'_>,
    work: Work,
    name: &str,
    about: u64,
) -> Result<FillResult, ProbeError> {
    let started = Instant::now();
    fill(context, work, &|rows| {
        let share = (100.0 * rows as f64 / about.max(1) as f64).min(100.0);
        let [rows, rate] =
            [rows as f64, rows as f64 / started.elapsed().as_secs_f64()].map(number::grouped);
        let text = format!("loading {name}: {share:.0} %, {rows} rows, {rate} rows/s");
        (context.progress)(Event::Step { text });
    })
}

/// Interval at which the progress of loading is reported.
const TELL_EVERY: Duration = Duration::from_millis(500);

/// The result of filling tables.
#[derive(Debug, Clone, Copy)]
pub struct FillResult {
    /// Rows that the engine took: 0 where it had them.
    rows: u64,
    /// Seconds until the tables were there.
    pub elapsed_s: f64,
    /// Seconds in which rows were waited for and none loaded.
    pub waited_s: f64,
}

/// Creates and fills the tables of a trial; `tell` receives the number of rows while it runs.
///
/// # Errors
/// When the engine fails or the trial is asked to stop.
pub fn fill(
    context: &TrialContext<'_>,
    mut work: Work,
    tell: &(dyn Fn(u64) + Sync),
) -> Result<FillResult, ProbeError> {
    let taken = Arc::new(Counts::default());
    let tables = work.data.as_ref().map_or(work.tables.len(), |data| data.tables);
    for fill in work.fills.iter_mut().filter(|fill| fill.table < tables) {
        counted(fill, taken.clone());
    }
    let started = Instant::now();
    let created = while_watched(
        "loading",
        TELL_EVERY,
        || {
            tell(taken.rows.load(Ordering::Relaxed));
            true
        },
        || context.instance.create(work),
    );
    created.map_err(|error| EngineError::no_thread(&error))??;
    Ok(FillResult {
        rows: taken.rows.load(Ordering::Relaxed),
        elapsed_s: started.elapsed().as_secs_f64(),
        waited_s: taken.waited_ns.load(Ordering::Relaxed) as f64 / 1e9,
    })
}

/// Rows that an engine has taken, and how long it waited for them.
#[derive(Debug, Default)]
struct Counts {
    rows: AtomicU64,
    waited_ns: AtomicU64,
}

/// Has the rows of a fill counted as they are taken, and the wait for them timed.
fn counted(fill: &mut Fill, counts: Arc<Counts>) {
    let (mut batches, busy) =
        (std::mem::replace(&mut fill.batches, Box::new(std::iter::empty())), fill.busy.clone());
    fill.batches = Box::new(std::iter::from_fn(move || {
        let (requested, idle) = (Instant::now(), busy.load(Ordering::Relaxed) == 0);
        let rows: Option<Rows> = batches.next();
        let waited_ns = if idle { requested.elapsed().as_nanos() as u64 } else { 0 };
        counts.waited_ns.fetch_add(waited_ns, Ordering::Relaxed);
        counts.rows.fetch_add(rows.as_ref().map_or(0, |rows| rows.count as u64), Ordering::Relaxed);
        rows
    }));
}

/// Space of the volumes' file systems before a load, where only they know the space a load takes:
/// btrfs.
pub struct SpaceBefore(Option<u64>);

impl SpaceBefore {
    /// Reads the present use.
    pub fn before(context: &TrialContext<'_>) -> Self {
        Self(used_bytes(context))
    }

    /// Bytes that the tables take since then, else the engine's own figure.
    fn by_tables(&self, context: &TrialContext<'_>) -> Result<Option<u64>, ProbeError> {
        match self.0.zip(used_bytes(context)) {
            Some((before, now)) => Ok(now.checked_sub(before)),
            None => Ok(context.instance.parts().tables.map_or(Ok(None), Tables::stored_bytes)?),
        }
    }
}

/// Bytes that are taken of the volumes of the data, if all of them are btrfs.
fn used_bytes(context: &TrialContext<'_>) -> Option<u64> {
    let volumes = context.configuration.value("target.volume")?.elements();
    let names: Vec<String> = volumes.iter().map(ToString::to_string).collect();
    let folders = context.storage.iter().filter(|(name, _)| names.contains(name));
    let taken = folders.map(|(_, folder)| is_on_btrfs(folder).then(|| used(folder)).flatten());
    // Two volumes may be folders of one file system.
    let taken: BTreeMap<u64, u64> = taken.collect::<Option<_>>()?;
    Some(taken.into_values().sum())
}

/// Asks the engine for the number of rows.
fn count(context: &TrialContext<'_>) -> Result<u64, ProbeError> {
    Ok(answer(context, Statement::Operation(COUNT))? as u64)
}

/// An objection to several CPUs for a statement on an engine that uses one.
pub fn no_parallelism(configuration: &Configuration, target: &Target) -> Option<Invalid> {
    let message = "this engine runs a statement on one CPU; use 1";
    let is_serial = !target.abilities.contains(&Ability::Parallel);
    let is_asked = configuration.get(DEGREE).is_some_and(|degree| degree > 1);
    (is_asked && is_serial).then(|| Invalid::new(DEGREE.path(), message))
}

/// Runs a statement that answers with one number, on a connection of its own.
///
/// # Errors
/// When the engine refuses, or its answer is another.
pub fn answer(context: &TrialContext<'_>, statement: Statement<'_>) -> Result<f64, ProbeError> {
    let results = execute(context, statement)?;
    let cell = results.first().and_then(|results| results.last.first()?.as_ref()?.parse().ok());
    let message = format!("the engine's answer to {statement:?} has no number");
    Ok(cell.ok_or_else(|| EngineError::failed("querying", message))?)
}

/// Runs a statement on a connection of its own.
///
/// # Errors
/// When the engine refuses or the trial is asked to stop.
pub fn execute(
    context: &TrialContext<'_>,
    statement: Statement<'_>,
) -> Result<Vec<Results>, ProbeError> {
    run(context, context.instance.connect(1)?.as_mut(), 0, statement)
}

/// Runs a statement on one of these connections, from 0, and waits for its results.
///
/// # Errors
/// When the engine refuses or the trial is asked to stop.
pub fn run(
    context: &TrialContext<'_>,
    connections: &mut dyn ConnectionSet,
    index: usize,
    statement: Statement<'_>,
) -> Result<Vec<Results>, ProbeError> {
    let mut answers = Vec::<Answer>::new();
    connections.send(index, &Request::Execute { statement, parameters: &[], results: true })?;
    while answers.is_empty() {
        if context.cancel.is_cancelled() {
            return Err(EngineError::Cancelled.into());
        }
        connections.wait(None, &mut answers)?;
    }
    Ok(answers.remove(0).result?.results)
}
