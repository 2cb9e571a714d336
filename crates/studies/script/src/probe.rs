//! The settings of scripts, and a trial that runs them.

use crate::checks::{self, EQUALS, SQL};
use crate::names::is_name;
use crate::{Interpreter, Mix, MixError, Presets, Protocol, Source, Sysbench, parse_file_argument};
use datasets::sysbench::{Distribution, TABLES_MAX};
use datasets::{DataSet, Size};
use engine::{Ability, Footprint};
use experiment::{Configuration, Invalid, Kind, Value, choice, settings};
use observations::{Observations, ScriptStatement};
use probe::load::{CONNECTIONS, DURATION, GENERATORS, LATENCY_LIMIT, RATE, THREADS, WARMUP};
use probe::load::{LoadPlan, add_cpu_per_transaction, drive};
use probe::{Declarations, Probe, ProbeError, Target, TrialContext, WrittenStatement};
use std::sync::Arc;
use work::{Fill, Operation, Work};

/// The script probe.
#[derive(Debug, Clone, Copy)]
pub struct ScriptProbe;

settings! {
    const SETTINGS = [
        CONNECTIONS, THREADS, GENERATORS, DURATION, WARMUP, RATE, LATENCY_LIMIT, SQL, EQUALS,
    ];
    /// Script (or list of scripts) in pgbench's language; a weight can follow: "mine.sql@3".
    /// Relative paths start at the folder of the experiment file.
    pub SCRIPT: Vec<String> = "workload.script", Kind::TextList => @Files;
    /// Built-in script (or list of them): pgbench's tpcb-like, simple-update, select-only; or
    /// sysbench's oltp_point_select, oltp_read_only, oltp_write_only, oltp_read_write; a weight can
    /// follow.
    pub BUILTIN: Vec<String> = "workload.builtin", Kind::TextList => @Trial, Value "\"tpcb-like\"";
    /// Size of pgbench's tables, in 100,000 accounts; `:scale` in scripts.
    pub SCALE: u32 = "workload.scale", Kind::Count { min: 1, max: 100_000 }, "1" => DataIdentity;
    /// Number of sysbench's tables sbtest1, sbtest2, ... (default 1), like its --tables.
    pub TABLES: Option<u64> =
        "workload.tables", Kind::Count { min: 1, max: TABLES_MAX } => DataIdentity;
    /// Rows of each of sysbench's tables (default 10000), like its --table-size.
    pub TABLE_SIZE: Option<u64> =
        "workload.table_size", Kind::Count { min: 1, max: 2_000_000_000 } => DataIdentity;
    /// How sysbench's scripts choose rows (default special), like its --rand-type: special,
    /// uniform, pareto.
    pub RAND_TYPE: Option<Distribution> = "workload.rand_type", Distribution::KIND;
    /// Create and fill tables for each trial: pgbench's and, for its scripts or where their size is
    /// given, sysbench's. Default: if a built-in script runs. Without it, scripts use the existing
    /// tables of the database.
    pub INITIALIZE: Option<bool> = "workload.initialize", Kind::Bool;
    /// Tables to create and fill for each trial: those of pgbench or sysbench, which also come with
    /// their scripts, or of YCSB, SmallBank or TATP.
    pub DATA: Option<Tables> = "workload.data", Tables::KIND => DataIdentity;
    /// Records of YCSB, customers of SmallBank, subscribers of TATP; `:rows` in scripts.
    pub ROWS: u64 =
        "workload.rows", Kind::Count { min: 1, max: 2_000_000_000 }, "100k" => DataIdentity;
    /// Seed of the values of YCSB, SmallBank and TATP.
    pub DATA_SEED: u64 =
        "workload.data_seed", Kind::Count { min: 0, max: i64::MAX }, "1" => DataIdentity;
    /// How statements are sent: prepared once with variables as parameters, or as text each time.
    pub PROTOCOL: Protocol = "workload.protocol", Protocol::KIND, "prepared";
    /// Variables for scripts, like pgbench's --define.
    pub VARIABLES: Option<Value> = "workload.variables.*", Kind::Scalar => @Trial;
    /// Transactions in the measurement by all connections. Give this or workload.duration.
    pub TRANSACTIONS: Option<u64> =
        "workload.transactions", Kind::Count { min: 1, max: 1_000_000_000_000 } => Measurement;
    /// Maximum number of tries of a transaction after deadlocks or serialization failures; then it
    /// counts as failed.
    pub MAX_TRIES: u64 = "workload.max_tries", Kind::Count { min: 1, max: 1_000_000 }, "1";
}

