//! The settings of order entry, and a trial.

use crate::analytics::{ANALYSES, Analysis, Places, Stream, analyses};
use crate::conditions::{self, Scope};
use crate::counts::{Counts, Total};
use crate::input::Inputs;
use crate::kind::{Kind, NEW_ORDERS_MAX};
use crate::other_names::OTHER_NAMES;
use crate::procedures::Language;
use crate::random::{Constants, generator, shuffle};
use crate::rows::fills;
use crate::size::{DISTRICTS, Size};
use crate::statements::operations;
use crate::steady;
use crate::tables::{LAYOUT, tables};
use crate::terminals::{Plan, Terminals, recorded};
use ::probe::data::{self, LOAD_S, answer, execute};
use ::probe::load::{
    CONNECTIONS, DURATION, GENERATORS, LoadPlan, THREADS, WARMUP, add_cpu_per_transaction,
    drive_counting,
};
use ::probe::{CountedKind, Declarations, Probe, ProbeError, Target, TrialContext};
use engine::{Ability, Footprint};
use experiment::common::{ENGINE, PROBE};
use experiment::{Configuration, Invalid, Kind as Values, choice, settings};
use observations::{Event, Fact, FactName, Observations, Response};
use statistics::geometric_mean;
use std::sync::Arc;
use work::{SharedTables, Statement, Work};

/// The order entry probe.
#[derive(Debug, Clone, Copy)]
pub struct OrderEntry;

choice! {
    /// Where the logic of transactions is.
    pub enum Logic {
        /// In the client: it sends each statement.
        Client = "client",
        /// In stored procedures: a transaction is a call.
        Procedures = "procedures",
    }
}

choice! {
    /// Warehouses whose consistency is checked after a trial.
    pub enum Check {
        /// Up to ten of them, drawn for each block.
        Sample = "sample",
        /// All.
        Complete = "complete",
    }
}

settings! {
    const SETTINGS = [CONNECTIONS, THREADS, GENERATORS, DURATION, WARMUP];
    /// Warehouses; each has about 100 MB of tables.
    pub WAREHOUSES: u32 =
        "workload.warehouses", Values::Count { min: 1, max: 100_000 }, "1" => DataIdentity;
    /// Divides the numbers of items and customers, for tests and demonstrations; 1: the specified
    /// numbers.
    pub REDUCED_BY: u32 =
        "workload.reduced_by", Values::Count { min: 1, max: 100 }, "1" => DataIdentity;
    /// Seed of the tables and of the constants of non-uniform distributions.
    pub DATA_SEED: u64 =
        "workload.data_seed", Values::Count { min: 0, max: i64::MAX }, "1" => DataIdentity;
    /// Create foreign keys.
    pub FOREIGN_KEYS: bool = "workload.foreign_keys", Values::Bool, "false" => Layout;
    /// Transactions are statements of the client, or calls of stored procedures (PostgreSQL,
    /// MariaDB, MySQL, SQL Server).
    pub LOGIC: Logic = "workload.logic", Logic::KIND, "client";
    /// Keying and thinking times as a multiple of the specified ones. 1: the specification; 0: a
    /// closed loop, in which each connection starts its next transaction immediately.
    pub PACE: f64 = "workload.pace", Values::Number { min: 0.0, max: 100.0 }, "0";
    /// Terminals, which connections share; 0: analytics alone. Default: 10 for each warehouse.
    pub TERMINALS: Option<u32> = "workload.terminals", Values::Count { min: 0, max: 1_000_000 };
    /// Streams of analytical queries on the same tables at the same time, each on a connection of
    /// its own; 0: order entry alone.
    pub ANALYTICS: u32 =
        "workload.analytics", Values::Count { min: 0, max: 1_000 }, "0" => Concurrency;
    /// Transactions in the measurement by all connections. Give this or workload.duration.
    pub TRANSACTIONS: Option<u64> =
        "workload.transactions", Values::Count { min: 1, max: 1_000_000_000_000 } => Measurement;
    /// Maximum number of tries of a transaction after deadlocks or serialization failures; then it
    /// counts as failed.
    pub MAX_TRIES: u64 = "workload.max_tries", Values::Count { min: 1, max: 1_000_000 }, "100";
    /// Warehouses whose twelve consistency conditions are checked after each trial: up to ten of
    /// them (sample), or all (complete).
    pub CHECK: Check = "workload.check", Check::KIND, "sample";
}

