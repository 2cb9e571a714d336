//! The data sets that probes work on: their settings, and how they get into the tables of a trial.

use crate::{ProbeError, Target, TrialContext};
use datasets::{DataSet, Size};
use engines::{
    Ability, Answer, EngineError, EngineUse, Explained, Fill, Footprint, Kept, Operation, Output, Request,
    Rows, Statement, Table, Work,
};
use experiment::common::PROBE;
use experiment::{Configuration, Invalid, Kind, settings};
use observations::{Event, Fact, Observations, QueryPlan, Response, number};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

settings! {
    /// Data set whose first table is worked on: synthetic (columns and rows per page are chosen), mybigtable,
    /// one-row-per-page, pgbench (accounts), tpch (all of its tables; LINEITEM is the first), or one table of TPC-H.
    pub DATA: String = "workload.data", Kind::Choice(datasets::NAMES), "synthetic";
    /// Scale factor of TPC-H (1: 6 million rows of LINEITEM, 0.01: 60,000) and of pgbench (1: 100,000 accounts).
    pub SCALE: f64 = "workload.scale", Kind::Number { min: 0.001, max: 100_000.0 }, "0.1";
    /// Rows of the data sets synthetic, mybigtable and one-row-per-page.
    pub ROWS: u64 = "workload.rows", Kind::Count { min: 1, max: 1_000_000_000_000 }, "100k";
    /// Columns of the synthetic table: a key, ints, and a last one that fills the page. All have a fixed length.
    pub COLUMNS: usize = "workload.columns", Kind::Count { min: 3, max: 18 }, "6";
    /// Rows of the synthetic table that fill a page, about: rows are made so wide. An engine whose pages cannot hold so
    /// many says so.
    pub ROWS_PER_PAGE: u16 = "workload.rows_per_page", Kind::Count { min: 1, max: 2_000 }, "50";
    /// Seed of the values of the data sets synthetic and mybigtable.
    pub DATA_SEED: u64 = "workload.data_seed", Kind::Count { min: 0, max: i64::MAX }, "1";
    /// Processors that one statement may use at most, where the engine runs one statement on several; 1: no parallelism.
    /// Default: as the engine is set.
    pub DEGREE: Option<u32> = "workload.degree", Kind::Count { min: 1, max: 1024 };
    /// Whether the statement is run once before the measurement for what the engine has to say of it: EXPLAIN (ANALYZE,
    /// BUFFERS), counters of the statement. Not part of what is measured.
    pub ANALYZE: bool = "workload.analyze", Kind::Bool, "false";
}

/// The data set that a configuration names.
pub fn data_set(configuration: &Configuration) -> DataSet {
    let size = Size {
        scale: configuration.get(SCALE),
        rows: configuration.get(ROWS),
        columns: configuration.get(COLUMNS),
        rows_per_page: configuration.get(ROWS_PER_PAGE),
        seed: configuration.get(DATA_SEED),
    };
    // Settings are checked against the same names.
    DataSet::new(&configuration.get(DATA), size).unwrap_or_else(|| DataSet::pgbench(1))
}

/// What a trial on that data set puts on its target.
pub fn footprint(configuration: &Configuration) -> Footprint {
    Footprint { row_bytes: data_set(configuration).row_bytes(), ..Footprint::default() }
}

/// Position of the operation that counts the rows of a data set's first table; a probe's own follow.
const COUNT: usize = 0;

