//! The scan probe (S2c, S3b): what it costs to read all rows of a table and answer with one.
//!
//! The facts that it records with each trial, from which cost models are fitted. All are of one
//! scan unless they say otherwise; one that is not known is absent:
//!
//! - `table_rows`: rows of the table
//! - `table_pages`: its pages, without those of indexes
//! - `page_bytes` (B): bytes of a page
//! - `rows_loaded`: rows that were loaded for this trial, 0 where the engine had kept the data set
//! - `load_s` (s): until the tables were there
//! - `scans`: scans in the measurement
//! - `cpu_s` (s): processor seconds of all that worked on a scan: sessions, and workers of parallel
//!   queries
//! - `pages_hit`: pages that the engine found in its own cache
//! - `pages_read`: pages that it asked of the operating system
//! - `pages_disk`: of these, pages that came from storage: what the kernel read for it, read-ahead
//!   included, in pages
//! - `agg_columns`: different columns that are aggregated
//! - `agg_count`: 1 with COUNT(*)
//! - `agg_sum`, `agg_min`, `agg_max`, `agg_avg`: columns to which each kind of aggregate is applied
//! - `filters`, `group_columns`: conditions on rows, and columns by which they are grouped
//! - `degree`: `workload.degree`, where it is given
//!
//! A named query has no facts that begin with `agg_`, and neither `filters` nor `group_columns`.
//! With `workload.analyze` SQLite's counters of one scan are facts too: `vm_steps`,
//! `fullscan_steps`, `sorts`, `automatic_index_rows`.

use crate::aggregates::{AGGREGATED_COLUMNS, AGGREGATES, Aggregates, GROUP_BY};
use crate::named_queries::named_query;
use datasets::DataSet;
use engine::{Ability, CacheState, EngineUse, Explained};
use experiment::{Configuration, Invalid, Kind, settings};
use observations::{FactName, Observations, Response};
use probe::data::{
    self, ANALYZE, COLUMNS, DATA, DATA_SEED, DEGREE, Loaded, ROWS, ROWS_PER_PAGE, SCALE,
    no_parallelism,
};
use probe::load::{DURATION, LoadPlan, THREADS, WARMUP, drive_counting};
use probe::scans::{CONNECTIONS, FILTER, SCANS, ScanWorkload};
use probe::{Declarations, Probe, ProbeError, Target, TrialContext};
use work::{Operation, UserStatement};

/// The scan probe.
#[derive(Debug, Clone, Copy)]
pub struct Scan;

/// Values of [`QUERY`]: aggregates of the other settings, or those of [`named_query`].
const QUERIES: &[&str] = &["aggregates", "tpch-q1", "tpch-q6"];

settings! {
    const SETTINGS = [
        DATA, SCALE, ROWS, COLUMNS, ROWS_PER_PAGE, DATA_SEED, DEGREE, ANALYZE, THREADS, DURATION,
        WARMUP,
        CONNECTIONS, SCANS, AGGREGATES, AGGREGATED_COLUMNS, FILTER, GROUP_BY
    ];
    /// The query: the aggregates of the settings below, or a TPC-H query on LINEITEM: tpch-q1,
    /// tpch-q6.
    pub QUERY: String = "workload.query", Kind::Choice(QUERIES), "aggregates" => Operation;
}

/// Scans in the measurement.
pub(crate) const SCANS_DONE: FactName = FactName::new("scans", "");
/// Processors that one statement may use, where [`DEGREE`] is given.
pub(crate) const DEGREE_GIVEN: FactName = FactName::new("degree", "");