/// New orders a minute and warehouse that terminals with the specified times can make at most;
/// recorded where they have them.
pub const BOUND: FactName = FactName::new("new_orders_bound", "new orders/min");
/// Constants of the non-uniform distributions: `constant.last_name_load`.
pub const CONSTANT: observations::FactFamily = observations::FactFamily::new("constant.", "");
/// Checkpoints of the server that began in the measurement, where it counts them.
pub(crate) const CHECKPOINTS: FactName = FactName::new("checkpoints", "");
/// Warehouses that were checked after the trial.
pub(crate) const CHECKED: FactName = FactName::new("warehouses_checked", "");
/// Seconds in which analytical queries were finished after the terminals had ended.
pub const TAIL: FactName = FactName::new("analytics_tail", "s");
/// Analytical queries that were answered.
pub const QUERIES: FactName = FactName::new("analytics_queries", "queries");
/// Name of the response with the geometric mean of the mean times of the queries.
pub const ANALYTICS_TIME: &str = "analytics_time";
/// Name of the response that order entry is compared on.
pub const NEW_ORDERS: &str = "new_orders";
/// Warehouses of the tables.
pub(crate) const WAREHOUSES_LOADED: FactName = FactName::new("warehouses", "");

/// The kind of transactions that a disturbed load is judged by.
const NEW_ORDERS_COUNTED: CountedKind =
    CountedKind { kind: Kind::NewOrder as u32, name: "new orders" };

/// Warehouses of a sample.
const SAMPLE: usize = 10;

/// The purpose of the generator that draws the sample.
const SAMPLED: u64 = 1 << 41;

/// The database holds another number of new orders than the client has committed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "the client committed {committed} new orders, but d_next_o_id grew by {stored}; the engine \
     lost or duplicated changes, or another program changed the tables"
)]
struct Disagreement {
    committed: u64,
    stored: f64,
}

