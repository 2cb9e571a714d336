//! The settings of decision support, and a trial: its streams run their queries one after the
//! other.

use crate::other_names::OTHER_NAMES;
use crate::queries::{QUERIES, Query};
use crate::stream::{Stream, order};
use datasets::DataSet;
use engine::{Ability, Footprint};
use experiment::common::PROBE;
use experiment::{
    Configuration, Declaration, ExampleLevels, Invalid, Kind, OtherName, choice, settings,
};
use observations::{Observations, QueryPlan, Response, ScriptStatement};
use probe::data::{ANALYZE, DEGREE, create, recorded};
use probe::load::{LoadPlan, THREADS, WARMUP, drive_counting, no_warmup_of_cold};
use probe::{Probe, ProbeError, Target, TrialContext};
use work::{DataType, Operation, SharedTables, Table};

/// The decision support probe.
#[derive(Debug, Clone, Copy)]
pub struct DecisionSupport;

choice! {
    /// Secondary indexes of the tables.
    pub enum Indexes {
        /// Primary keys only.
        None = "none",
        /// Also an index of each table on columns that refer to another table.
        References = "references",
    }
}

settings! {
    const SETTINGS = [DEGREE, ANALYZE, THREADS, WARMUP];
    /// Scale factor of the tables: 1 is 6 million rows of LINEITEM, 0.01 is 60,000.
    pub SCALE: f64 =
        "workload.scale", Kind::Number { min: 0.001, max: 100_000.0 }, "0.01" => DataIdentity;
    /// Queries to run (or one): "Q1" to "Q22". Default: all 22.
    pub NUMBERS: Vec<String> = "workload.queries", Kind::TextList => Operation;
    /// Streams that run their queries at the same time, each on its own connection. 1 is the power
    /// test: the queries in the order of the specification. Each further stream has a random order
    /// of its own.
    pub STREAMS: u32 = "workload.streams", Kind::Count { min: 1, max: 4096 }, "1" => Concurrency;
    /// Rounds in the measurement (default 1): in each, every stream runs each of its queries.
    pub ROUNDS: Option<u64> =
        "workload.rounds", Kind::Count { min: 1, max: 1_000_000 } => Measurement;
    /// Secondary indexes: none, or references (one for each table on columns that refer to another
    /// table).
    pub INDEXES: Indexes = "workload.indexes", Indexes::KIND, "none" => DataIdentity;
    /// Compare the answers of a trial at scale 1 with the published ones (number of rows and last
    /// row); a difference fails the trial.
    pub VERIFY: bool = "workload.verify", Kind::Bool, "true";
}

impl Probe for DecisionSupport {
    fn name(&self) -> &'static str {
        "decision-support"
    }

    fn other_names(&self) -> &'static [OtherName] {
        OTHER_NAMES
    }

    fn settings(&self) -> &'static [Declaration] {
        SETTINGS
    }

    fn example_levels(&self) -> Option<ExampleLevels> {
        Some(ExampleLevels { path: STREAMS.path(), levels: [1, 2, 4] })
    }

    fn connections(&self, configuration: &Configuration) -> u32 {
        configuration.get(STREAMS)
    }

    fn footprint(&self, configuration: &Configuration) -> Footprint {
        Footprint { row_bytes: data_set(configuration).row_bytes(), ..Footprint::default() }
    }

    fn tables(&self, configuration: &Configuration) -> Vec<Table> {
        tables(&data_set(configuration), configuration.get(INDEXES))
    }

    fn plan(&self, configuration: &Configuration, target: &Target) -> Vec<Invalid> {
        let mut invalid = Vec::new();
        let has = |ability| target.abilities.contains(&ability);
        if !has(Ability::Tables) || !has(Ability::Statements) {
            let message = "this engine has no tables and statements; give a database";
            invalid.push(Invalid::new(PROBE.path(), message));
        }
        if configuration.get(DEGREE).is_some_and(|degree| degree > 1) && !has(Ability::Parallel) {
            let message = "this engine runs a statement on one CPU; use 1";
            invalid.push(Invalid::new(DEGREE.path(), message));
        }
        invalid.extend(no_warmup_of_cold(configuration, target, WARMUP));
        invalid.extend(queries(configuration).err());
        invalid
    }

    fn run(&self, context: &TrialContext<'_>) -> Result<Observations, ProbeError> {
        let configuration = context.configuration;
        let (set, queries) = (data_set(configuration), queries(configuration)?);
        let mut work = probe::data::work(&set);
        let indexes = configuration.get(INDEXES);
        work.tables = tables(&set, indexes);
        if let Some(data) = &mut work.data {
            let SharedTables { identity, .. } = data;
            *identity = format!("{identity}, texts without blanks, indexes {}", indexes.name());
        }
        work.degree = configuration.get(DEGREE);
        let first_operation = work.operations.len();
        work.operations.extend(queries.iter().map(|query| Operation::Sql(query.parts())));
        let fact_table = work.tables[0].clone();
        let loaded = create(context, &set, work)?;
        let plans = plans(context, &queries, first_operation, &fact_table)?;
        let streams = configuration.get(STREAMS);
        let rounds = configuration.get(ROUNDS).unwrap_or(1);
        let plan = LoadPlan {
            connections: streams,
            unit: "query",
            rate_unit: "queries/s",
            timed: "query",
            kinds: queries.iter().map(|query| query.label()).collect(),
            statements: queries.iter().map(|query| statement(query)).collect(),
            units: Some(rounds * u64::from(streams) * queries.len() as u64),
            ..LoadPlan::from_context(context, ROUNDS)
        };
        let verified =
            configuration.get(VERIFY) && configuration.get(SCALE).total_cmp(&1.0).is_eq();
        let (mut seen, used) = drive_counting(context, &plan, |number| {
            let order = order(&queries, number, context.seed);
            Stream::new(&queries, order, first_operation, verified)
        })?;
        if let Some(mean_s) = geometric_mean(&seen.statements) {
            seen.responses.push(Response::lower("geometric_mean", "s", mean_s));
        }
        let units = seen.work.amount as f64;
        if units > 0.0 {
            seen.facts.extend(loaded.facts(seen.time.cpu_s, used, units).all);
        }
        seen.plans.extend(plans);
        Ok(seen)
    }
}

