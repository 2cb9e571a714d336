//! The update probe (S2c): an int of single rows is changed in place, one row a transaction.
//!
//! A transaction is BEGIN, UPDATE, COMMIT. The response `lock_held` is the mean time from the
//! answer of UPDATE to that of COMMIT, as clients see it: when the answer of UPDATE comes the row
//! is locked, and when that of COMMIT comes it no longer is. It differs from the time that the
//! engine would measure by less than the way of the two answers; the wait for a lock is not in it.
//! An engine that locks more than the row (SQLite: the file, from BEGIN on) holds that for longer.
//!
//! The facts are those of the scan probe that begin with `table_`, `page` or
//! `cpu_`; each of an update.

use crate::keys::{DISTINCT_KEYS, KEYS, KeyShare, Keys, ZIPF, objection};
use crate::single_rows::{cpu_each, keys_of_a_table, session_us};
use analysis::{Access, CostKind, Study, TableUse, WorkCost};
use datasets::DataSet;
use experiment::{Configuration, Invalid, Kind, choice, settings};
use observations::{Observations, Response, ScriptStatement};
use probe::data::{self, ANALYZE, COLUMNS, DATA, DATA_SEED, ROWS, ROWS_PER_PAGE, SCALE};
use probe::load::{
    CONNECTIONS, DURATION, GENERATORS, LoadPlan, RATE, Start, Step, THREADS, WARMUP, Workload,
    drive_counting,
};
use probe::{Declarations, Probe, ProbeError, Target, TrialContext};
use work::{DataType, Filter, Operation, Request, SharedTables, Statement};

/// The update probe.
#[derive(Debug, Clone, Copy)]
pub struct Update;

choice! {
    /// Sharing of rows between connections.
    pub enum Sharing {
        /// All of them draw from the same keys.
        Shared = "shared",
        /// Each has a part of the keys for itself.
        Disjoint = "disjoint",
    }
}

settings! {
    const SETTINGS = [
        DATA, SCALE, ROWS, COLUMNS, ROWS_PER_PAGE, DATA_SEED, ANALYZE, KEYS, ZIPF, DISTINCT_KEYS,
        CONNECTIONS, THREADS, GENERATORS,
        DURATION, WARMUP, RATE
    ];
    /// Updates in the measurement by all connections. Give this or workload.duration.
    pub UPDATES: Option<u64> =
        "workload.updates", Kind::Count { min: 1, max: 1_000_000_000_000 } => Measurement;
    /// Sharing of rows: all connections use the same keys (shared), or each has its own part
    /// (disjoint).
    pub SHARING: Sharing = "workload.sharing", Sharing::KIND, "shared";
    /// Maximum number of tries of an update after deadlocks or serialization failures; then it
    /// counts as failed.
    pub MAX_TRIES: u64 = "workload.max_tries", Kind::Count { min: 1, max: 1_000_000 }, "100";
}

/// The study's part in the analysis of its runs.
pub const STUDY: Study =
    Study { table: Some(TableUse { access: Access::Rows, costs: COSTS }), ..Study::new("update") };

const COSTS: &[WorkCost] = &[
    WorkCost::new(CostKind::Processor, "us/update", data::processor_us),
    WorkCost::new(CostKind::Kernel, "us/update", data::kernel_us),
    WorkCost::new(CostKind::Time, "us/update", session_us),
    WorkCost::new(CostKind::LockHeld, "ms", |observations| observations.response("lock_held")),
];

impl Probe for Update {
    fn declarations(&self) -> &'static Declarations {
        const {
            &Declarations::new("update", SETTINGS)
                .with_example_levels(CONNECTIONS.path(), [1, 4, 16])
        }
    }

    fn plan(&self, configuration: &Configuration, target: &Target) -> Vec<Invalid> {
        let mut invalid = LoadPlan::objections(configuration, target, UPDATES);
        invalid.extend(keys_of_a_table(configuration, target, |configuration, set| {
            objection(configuration, set).or_else(|| column_to_change(set).err())
        }));
        invalid
    }

    fn run(&self, context: &TrialContext<'_>) -> Result<Observations, ProbeError> {
        let configuration = context.configuration;
        let set = data::data_set(configuration);
        let mut work = data::work(&set);
        let (table, operation) = (work.tables[0].clone(), work.operations.len());
        let column = column_to_change(&set)?;
        work.data = work.data.map(|data| SharedTables { changed: true, ..data });
        work.operations.push(Operation::Update { table: 0, column, add: 1, rows: Filter::Key });
        let loaded = data::create(context, &set, work)?.explained(context, operation, &table)?;
        let plan = LoadPlan {
            unit: "update",
            rate_unit: "updates/s",
            tries_max: configuration.get(MAX_TRIES),
            statements: STATEMENTS.map(|text| ScriptStatement::new("update", text)).into(),
            ..LoadPlan::from_context(context, UPDATES)
        };
        let disjoint = configuration.get(SHARING) == Sharing::Disjoint;
        let (mut observations, used) = drive_counting(context, &plan, &|index| {
            let parts = KeyShare { part: index, parts: plan.connections };
            let share = if disjoint { parts } else { KeyShare::ALL };
            let keys = Keys::new(configuration, set, context.seed, index, share);
            Box::new(UpdateWorkload { keys, operation, steps: 0 })
        })?;
        let commits = observations.statements.get(COMMIT).filter(|commits| commits.count > 0);
        let held_s = commits.map(|commits| commits.wall_s / commits.count as f64);
        observations
            .responses
            .extend(held_s.map(|held_s| Response::lower("lock_held", "ms", held_s * 1e3)));
        cpu_each(&mut observations, &loaded, used, "cpu_per_update", "us/update");
        Ok(loaded.with_plan("update", observations))
    }
}

/// The statements of a transaction.
const STATEMENTS: [&str; 3] = ["BEGIN", "UPDATE", "COMMIT"];
/// Position of the last one.
const COMMIT: usize = 2;

/// The first column of whole numbers outside of the key.
fn column_to_change(set: &DataSet) -> Result<&'static str, Invalid> {
    let table = set.tables().remove(0);
    let columns = table.columns.iter();
    let mut whole =
        columns.filter(|column| matches!(column.data_type, DataType::Int | DataType::BigInt));
    let found = whole.find(|column| !table.key.contains(&column.name));
    found.map(|column| column.name).ok_or_else(|| {
        Invalid::new(
            DATA.path(),
            format!("table {} has no integer column outside its key", table.name),
        )
    })
}

/// The updates of one connection.
struct UpdateWorkload {
    keys: Keys,
    operation: usize,
    /// Steps of the transaction that have been taken.
    steps: usize,
}

impl Workload for UpdateWorkload {
    fn start(&mut self, _: u64) -> Start {
        self.steps = 0;
        self.keys.draw_parameters();
        Start { kind: 0, units: 1, transactions: 1 }
    }

    fn step(&mut self) -> Result<Step<'_>, ProbeError> {
        self.steps += 1;
        let (statement, parameters) = match self.steps {
            1 => (Statement::Begin, &[][..]),
            2 => (Statement::Operation(self.operation), self.keys.parameters()),
            3 => (Statement::Commit, &[][..]),
            _ => return Ok(Step::End),
        };
        Ok(Step::Request(Request::Execute { statement, parameters, results: false }))
    }

    fn restart(&mut self) {
        self.steps = 0;
    }

    fn statement(&self) -> usize {
        self.steps.saturating_sub(1)
    }
}
