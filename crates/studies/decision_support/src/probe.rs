//! The settings of decision support, and a trial: its streams run their queries and refresh
//! functions one after the other.

use crate::other_names::OTHER_NAMES;
use crate::parameters::Source;
use crate::query_parts;
use crate::refresh::{FUNCTIONS, Function, Refresh, SETS_MAX};
use crate::settings::{
    DATA, Data, FILES, INDEXES, Indexes, PARAMETERS, Parameters, REFRESH, ROUNDS, SCALE, SETTINGS,
    STREAMS, VERIFY,
};
use crate::stream::{Shared, Stream, Task, order};
use crate::trial_queries::{TrialQuery, trial_queries};
use datasets::{DataSet, Size};
use engine::{Ability, Explained, Footprint};
use experiment::common::{OBSERVE_WAITS, PROBE};
use experiment::{Configuration, Invalid};
use observations::{FactFamily, Observations, QueryPlan, Response, ScriptStatement};
use probe::data::{DEGREE, create, no_parallelism, recorded};
use probe::load::{
    LoadPlan, Outcome, QUERY_LIMIT, WARMUP, drive_in_parts, no_time_limit, no_warmup_of_cold,
};
use probe::{Declarations, Probe, ProbeError, Target, TrialContext};
use statistics::geometric_mean;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use work::{DataType, Operation, SharedTables, Table};

/// The decision support probe.
#[derive(Debug, Clone, Copy)]
pub struct DecisionSupport;

/// Queries and refresh functions of a kind that were cancelled at `workload.query_limit`:
/// `cancelled.Q17`.
pub const CANCELLED: FactFamily = FactFamily::new("cancelled.", "queries");

/// Suppliers at scale 1, and parts for each of them.
const SUPPLIERS: f64 = 10_000.0;
const PARTS_PER_SUPPLIER: u64 = 20;

impl Probe for DecisionSupport {
    fn declarations(&self) -> &'static Declarations {
        const {
            &Declarations {
                other_names: OTHER_NAMES,
                ..Declarations::new("decision-support", SETTINGS)
                    .with_example_levels(STREAMS.path(), [1, 2, 4])
            }
        }
    }

    fn connections(&self, configuration: &Configuration) -> u32 {
        let streams = configuration.get(STREAMS);
        streams + u32::from(configuration.get(REFRESH) && streams > 1)
    }

    fn files(&self, configuration: &Configuration) -> Vec<(&'static str, String)> {
        configuration.get(FILES).into_iter().map(|path| (FILES.path(), path)).collect()
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
        invalid.extend(no_parallelism(configuration, target));
        invalid.extend(no_warmup_of_cold(configuration, target, WARMUP));
        invalid.extend(trial_queries(configuration).err());
        invalid.extend(no_time_limit(configuration, target, QUERY_LIMIT));
        if configuration.get(DATA) == Data::Tpch && repeats_suppliers(configuration.get(SCALE)) {
            let message = "at this scale the specification's rule gives a part the same supplier \
                           twice, which its primary key forbids; use 0.01, or 0.025 and more";
            invalid.push(Invalid::new(SCALE.path(), message));
        }
        let sets = u64::from(configuration.get(STREAMS)) * rounds(configuration);
        if configuration.get(REFRESH) && sets > SETS_MAX {
            let message = format!(
                "{sets} streams and rounds with refresh functions; the orders are enough for \
                 {SETS_MAX}"
            );
            invalid.push(Invalid::new(REFRESH.path(), message));
        }
        invalid
    }

    fn run(&self, context: &TrialContext<'_>) -> Result<Observations, ProbeError> {
        let configuration = context.configuration;
        let (set, queries) = (data_set(configuration), trial_queries(configuration)?);
        let trial = Trial::new(context, &queries);
        let mut work = probe::data::work(&set);
        let indexes = configuration.get(INDEXES);
        work.tables = tables(&set, indexes);
        if let Some(data) = &mut work.data {
            let SharedTables { identity, changed, .. } = data;
            *identity = format!("{identity}, texts without blanks, indexes {}", indexes.name());
            *changed = configuration.get(REFRESH);
        }
        work.degree = configuration.get(DEGREE);
        work.statement_limit = configuration.get(QUERY_LIMIT).map(Duration::from_secs_f64);
        work.keeps_rows = trial.is_verified(configuration);
        let first_operation = work.operations.len();
        work.operations.extend(trial.operations());
        let refresh = configuration.get(REFRESH).then(|| {
            let first_operation = work.operations.len();
            work.operations.extend(Refresh::operations(&work.tables));
            Arc::new(Refresh::make(configuration.get(SCALE), trial.sets(), first_operation))
        });
        let fact_table = work.tables[0].clone();
        let loaded = create(context, &set, work)?;
        let plans = plans(context, &queries, first_operation, &fact_table)?;
        let shared = Shared {
            queries: &queries,
            refresh,
            verified: trial.is_verified(configuration),
            limited: configuration.get(QUERY_LIMIT).is_some(),
            cancelled: (0..queries.len() + FUNCTIONS.len()).map(|_| AtomicU64::new(0)).collect(),
        };
        let plan = trial.load_plan(context);
        let Outcome { mut observations, used, parts } =
            drive_in_parts(context, &plan, &|number| {
                let first_operation = first_operation + trial.first_query(number);
                Box::new(Stream::new(shared.clone(), trial.tasks(number), first_operation))
            })?;
        let kinds = trial.kinds();
        let of_queries = query_parts::facts(&parts, &trial.in_order(&kinds), &observations);
        observations.facts.extend(of_queries);
        if let Some(mean_s) = mean_time_s(&observations, &kinds) {
            observations.responses.push(Response::lower("geometric_mean", "s", mean_s));
        }
        for (kind, count) in kinds.iter().zip(shared.cancelled.iter()) {
            let count = count.load(Ordering::Relaxed);
            observations.facts.extend((count > 0).then(|| CANCELLED.record(kind, count as f64)));
        }
        let units = observations.work.amount as f64;
        if units > 0.0 {
            observations.facts.extend(loaded.facts(observations.time.cpu_s, used, units).all);
        }
        observations.plans.extend(plans);
        Ok(observations)
    }
}