choice! {
    /// Tables that scripts work on.
    pub enum Tables {
        /// pgbench's.
        Pgbench = "pgbench",
        /// sysbench's.
        Sysbench = "sysbench",
        /// The table of YCSB.
        Ycsb = "ycsb",
        /// Customers and their accounts.
        SmallBank = "smallbank",
        /// Subscribers of a telephone company.
        Tatp = "tatp",
    }
}

impl Probe for ScriptProbe {
    fn declarations(&self) -> &'static Declarations {
        const {
            &Declarations::new("script", SETTINGS)
                .with_example_levels(CONNECTIONS.path(), [1, 4, 16])
        }
    }

    fn files(&self, configuration: &Configuration) -> Vec<(&'static str, String)> {
        configuration
            .get(SCRIPT)
            .iter()
            .filter_map(|argument| {
                Some((SCRIPT.path(), parse_file_argument(argument).ok()?.0.to_owned()))
            })
            .collect()
    }

    fn footprint(&self, configuration: &Configuration) -> Footprint {
        let row_bytes = data_sets(configuration).iter().map(DataSet::row_bytes).sum();
        Footprint { row_bytes, ..Footprint::default() }
    }

    fn tables(&self, configuration: &Configuration) -> Vec<work::Table> {
        data_sets(configuration).iter().flat_map(DataSet::tables).collect()
    }

    fn statements(&self, configuration: &Configuration) -> Vec<WrittenStatement> {
        let mix = mix(configuration, 0).map(Arc::new);
        // Those of the program come first.
        mix.map_or_else(
            |_| Vec::new(),
            |mix| crate::plans::written(&mix, configuration.get(BUILTIN).len()),
        )
    }

    fn plan(&self, configuration: &Configuration, target: &Target) -> Vec<Invalid> {
        let mut invalid = LoadPlan::objections(configuration, target, TRANSACTIONS);
        let message = "this engine cannot run user statements; scripts need a database";
        invalid.extend(target.without(Ability::Statements, message));
        invalid.extend(mix(configuration, 0).and_then(|mix| own_checks(configuration, &mix)).err());
        if configuration.get(GENERATORS).is_some()
            && mix(configuration, 0).is_ok_and(|mix| mix.shares_state)
        {
            let message = "new_key, latest_key and counters need all connections in one process";
            invalid.push(Invalid::new(GENERATORS.path(), message));
        }
        invalid
    }

    fn run(&self, context: &TrialContext<'_>) -> Result<Observations, ProbeError> {
        let configuration = context.configuration;
        let mix = Arc::new(mix(configuration, context.seed)?);
        let operations = mix.statements().iter().cloned().map(Operation::Text).collect();
        let mut work = Work { operations, ..Work::default() };
        for set in data_sets(configuration) {
            let before = work.tables.len();
            work.fills.extend(
                set.fills().into_iter().map(|fill| Fill { table: before + fill.table, ..fill }),
            );
            work.tables.extend(set.tables());
        }
        if !context.target.abilities.contains(&Ability::ForeignKeys) {
            work.tables.iter_mut().for_each(|table| table.storage.references = &[]);
        }
        context.instance.create(work)?;
        let mut checks = own_checks(configuration, &mix)?;
        if !context.is_part() {
            checks.iter_mut().try_for_each(|check| check.begin(context))?;
        }
        let plan = LoadPlan {
            kinds: mix.names().map(str::to_owned).collect(),
            statements: mix
                .sources()
                .map(|(script, text)| ScriptStatement::new(script, text))
                .collect(),
            tries_max: configuration.get(MAX_TRIES),
            ..LoadPlan::from_context(context, TRANSACTIONS)
        };
        let mut drive = drive(context, &plan, &|connection| {
            let interpreter = Interpreter::new(mix.clone(), connection);
            let restarts = plan.tries_max > 1;
            Box::new(if restarts { interpreter } else { interpreter.without_restarts() })
        })?;
        add_cpu_per_transaction(&mut drive);
        drive.facts.extend(mix.facts());
        checks::end(&checks, context, &mix, &mut drive)?;
        crate::plans::add(context, &mix, &mut drive);
        Ok(drive)
    }
}

