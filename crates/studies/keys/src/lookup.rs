//! The lookup probe (S2c): single rows by key, asked for by clients, or on the server by a join
//! with a table of keys.
//!
//! The facts are those of the scan probe that begin with `table_`, `page` or `cpu_`; each of a
//! lookup.

use crate::keys::{DISTINCT_KEYS, KEYS, KeyShare, Keys, ZIPF, objection};
use crate::single_rows::{cpu_each, keys_of_a_table, session_us};
use analysis::{Access, CostKind, Study, TableUse, WorkCost};
use engine::Ability;
use experiment::{Configuration, Invalid, Kind, choice, settings};
use observations::Observations;
use probe::data::{self, ANALYZE, COLUMNS, DATA, DATA_SEED, ROWS, ROWS_PER_PAGE, SCALE};
use probe::load::{
    CONNECTIONS, DURATION, GENERATORS, LoadPlan, RATE, Start, Step, THREADS, WARMUP, Workload,
    drive_counting,
};
use probe::{Declarations, Probe, ProbeError, Target, TrialContext};
use work::{Operation, Output, Request, Statement, Work};

/// The lookup probe.
#[derive(Debug, Clone, Copy)]
pub struct Lookup;

choice! {
    /// Requester of the rows.
    pub enum LookupMethod {
        /// A client, by a prepared statement for each.
        Statements = "statements",
        /// A statement for a table of keys.
        Join = "join",
    }
}

settings! {
    const SETTINGS = [
        DATA, SCALE, ROWS, COLUMNS, ROWS_PER_PAGE, DATA_SEED, ANALYZE, KEYS, ZIPF, DISTINCT_KEYS,
        CONNECTIONS, THREADS, GENERATORS,
        DURATION, WARMUP, RATE
    ];
    /// Lookups in the measurement by all connections. Give this or workload.duration.
    pub LOOKUPS: Option<u64> =
        "workload.lookups", Kind::Count { min: 1, max: 1_000_000_000_000 } => Measurement;
    /// How rows are looked up: clients execute a prepared statement for each (statements), or the
    /// server joins a table of keys by nested loops, without parallelism, and returns one row
    /// (join).
    pub METHOD: LookupMethod = "workload.method", LookupMethod::KIND, "statements";
    /// Keys in the joined table: the lookups of one statement.
    pub SAMPLE: u64 = "workload.sample", Kind::Count { min: 1, max: 100_000_000 }, "10k";
}

/// The study's part in the analysis of its runs.
pub const STUDY: Study =
    Study { table: Some(TableUse { access: Access::Rows, costs: COSTS }), ..Study::new("lookup") };

const COSTS: &[WorkCost] = &[
    WorkCost::new(CostKind::Processor, "us/lookup", data::processor_us),
    WorkCost::new(CostKind::Kernel, "us/lookup", data::kernel_us),
    WorkCost::new(CostKind::Time, "us/lookup", session_us),
];

impl Probe for Lookup {
    fn declarations(&self) -> &'static Declarations {
        const {
            &Declarations::new("lookup", SETTINGS)
                .with_example_levels(CONNECTIONS.path(), [1, 4, 16])
        }
    }

    fn plan(&self, configuration: &Configuration, target: &Target) -> Vec<Invalid> {
        let mut invalid = LoadPlan::objections(configuration, target, LOOKUPS);
        invalid.extend(keys_of_a_table(configuration, target, objection));
        if configuration.get(METHOD) == LookupMethod::Join {
            if !target.abilities.contains(&Ability::NestedLoops) {
                let message = "this engine does not join by nested loops; use \"statements\"";
                invalid.push(Invalid::new(METHOD.path(), message));
            }
            let each = configuration.get(SAMPLE) * u64::from(configuration.get(CONNECTIONS));
            if configuration.get(LOOKUPS).is_some_and(|lookups| lookups % each != 0) {
                let message = format!(
                    "each connection joins whole samples of {} keys; use a multiple of {each}",
                    configuration.get(SAMPLE)
                );
                invalid.push(Invalid::new(LOOKUPS.path(), message));
            }
        }
        invalid
    }

    fn run(&self, context: &TrialContext<'_>) -> Result<Observations, ProbeError> {
        let configuration = context.configuration;
        let set = data::data_set(configuration);
        let keys = |seed, index| Keys::new(configuration, set, seed, index, KeyShare::ALL);
        let mut work = data::work(&set);
        let (table, operation) = (work.tables[0].clone(), work.operations.len());
        let method = configuration.get(METHOD);
        let units_each = if method == LookupMethod::Join {
            let sample = configuration.get(SAMPLE);
            add_join(&mut work, keys(context.seed, 0), sample);
            sample
        } else {
            let columns: Vec<&'static str> =
                table.columns.iter().map(|column| column.name).collect();
            work.operations.push(Operation::lookup(0, &columns));
            1
        };
        work.degree = Some(1);
        let loaded = data::create(context, &set, work)?.explained(context, operation, &table)?;
        let plan = LoadPlan {
            units_each,
            unit: "lookup",
            rate_unit: "lookups/s",
            timed: if method == LookupMethod::Join { "join" } else { "lookup" },
            ..LoadPlan::from_context(context, LOOKUPS)
        };
        let (mut observations, used) = drive_counting(context, &plan, &|index| {
            let keys = keys(context.seed, index);
            Box::new(LookupWorkload { keys, method, operation, units_each, is_sent: false })
        })?;
        cpu_each(&mut observations, &loaded, used, "cpu_per_lookup", "us/lookup");
        Ok(loaded.with_plan("lookup", observations))
    }
}

/// Adds a table of keys and the operation that looks up a row for each of them.
fn add_join(work: &mut Work, keys: Keys, count: u64) {
    let sample = work.tables.len();
    let (table, fill) = keys.sample(count, sample);
    // What is found has to be read, not only counted.
    let last =
        work.tables[0].columns.iter().rfind(|column| !work.tables[0].key.contains(&column.name));
    let outputs = std::iter::once(Output::Count).chain(last.map(|column| Output::Max(column.name)));
    work.operations.push(Operation::LookupEach { sample, table: 0, outputs: outputs.collect() });
    // The sample is this trial's own: what is kept for others are the tables of the data set.
    work.tables.push(table);
    work.fills.push(fill);
}

/// The lookups of one connection.
struct LookupWorkload {
    keys: Keys,
    method: LookupMethod,
    operation: usize,
    units_each: u64,
    is_sent: bool,
}

impl Workload for LookupWorkload {
    fn start(&mut self, _: u64) -> Start {
        self.is_sent = false;
        if self.method == LookupMethod::Statements {
            self.keys.draw_parameters();
        }
        Start { kind: 0, units: self.units_each, transactions: 1 }
    }

    fn step(&mut self) -> Result<Step<'_>, ProbeError> {
        if std::mem::replace(&mut self.is_sent, true) {
            return Ok(Step::End);
        }
        let parameters = match self.method {
            LookupMethod::Statements => self.keys.parameters(),
            LookupMethod::Join => &[],
        };
        let statement = Statement::Operation(self.operation);
        Ok(Step::Request(Request::Execute { statement, parameters, results: false }))
    }

    fn restart(&mut self) {
        self.is_sent = false;
    }
}