/// The streams of a trial.
struct Trial<'a> {
    queries: &'a [TrialQuery],
    streams: u32,
    rounds: u64,
    seed: u64,
    is_drawn: bool,
    has_refresh: bool,
}

impl<'a> Trial<'a> {
    fn new(context: &TrialContext<'_>, queries: &'a [TrialQuery]) -> Self {
        let configuration = context.configuration;
        Self {
            queries,
            streams: configuration.get(STREAMS),
            rounds: rounds(configuration),
            seed: context.seed,
            is_drawn: configuration.get(PARAMETERS) == Parameters::Drawn,
            has_refresh: configuration.get(REFRESH),
        }
    }

    /// Returns whether answers are compared with the published ones.
    fn is_verified(&self, configuration: &Configuration) -> bool {
        configuration.get(VERIFY)
            && self.queries.iter().all(|query| matches!(query, TrialQuery::Specified(_)))
            && configuration.get(SCALE).total_cmp(&1.0).is_eq()
            && !self.is_drawn
            && !self.has_refresh
    }

    /// Pairs of refresh functions.
    fn sets(&self) -> u64 {
        u64::from(self.streams) * self.rounds
    }

    /// Returns whether the refresh functions have a connection of their own.
    fn is_apart(&self) -> bool {
        self.has_refresh && self.streams > 1
    }

    /// The queries with their parameters: one set of them, or one for each stream.
    fn operations(&self) -> impl Iterator<Item = Operation> {
        let streams = if self.is_drawn { self.streams } else { 1 };
        (0..streams).flat_map(move |stream| {
            let drawn = self.is_drawn.then(|| Source::drawn(self.seed, stream));
            let mut source = drawn.unwrap_or_else(Source::validation);
            let parts = self.queries.iter().map(|query| query.parts(&mut source));
            parts.map(Operation::Sql).collect::<Vec<_>>()
        })
    }

    /// The position of a stream's first query among these operations.
    fn first_query(&self, stream: u32) -> usize {
        if self.is_drawn { stream as usize * self.queries.len() } else { 0 }
    }

    /// Names of the kinds of tasks.
    fn kinds(&self) -> Vec<String> {
        let functions = FUNCTIONS.iter().filter(|_| self.has_refresh);
        let functions = functions.map(|(name, _)| (*name).to_owned());
        self.queries.iter().map(TrialQuery::label).chain(functions).collect()
    }

    /// The tasks of a connection.
    fn tasks(&self, number: u32) -> Vec<Task> {
        let pair = |set: u64| {
            [Function::Insert, Function::Delete]
                .map(|function| Task::Refresh(function, set as usize))
        };
        if self.is_apart() && number == self.streams {
            return (0..self.sets()).flat_map(pair).collect();
        }
        let order = order(self.queries, number, self.seed);
        let queries: Vec<Task> = order.into_iter().map(Task::Query).collect();
        if !self.has_refresh || self.is_apart() {
            return queries;
        }
        let tasks = (0..self.rounds).flat_map(|round| {
            let [insert, delete] = pair(round);
            [vec![insert], queries.clone(), vec![delete]].concat()
        });
        tasks.collect()
    }