impl Probe for OrderEntry {
    fn declarations(&self) -> &'static Declarations {
        const {
            &Declarations {
                other_names: OTHER_NAMES,
                schedule: Some(schedule_objection),
                ..Declarations::new("order-entry", SETTINGS)
                    .with_example_levels(CONNECTIONS.path(), [1, 4, 16])
            }
        }
    }

    fn connections(&self, configuration: &Configuration) -> u32 {
        let Shares { terminals, streams } = Shares::from_configuration(configuration);
        terminals + streams
    }

    fn footprint(&self, configuration: &Configuration) -> Footprint {
        Footprint { row_bytes: size(configuration).row_bytes(), ..Footprint::default() }
    }

    fn tables(&self, configuration: &Configuration) -> Vec<work::Table> {
        tables(configuration.get(FOREIGN_KEYS))
    }

    fn plan(&self, configuration: &Configuration, target: &Target) -> Vec<Invalid> {
        let mut invalid = LoadPlan::objections(configuration, target, TRANSACTIONS);
        let has = |ability| target.abilities.contains(&ability);
        if !has(Ability::Tables) || !has(Ability::Statements) {
            let message = "this engine has no tables and statements; order entry needs a database";
            invalid.push(Invalid::new(PROBE.path(), message));
        }
        if configuration.get(FOREIGN_KEYS) && !has(Ability::ForeignKeys) {
            let message = "this engine is not supported with foreign keys; set it to false";
            invalid.push(Invalid::new(FOREIGN_KEYS.path(), message));
        }
        if configuration.get(LOGIC) == Logic::Procedures && language(configuration).is_none() {
            let message = "this engine has no stored procedures for order entry; set it to client";
            invalid.push(Invalid::new(LOGIC.path(), message));
        }
        let Shares { terminals: connections, streams } = Shares::from_configuration(configuration);
        if connections + streams == 0 {
            let message = "0 terminals and no streams of analytics do nothing; give one of them";
            invalid.push(Invalid::new(TERMINALS.path(), message));
        }
        if streams > 0 && configuration.get(TRANSACTIONS).is_some() {
            let message = "streams of analytics have no number of transactions; give duration";
            invalid.push(Invalid::new(TRANSACTIONS.path(), message));
        }
        if streams > 0 && configuration.get(GENERATORS).is_some() {
            let message = "streams of analytics cannot be divided; give one of both";
            invalid.push(Invalid::new(GENERATORS.path(), message));
        }
        let terminals = terminals(configuration);
        if configuration.get(PACE) > 0.0 && connections > terminals {
            let message = format!(
                "{connections} connections for {terminals} terminals; with workload.pace, \
                 terminals share connections: give at most {terminals}"
            );
            invalid.push(Invalid::new(CONNECTIONS.path(), message));
        }
        invalid
    }

    fn run(&self, context: &TrialContext<'_>) -> Result<Observations, ProbeError> {
        let configuration = context.configuration;
        let (size, seed) = (size(configuration), configuration.get(DATA_SEED));
        let load_s = load(context, size, seed)?;
        let procedures = language(configuration);
        let before = if context.is_part() { 0.0 } else { prepare(context, procedures)? };
        let shares = Shares::from_configuration(configuration);
        let constants = Constants::from_seed(seed);
        let total = Total::default();
        let plan = load_plan(context, shares, procedures, &total);
        let planned = Plan {
            inputs: Inputs { size, constants },
            terminals: terminals(configuration),
            connections: shares.terminals,
            procedures,
            pace: configuration.get(PACE),
            seed: context.seed,
            total,
        };
        let places = shares.places(&plan);
        let (mut observations, used) =
            drive_counting(context, &plan, &|number| match number.checked_sub(shares.terminals) {
                None => Box::new(Terminals::new(planned.clone(), number)),
                Some(stream) => {
                    Box::new(Stream::new(places, context.seed, stream, planned.total.clone()))
                }
            })?;
        let counts = planned.total.counts();
        let stored = answer(context, NEXT_ORDERS)? - before;
        let committed = counts.committed_ever;
        if stored.total_cmp(&(committed as f64)).is_ne() {
            return Err(ProbeError::study(Disagreement { committed, stored }));
        }
        let checked = check(context, size)?;
        if shares.streams > 0 {
            add_analytics(&mut observations, &counts);
        }
        if shares.terminals > 0 {
            let worked_s = shares.worked_s(&observations, &counts);
            add_responses(&mut observations, &counts, worked_s);
            observations.warnings.extend(steady::warning(&observations, worked_s));
            observations.facts.extend(counts.facts(procedures.is_none()));
        }
        if shares.streams == 0 && planned.pace == 0.0 {
            add_cpu_per_transaction(&mut observations);
        }
        observations.facts.extend(used.checkpoints.map(|count| CHECKPOINTS.record(count as f64)));
        observations.facts.push(LOAD_S.record(load_s));
        observations.facts.push(CHECKED.record(checked as f64));
        observations.facts.push(WAREHOUSES_LOADED.record(size.warehouses as f64));
        observations.facts.extend(constants_of(constants));
        if planned.pace > 0.0 && shares.terminals > 0 {
            let each = f64::from(planned.terminals) / (DISTRICTS * size.warehouses) as f64;
            observations.facts.push(BOUND.record(NEW_ORDERS_MAX * each / planned.pace));
        }
        Ok(observations)
    }
}