impl Probe for Scan {
    fn declarations(&self) -> &'static Declarations {
        const DECLARATIONS: Declarations =
            Declarations::new("scan", SETTINGS).with_example_levels(CONNECTIONS.path(), [1, 2, 4]);
        &DECLARATIONS
    }

    fn plan(&self, configuration: &Configuration, target: &Target) -> Vec<Invalid> {
        let mut invalid = LoadPlan::objections(configuration, target, SCANS);
        invalid.extend(target.without(Ability::Tables, "this engine has no tables to scan"));
        invalid.extend(no_parallelism(configuration, target));
        if target.cache == CacheState::Cold && configuration.get(SCANS) != Some(1) {
            let message =
                "only the first scan finds cold caches; use scans = 1 with target.cache = \"cold\"";
            invalid.push(Invalid::new(SCANS.path(), message));
        }
        invalid
            .extend(Question::from_settings(configuration, &data::data_set(configuration)).err());
        invalid
    }

    fn run(&self, context: &TrialContext<'_>) -> Result<Observations, ProbeError> {
        let configuration = context.configuration;
        let set = data::data_set(configuration);
        let question = Question::from_settings(configuration, &set)?;
        let mut work = data::work(&set);
        let (table, operation) = (work.tables[0].clone(), work.operations.len());
        work.operations.push(question.operation());
        work.degree = configuration.get(DEGREE);
        let loaded = data::create(context, &set, work)?.explained(context, operation, &table)?;
        let plan = LoadPlan {
            connections: configuration.get(CONNECTIONS),
            unit: "scan",
            rate_unit: "scans/s",
            timed: "scan",
            ..LoadPlan::from_context(context, SCANS)
        };
        let (mut observations, used) =
            drive_counting(context, &plan, &|_| Box::new(ScanWorkload::new(operation)))?;
        let scans = observations.work.amount as f64;
        if scans > 0.0 {
            add_facts(&mut observations, &loaded, &question, used, configuration.get(DEGREE));
        }
        Ok(loaded.with_plan("scan", observations))
    }
}

/// The query on the table.
enum Question {
    Aggregates(Aggregates),
    /// A query that has a name.
    Named(&'static str),
}

impl Question {
    fn from_settings(configuration: &Configuration, set: &DataSet) -> Result<Self, Invalid> {
        let Some(sql) = named_query(&configuration.get(QUERY)) else {
            return Aggregates::from_settings(configuration, &set.tables()[0])
                .map(Self::Aggregates);
        };
        if set.tables()[0].name == "lineitem" {
            return Ok(Self::Named(sql));
        }
        let message =
            format!("{} is a query on LINEITEM; use data = \"lineitem\"", configuration.get(QUERY));
        Err(Invalid::new(QUERY.path(), message))
    }

    fn operation(&self) -> Operation {
        match self {
            Self::Aggregates(Aggregates { outputs, rows, group_by }) => Operation::Select {
                table: 0,
                outputs: outputs.clone(),
                rows: *rows,
                group_by: group_by.clone(),
            },
            Self::Named(sql) => Operation::Text(UserStatement { texts: vec![(*sql).into()] }),
        }
    }
}

/// Adds the facts, and the responses that follow from them, in front: what a scan takes, and what
/// it costs.
fn add_facts(
    observations: &mut Observations,
    loaded: &Loaded,
    question: &Question,
    used: EngineUse,
    degree: Option<u32>,
) {
    let scans = observations.work.amount as f64;
    let mut facts = loaded.facts(observations.time.cpu_s, used, scans);
    facts.add(SCANS_DONE, Some(scans));
    facts.add(DEGREE_GIVEN, degree.map(f64::from));
    if let Question::Aggregates(aggregates) = question {
        aggregates
            .facts()
            .into_iter()
            .for_each(|(name, value)| facts.add(name, Some(value as f64)));
    }
    let scan_s = observations.elapsed_s * f64::from(observations.connections) / scans;
    let mut responses = vec![Response::lower("scan", "ms", scan_s * 1e3)];
    if let Some(cpu_s) = facts.cpu_s {
        let Loaded { rows, explained: Explained { pages, page_bytes, .. }, .. } = loaded;
        let each =
            |name: &str, unit: &str, of: u64| Response::lower(name, unit, cpu_s * 1e6 / of as f64);
        responses.extend(
            pages.filter(|pages| *pages > 0).map(|pages| each("cpu_per_page", "us/page", pages)),
        );
        responses.extend((*rows > 0).then(|| each("cpu_per_row", "us/row", *rows)));
        let bytes = pages.zip(*page_bytes).map(|(pages, page_bytes)| (pages * page_bytes) as f64);
        let per_core = bytes.filter(|_| cpu_s > 0.0).map(|bytes| bytes / 1e6 / cpu_s);
        responses.extend(per_core.map(|rate| Response::higher("bandwidth_per_core", "MB/s", rate)));
    }
    observations.responses.splice(0..0, responses);
    observations.facts.extend(facts.all);
}