/// The tables of the specification, LINEITEM first.
fn data_set(configuration: &Configuration) -> DataSet {
    DataSet::tpch(configuration.get(SCALE))
}

/// The tables with their secondary indexes. Texts of a fixed length are stored without blanks at
/// their ends: some engines compare them with the blanks, others without.
fn tables(set: &DataSet, indexes: Indexes) -> Vec<Table> {
    let mut tables = set.tables();
    for column in tables.iter_mut().flat_map(|table| &mut table.columns) {
        if let DataType::Char(length) = column.data_type {
            column.data_type = DataType::Varchar(length);
        }
    }
    if indexes == Indexes::References {
        for table in &mut tables {
            table.storage.index = match table.name {
                "lineitem" => &["l_partkey", "l_suppkey"],
                "orders" => &["o_custkey"],
                "partsupp" => &["ps_suppkey"],
                "customer" => &["c_nationkey"],
                "supplier" => &["s_nationkey"],
                "nation" => &["n_regionkey"],
                _ => &[],
            };
        }
    }
    tables
}

/// The queries that a configuration names, in the order of their numbers.
fn queries(configuration: &Configuration) -> Result<Vec<&'static Query>, Invalid> {
    let mut found = Vec::<&Query>::new();
    for name in configuration.get(NUMBERS) {
        let query = QUERIES.iter().find(|query| query.label().eq_ignore_ascii_case(&name));
        let Some(query) = query else {
            let message = format!("there is no query {name:?}; known are Q1 to Q22");
            return Err(Invalid::new(NUMBERS.path(), message));
        };
        if !found.contains(&query) {
            found.push(query);
        }
    }
    if found.is_empty() {
        found = QUERIES.iter().collect();
    }
    found.sort_by_key(|query| query.number);
    Ok(found)
}

/// Returns the record of a query's statement.
fn statement(query: &Query) -> ScriptStatement {
    ScriptStatement { script: query.label(), text: query.title(), ..ScriptStatement::default() }
}

/// The plans of the queries, as far as the engine reports them. Nothing is run, unless
/// `workload.analyze` asks for it.
fn plans(
    context: &TrialContext<'_>,
    queries: &[&'static Query],
    first_operation: usize,
    table: &Table,
) -> Result<Vec<QueryPlan>, ProbeError> {
    let mut plans = Vec::new();
    for (operation, query) in (first_operation..).zip(queries) {
        let explained =
            context.instance.explain(operation, table, context.configuration.get(ANALYZE))?;
        let (plan, analysis) = (explained.plan, explained.analysis);
        plans.extend(plan.map(|plan| recorded(&query.title(), plan).analyzed(analysis)));
    }
    Ok(plans)
}

/// The geometric mean of the mean times of queries, in seconds, as the power test of the
/// specification weighs them (5.4.1); `None` if one of them has no time.
fn geometric_mean(statements: &[ScriptStatement]) -> Option<f64> {
    let logarithms = statements.iter().map(|one| {
        let mean_s = one.wall_s / one.count as f64;
        (one.count > 0 && mean_s > 0.0).then(|| mean_s.ln())
    });
    let logarithms: Vec<f64> = logarithms.collect::<Option<_>>()?;
    let mean = logarithms.iter().sum::<f64>() / logarithms.len() as f64;
    (!logarithms.is_empty()).then(|| mean.exp())
}