/// Objects to a load whose transactions have no intended start.
fn schedule_objection(configuration: &Configuration) -> Option<Invalid> {
    let has_terminals = Shares::from_configuration(configuration).terminals > 0;
    let message = "a disturbance needs terminals that wait between their transactions: set \
                   workload.pace above 0 (1: the specified times; 0.01: a hundredth of them) \
                   and terminals. At pace 0 each connection waits for its answer only, so that \
                   a stall also stops the transactions that would have shown it";
    let is_scheduled = has_terminals && configuration.get(PACE) > 0.0;
    (!is_scheduled).then(|| Invalid::new(PACE.path(), message))
}

/// The connections of a trial: first those with terminals, then the streams of queries.
#[derive(Debug, Clone, Copy)]
struct Shares {
    terminals: u32,
    streams: u32,
}

impl Shares {
    fn from_configuration(configuration: &Configuration) -> Self {
        let has_terminals = configuration.get(TERMINALS) != Some(0);
        let terminals = if has_terminals { configuration.get(CONNECTIONS) } else { 0 };
        Self { terminals, streams: configuration.get(ANALYTICS) }
    }

    /// Where the queries are, which are the last ones of each list.
    fn places(self, plan: &LoadPlan) -> Places {
        let queries = if self.streams > 0 { ANALYSES.len() } else { 0 };
        Places {
            kind: plan.kinds.len() - queries,
            statement: plan.statements.len() - queries,
            operation: operations().len(),
        }
    }

    /// Seconds in which terminals worked, with the flush at the end: streams finish their last
    /// queries later.
    fn worked_s(self, observations: &Observations, counts: &Counts) -> f64 {
        if self.streams == 0 {
            return observations.elapsed_s;
        }
        counts.terminals.seconds() + observations.response("flush").unwrap_or(0.0)
    }
}

/// Creates the procedures in the loaded tables. Returns the sum of the next order numbers.
fn prepare(context: &TrialContext<'_>, procedures: Option<Language>) -> Result<f64, ProbeError> {
    for statement in procedures.iter().flat_map(|procedure| procedure.statements()) {
        execute(context, Statement::Text(statement))?;
    }
    answer(context, NEXT_ORDERS)
}

/// The load of both kinds of connections, as far as there are such.
fn load_plan(
    context: &TrialContext<'_>,
    shares: Shares,
    procedures: Option<Language>,
    total: &Total,
) -> LoadPlan {
    let configuration = context.configuration;
    let (mut kinds, mut statements) = (Vec::new(), Vec::new());
    if shares.terminals > 0 {
        kinds.extend(Kind::ALL.iter().map(|kind| kind.profile().name.to_owned()));
        statements = recorded(procedures);
    }
    if shares.streams > 0 {
        kinds.extend(ANALYSES.iter().map(|analyse| analyse.label.to_owned()));
        statements.extend(ANALYSES.iter().map(Analysis::recorded));
    }
    LoadPlan {
        connections: shares.terminals + shares.streams,
        kinds,
        statements,
        tries_max: configuration.get(MAX_TRIES),
        intends: configuration.get(PACE) > 0.0 && shares.terminals > 0,
        counting: Some(Arc::new(total.clone())),
        counted: (shares.terminals > 0).then_some(NEW_ORDERS_COUNTED),
        ..LoadPlan::from_context(context, TRANSACTIONS)
    }
}

/// The sum of the next order numbers, which new orders count up.
const NEXT_ORDERS: Statement<'_> = Statement::Text("SELECT sum(d_next_o_id) FROM district");

fn size(configuration: &Configuration) -> Size {
    Size {
        warehouses: configuration.get(WAREHOUSES).into(),
        reduced_by: configuration.get(REDUCED_BY).into(),
    }
}

/// The language of the procedures, where transactions are calls and the engine has them.
fn language(configuration: &Configuration) -> Option<Language> {
    let is_asked = configuration.get(LOGIC) == Logic::Procedures;
    Language::for_engine(&configuration.get(ENGINE)).filter(|_| is_asked)
}