/// The tables of a data set, its rows, and the operation at [`COUNT`].
pub fn work(set: &DataSet) -> Work {
    let tables = set.tables();
    Work {
        data: Some(Kept {
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
    /// What the engine says of the statement on it.
    pub explained: Explained,
    /// Rows of the data set that were loaded for this trial: 0 where the engine had them.
    rows_loaded: u64,
    /// Seconds until the tables were there.
    load_s: f64,
    embedded: bool,
}

impl Loaded {
    /// The same with what the engine says of an operation.
    ///
    /// # Errors
    /// When the engine refuses.
    pub fn explained(
        self,
        context: &TrialContext<'_>,
        operation: usize,
        table: &Table,
    ) -> Result<Self, ProbeError> {
        let explained = context.instance.explain(operation, table, context.configuration.get(ANALYZE))?;
        Ok(Self { explained, ..self })
    }

    /// The facts that all probes on data sets have: of the table, and of each of so many units of work.
    pub fn facts(&self, seen: &Observations, used: EngineUse, units: f64) -> Facts {
        let Explained { pages, page_bytes, counters, .. } = &self.explained;
        // A server's processor seconds are known where those of its processes are.
        let known = self.embedded || used.worker_cpu_s.is_some();
        let cpu_s = known.then(|| (seen.time.cpu_s + used.worker_cpu_s.unwrap_or(0.0)) / units);
        let each = |all: u64| all as f64 / units;
        let mut facts = Facts { cpu_s, all: Vec::new() };
        facts.add("table_rows", "", Some(self.rows as f64));
        facts.add("table_pages", "", pages.map(|pages| pages as f64));
        facts.add("page_bytes", "B", page_bytes.map(|bytes| bytes as f64));
        facts.add("rows_loaded", "", Some(self.rows_loaded as f64));
        facts.add("load_s", "s", Some(self.load_s));
        facts.add("cpu_s", "s", cpu_s);
        facts.add("pages_hit", "", used.pages.map(|pages| each(pages.hits)));
        facts.add("pages_read", "", used.pages.map(|pages| each(pages.reads)));
        let disk = used.disk_read_bytes.zip(*page_bytes);
        facts.add("pages_disk", "", disk.map(|(all, page)| each(all) / page as f64));
        facts.all.extend(counters.iter().cloned());
        facts
    }

    /// The observations with the plan of the statement, if the engine tells it.
    pub fn with_plan(self, statement: &str, mut seen: Observations) -> Observations {
        let Explained { plan, analysis, .. } = self.explained;
        seen.plans.extend(plan.map(|plan| QueryPlan::new(statement, plan, analysis)));
        seen
    }
}

/// Adds the facts of a load of single rows, and behind its responses what a unit of work costs of processors.
pub fn cpu_each(seen: &mut Observations, loaded: &Loaded, used: EngineUse, name: &str, unit: &str) {
    let units = seen.work.amount as f64;
    if units > 0.0 {
        let facts = loaded.facts(seen, used, units);
        seen.responses.extend(facts.cpu_s.map(|cpu_s| Response::lower(name, unit, cpu_s * 1e6)));
        seen.facts.extend(facts.all);
    }
}

/// Objections to a load that asks for single rows of a data set.
pub fn keys_of_a_table(
    configuration: &Configuration,
    target: &Target,
    objection: impl Fn(&Configuration, &DataSet) -> Option<Invalid>,
) -> Option<Invalid> {
    if !target.abilities.contains(&Ability::Tables) {
        return Some(Invalid::new(PROBE.path(), "this engine has no tables"));
    }
    objection(configuration, &data_set(configuration))
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
    pub fn add(&mut self, name: &str, unit: &str, value: Option<f64>) {
        self.all.extend(value.map(|value| Fact { name: name.into(), unit: unit.into(), value }));
    }
}

/// Creates and fills the tables of a trial, which the user hears of.
///
/// # Errors
/// When the engine fails or the trial is asked to stop.
pub fn create(context: &TrialContext<'_>, set: &DataSet, mut work: Work) -> Result<Loaded, ProbeError> {
    let (loaded, started, about) = (Arc::new(AtomicU64::new(0)), Instant::now(), set.all_rows());
    let tables = work.data.as_ref().map_or(0, |data| data.tables);
    for fill in work.fills.iter_mut().filter(|fill| fill.table < tables) {
        counted(fill, loaded.clone());
    }
    std::thread::scope(|scope| {
        let (done, waiting) = channel::<()>();
        let loaded = &loaded;
        let tell = move || {
            while let Err(RecvTimeoutError::Timeout) = waiting.recv_timeout(TELL_EVERY) {
                let (rows, s) = (loaded.load(Ordering::Relaxed) as f64, started.elapsed().as_secs_f64());
                let share = (100.0 * rows / about.max(1) as f64).min(100.0);
                let [rows, rate] = [rows, rows / s].map(number::grouped);
                (context.progress)(Event::Step {
                    text: format!("loading {}: {share:.0} %, {rows} rows, {rate} rows/s", set.name()),
                });
            }
        };
        let teller = Builder::new().name("loading".into()).spawn_scoped(scope, tell);
        teller.map_err(|error| EngineError::no_thread(&error))?;
        let created = context.instance.create(work);
        drop(done);
        created
    })?;
    let load_s = started.elapsed().as_secs_f64();
    Ok(Loaded {
        rows_loaded: loaded.load(Ordering::Relaxed),
        load_s,
        rows: set.rows().map_or_else(|| count(context), Ok)?,
        explained: Explained::default(),
        embedded: context.target.abilities.contains(&Ability::Embedded),
    })
}

/// How often a user hears how far loading is.
const TELL_EVERY: Duration = Duration::from_millis(500);

/// Has the rows of a fill counted as they are made.
fn counted(fill: &mut Fill, count: Arc<AtomicU64>) {
    let batches = std::mem::replace(&mut fill.batches, Box::new(std::iter::empty()));
    fill.batches = Box::new(batches.inspect(move |rows: &Rows| {
        count.fetch_add(rows.count as u64, Ordering::Relaxed);
    }));
}

/// Asks the engine for the number of rows.
fn count(context: &TrialContext<'_>) -> Result<u64, ProbeError> {
    let (statement, mut answers) = (Statement::Operation(COUNT), Vec::<Answer>::new());
    let mut connections = context.instance.connect(1)?;
    connections.send(0, &Request::Execute { statement, parameters: &[], results: true })?;
    while answers.is_empty() {
        if context.cancel.is_cancelled() {
            return Err(EngineError::Cancelled.into());
        }
        connections.wait(None, &mut answers)?;
    }
    let done = answers.remove(0).result?;
    let cell = done.results.first().and_then(|results| results.last.first()?.as_ref()?.parse().ok());
    Ok(cell.ok_or_else(|| EngineError::failed("counting rows", "the engine answered without a number"))?)
}