    /// The names of the first connection's tasks in the order in which they run.
    fn in_order<'k>(&self, kinds: &'k [String]) -> Vec<&'k str> {
        let tasks = self.tasks(0);
        let all = tasks.iter().cycle().take(self.share(&tasks) as usize);
        all.map(|task| kinds[task.kind(self.queries.len())].as_str()).collect()
    }

    /// The number of tasks that a stream with these runs.
    fn share(&self, tasks: &[Task]) -> u64 {
        let rounds = if self.has_refresh && !self.is_apart() { 1 } else { self.rounds };
        rounds * tasks.len() as u64
    }

    /// The load: each connection runs its queries in all rounds.
    fn load_plan(&self, context: &TrialContext<'_>) -> LoadPlan {
        let mut shares: Vec<u64> =
            (0..self.streams).map(|stream| self.share(&self.tasks(stream))).collect();
        shares.extend(self.is_apart().then(|| 2 * self.sets()));
        let functions = FUNCTIONS.iter().filter(|_| self.has_refresh);
        let functions =
            functions.map(|(name, what)| ScriptStatement::new(name, &format!("{name} {what}")));
        let [unit, rate_unit] = if self.has_refresh {
            ["query or refresh", "queries and refreshes/s"]
        } else {
            ["query", "queries/s"]
        };
        LoadPlan {
            connections: shares.len() as u32,
            unit,
            rate_unit,
            timed: "query",
            kinds: self.kinds(),
            statements: self
                .queries
                .iter()
                .map(|query| ScriptStatement::new(&query.label(), &query.title()))
                .chain(functions)
                .collect(),
            // Waits of streams at the same time belong to no single query.
            divides: context.configuration.get(OBSERVE_WAITS)
                && shares.len() == 1
                && shares[0] <= PARTS_MAX,
            units: Some(shares.iter().sum()),
            shares,
            // Refresh functions can conflict with each other's readers.
            tries_max: TRIES_MAX,
            ..LoadPlan::from_context(context, ROUNDS)
        }
    }
}

/// Most queries of a power run after each of which the waits are read: each keeps its own.
const PARTS_MAX: u64 = 5_000;

/// Tries of a refresh function after conflicts.
const TRIES_MAX: u64 = 100;

fn rounds(configuration: &Configuration) -> u64 {
    configuration.get(ROUNDS).unwrap_or(1)
}

/// The tables: LINEITEM or sales in shops first.
fn data_set(configuration: &Configuration) -> DataSet {
    let scale = configuration.get(SCALE);
    let named = configuration.get(DATA).name();
    // Both names are those of data sets.
    DataSet::new(named, Size { scale, ..Size::default() }).unwrap_or_else(|| DataSet::tpch(scale))
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
                "store_sales" => &["ss_sold_date_sk"],
                "store_returns" => &["sr_returned_date_sk"],
                "catalog_sales" => &["cs_sold_date_sk"],
                "catalog_returns" => &["cr_returned_date_sk"],
                "web_sales" => &["ws_sold_date_sk"],
                "web_returns" => &["wr_returned_date_sk"],
                // Both data sets have a table of customers.
                "customer" if set.name() == "tpcds" => &[],
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

/// Returns whether two of the four suppliers of a part are the same one: they lie a step apart that
/// grows with the part's number (specification 4.2.3, `PS_SUPPKEY`).
fn repeats_suppliers(scale: f64) -> bool {
    let suppliers = ((SUPPLIERS * scale) as u64).max(1);
    let mut steps = (0..PARTS_PER_SUPPLIER).map(|more| suppliers / 4 + more);
    steps.any(|step| (1..4).any(|times| times * step % suppliers == 0))
}

/// The plans of the queries, as far as the engine reports them. Nothing is run, unless
/// `workload.analyze` asks for it.
fn plans(
    context: &TrialContext<'_>,
    queries: &[TrialQuery],
    first_operation: usize,
    table: &Table,
) -> Result<Vec<QueryPlan>, ProbeError> {
    let mut plans = Vec::new();
    for (operation, query) in (first_operation..).zip(queries) {
        let Explained { plan, analysis, .. } = context.explain(operation, table)?;
        plans.extend(plan.map(|plan| recorded(&query.title(), plan).analyzed(analysis)));
    }
    Ok(plans)
}

/// The geometric mean of the mean times of queries and refresh functions, in seconds, as the power
/// test of the specification weighs them (5.4.1); `None` if one of them has no time.
fn mean_time_s(observations: &Observations, kinds: &[String]) -> Option<f64> {
    geometric_mean(kinds.iter().map(|kind| {
        let name = if kinds.len() > 1 { format!("query: {kind}") } else { "query".to_owned() };
        observations.mean_latency_s(&name)
    }))
}

#[cfg(test)]
mod tests {
    use super::repeats_suppliers;
    use std::collections::BTreeSet;
    use tpchgen::generators::PartSuppGenerator;

    #[test]
    fn scales_at_which_a_part_has_a_supplier_twice_are_those_of_the_generator() {
        for scale in [0.001, 0.002, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.025, 0.05] {
            let mut keys = BTreeSet::new();
            let is_repeated = PartSuppGenerator::new(scale, 1, 1)
                .iter()
                .any(|row| !keys.insert((row.ps_partkey, row.ps_suppkey)));
            assert_eq!(repeats_suppliers(scale), is_repeated, "{scale}");
        }
    }
}