fn terminals(configuration: &Configuration) -> u32 {
    let default = configuration.get(WAREHOUSES).saturating_mul(DISTRICTS as u32);
    configuration.get(TERMINALS).unwrap_or(default)
}

/// Creates and fills the tables; gives the seconds that it took.
fn load(context: &TrialContext<'_>, size: Size, seed: u64) -> Result<f64, ProbeError> {
    let tables = tables(context.configuration.get(FOREIGN_KEYS));
    let identity = format!(
        "order entry {size:?}, seed {seed}, layout {LAYOUT}, made by {}",
        env!("CARGO_PKG_VERSION")
    );
    let data =
        SharedTables { identity, tables: tables.len(), bytes: size.row_bytes(), changed: true };
    let mut operations = operations();
    if context.configuration.get(ANALYTICS) > 0 {
        operations.extend(analyses());
    }
    let work = Work {
        fills: fills(&tables, size, seed),
        tables,
        operations,
        data: Some(data),
        ..Work::default()
    };
    Ok(data::load(context, work, "order entry", size.rows())?.elapsed_s)
}

/// Checks the conditions; gives the number of warehouses that were checked.
fn check(context: &TrialContext<'_>, size: Size) -> Result<usize, ProbeError> {
    let mut warehouses: Vec<i64> = (1..=size.warehouses).collect();
    let sampled = context.configuration.get(CHECK) == Check::Sample && warehouses.len() > SAMPLE;
    let scope = if sampled {
        shuffle(&mut warehouses, &mut generator(context.seed, SAMPLED));
        warehouses.truncate(SAMPLE);
        Scope::Sample(warehouses.clone())
    } else {
        Scope::Complete
    };
    (context.progress)(Event::Step { text: "checking consistency".into() });
    conditions::check(size, &scope, |query| answer(context, Statement::Text(query)))?;
    Ok(warehouses.len())
}

/// Adds new orders a minute, in front: what configurations are compared on. Then the percentile of
/// each kind that the specification limits.
fn add_responses(observations: &mut Observations, counts: &Counts, worked_s: f64) {
    if worked_s > 0.0 {
        let minute = 60.0 / worked_s;
        let rate =
            Response::higher(NEW_ORDERS, "new orders/min", counts.committed() as f64 * minute);
        observations.responses.insert(0, rate.in_steps_of(minute));
    }
    for kind in Kind::ALL {
        let name = format!("transaction: {}", kind.profile().name);
        if let Some(histogram) = observations.latency(&name).filter(|latency| !latency.is_empty()) {
            let name = kind.percentile_name();
            let response = Response::percentile(&name, "ms", 1e6, histogram, 90.0);
            observations.responses.push(response);
        }
    }
}

/// Adds the time of the analytical queries, in front, where each was answered at least once, and
/// their rate.
fn add_analytics(observations: &mut Observations, counts: &Counts) {
    if let Some(mean_s) =
        geometric_mean(ANALYSES.iter().map(|analyse| analyse.mean_s(observations)))
    {
        observations.responses.insert(0, Response::lower(ANALYTICS_TIME, "s", mean_s));
    }
    let streams_s = counts.streams.seconds();
    if streams_s > 0.0 {
        let rate = counts.queries as f64 * 60.0 / streams_s;
        observations.responses.push(Response::higher("analytics_rate", "queries/min", rate));
    }
    observations.facts.push(QUERIES.record(counts.queries as f64));
    observations
        .facts
        .extend(counts.streams.ends_after(counts.terminals).map(|end| TAIL.record(end)));
}

fn constants_of(constants: Constants) -> Vec<Fact> {
    let Constants { last_name_load, last_name_run, customer, item } = constants;
    [
        ("last_name_load", last_name_load),
        ("last_name_run", last_name_run),
        ("customer", customer),
        ("item", item),
    ]
    .map(|(name, value)| CONSTANT.record(name, value as f64))
    .into()
}