/// The tables that are made: those that are named; else sysbench's where its scripts run or their
/// size is given, pgbench's for all other built-in scripts.
fn data_sets(configuration: &Configuration) -> Vec<DataSet> {
    if let Some(named) = configuration.get(DATA) {
        let (rows, seed) = (configuration.get(ROWS), configuration.get(DATA_SEED));
        let size = Size { rows, seed, ..Size::default() };
        let Sysbench { tables, rows, distribution } = sysbench_of(configuration);
        return match named {
            Tables::Pgbench => vec![DataSet::pgbench(configuration.get(SCALE))],
            Tables::Sysbench => vec![DataSet::sysbench(tables, rows, distribution)],
            tables => DataSet::new(tables.name(), size).into_iter().collect(),
        };
    }
    let builtin = configuration.get(BUILTIN);
    if !configuration.get(INITIALIZE).unwrap_or(!builtin.is_empty()) {
        return Vec::new();
    }
    let is_of_sysbench = |argument: &String| {
        Source::builtin(argument, Sysbench::default()).is_ok_and(|source| source.is_of_sysbench())
    };
    let is_sized = configuration.get(TABLES).is_some() || configuration.get(TABLE_SIZE).is_some();
    let sysbench = is_sized || builtin.iter().any(is_of_sysbench);
    let pgbench = !sysbench || builtin.iter().any(|argument| !is_of_sysbench(argument));
    let Sysbench { tables, rows, distribution } = sysbench_of(configuration);
    let sets = [
        pgbench.then(|| DataSet::pgbench(configuration.get(SCALE))),
        sysbench.then(|| DataSet::sysbench(tables, rows, distribution)),
    ];
    sets.into_iter().flatten().collect()
}

/// Returns the tables of sysbench's scripts.
fn sysbench_of(configuration: &Configuration) -> Sysbench {
    let default = Sysbench::default();
    Sysbench {
        tables: configuration.get(TABLES).map_or(default.tables, |tables| tables as u32),
        rows: configuration.get(TABLE_SIZE).unwrap_or(default.rows),
        distribution: configuration.get(RAND_TYPE).unwrap_or(default.distribution),
    }
}

/// The scripts that a configuration names; an error with the setting that it is about.
fn mix(configuration: &Configuration, seed: u64) -> Result<Mix, Invalid> {
    let mut sources = Vec::new();
    for argument in configuration.get(BUILTIN) {
        let source = Source::builtin(&argument, sysbench_of(configuration));
        let source = source.map_err(|error| Invalid::new(BUILTIN.path(), error.to_string()))?;
        if source.is_of_sysbench() && configuration.get(PROTOCOL) == Protocol::Simple {
            let message = format!("{}: sysbench's scripts send prepared statements", source.name);
            return Err(Invalid::new(PROTOCOL.path(), message));
        }
        sources.push(source);
    }
    for argument in configuration.get(SCRIPT) {
        sources.push(
            file(configuration, &argument)
                .map_err(|error| Invalid::new(SCRIPT.path(), error.to_string()))?,
        );
    }
    if sources.is_empty() {
        return Err(Invalid::new(
            SCRIPT.path(),
            "missing; give a script in pgbench's language or a built-in one: builtin = \
             \"tpcb-like\"",
        ));
    }
    let variables = variables(configuration);
    let named = variables.iter().all(|(name, _)| is_name(name));
    let path = if named { SCRIPT.path() } else { "workload.variables" };
    let presets = Presets { scale: configuration.get(SCALE), seed, variables };
    Mix::parse(&sources, configuration.get(PROTOCOL), &presets)
        .map_err(|error| Invalid::new(path, error.to_string()))
}

/// Variables from outside: `:rows` of the tables that have that size, and those of the file.
fn variables(configuration: &Configuration) -> Vec<(String, String)> {
    let sized = configuration.get(DATA);
    let sized = sized.filter(|tables| !matches!(tables, Tables::Pgbench | Tables::Sysbench));
    let rows = sized.map(|_| ("rows".to_owned(), configuration.get(ROWS).to_string()));
    let below = configuration.below("workload.variables.");
    rows.into_iter()
        .chain(below.map(|(name, value)| (name.to_owned(), value.to_string())))
        .collect()
}

fn own_checks(configuration: &Configuration, mix: &Mix) -> Result<Vec<checks::Check>, Invalid> {
    checks::from_settings(configuration, mix, &variables(configuration))
}

fn file(configuration: &Configuration, argument: &str) -> Result<Source, MixError> {
    let (path, weight) = parse_file_argument(argument)?;
    let text = configuration.file(path);
    let text = text.ok_or_else(|| MixError::NotRead(path.to_owned()))?.to_owned();
    Ok(Source { name: path.to_owned(), text, weight })
}
