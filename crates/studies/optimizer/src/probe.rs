//! The probe: a trial runs one query, or those of some files, by the plan that the optimizer
//! chooses or by one that it is made to use.

use crate::engines::for_engine;
use crate::facts::{CANCELLED, QUERY_TIMES};
use crate::made::MadeTables;
use crate::prepare::prepare;
use crate::settings::{
    ALTERNATIVE, DATA, FILES, ROWS, RUNS, RUNS_DEFAULT, SECOND_SELECTIVITY, SELECTIVITY, SETTINGS,
    changes, objections, queries,
};
use engine::{EngineError, Footprint};
use experiment::common::ENGINE;
use experiment::{Configuration, Invalid};
use observations::{Fact, Observations, Response, ScriptStatement};
use probe::data::{self, DEGREE};
use probe::load::{LoadPlan, QUERY_LIMIT, Start, Step, Workload, drive};
use probe::{Declarations, Probe, ProbeError, Target, TrialContext};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use work::{Request, SharedTables, Statement, Table, Work};

/// The optimizer probe.
#[derive(Debug, Clone, Copy)]
pub struct OptimizerProbe;

/// Paths of the settings that the analysis groups trials by.
pub(crate) const VARIED: [&str; 3] =
    [SELECTIVITY.path(), SECOND_SELECTIVITY.path(), ALTERNATIVE.path()];

impl Probe for OptimizerProbe {
    fn declarations(&self) -> &'static Declarations {
        const {
            &Declarations::new("optimizer", SETTINGS)
                .with_example_levels(ROWS.path(), [10_000, 30_000, 100_000])
        }
    }

    fn files(&self, configuration: &Configuration) -> Vec<(&'static str, String)> {
        configuration.get(FILES).into_iter().map(|path| (FILES.path(), path)).collect()
    }

    fn footprint(&self, configuration: &Configuration) -> Footprint {
        let row_bytes =
            MadeTables::for_configuration(configuration).map_or(0, |made| made.row_bytes);
        Footprint { row_bytes, ..Footprint::default() }
    }

    fn tables(&self, configuration: &Configuration) -> Vec<Table> {
        MadeTables::for_configuration(configuration).map(|made| made.tables).unwrap_or_default()
    }

    fn plan(&self, configuration: &Configuration, target: &Target) -> Vec<Invalid> {
        objections(configuration, target)
    }

    fn run(&self, context: &TrialContext<'_>) -> Result<Observations, ProbeError> {
        let configuration = context.configuration;
        let optimizer = for_engine(&configuration.get(ENGINE)).ok_or(EngineError::Unsupported {
            engine: "this engine",
            what: "plans explained in a session",
        })?;
        let queries = queries(configuration)?;
        let about = MadeTables::for_configuration(configuration).map_or(0, |made| made.rows);
        data::load(context, work(configuration), configuration.get(DATA).name(), about)?;
        let prepared = prepare(context, optimizer, queries)?;
        let cancelled = AtomicU64::new(0);
        let statements = prepared.queries.iter().map(|(name, sql)| ScriptStatement::new(name, sql));
        let names = prepared.queries.iter().map(|(name, _)| name.clone());
        let each = configuration.get(RUNS).unwrap_or(RUNS_DEFAULT);
        let runs = each * prepared.queries.len() as u64;
        let plan = LoadPlan {
            connections: 1,
            unit: "query",
            rate_unit: "queries/s",
            timed: "query",
            kinds: if prepared.queries.len() > 1 { names.collect() } else { Vec::new() },
            statements: statements.collect(),
            units: Some(runs),
            session: prepared.session.clone(),
            ..LoadPlan::from_context(context, RUNS)
        };
        let mut drive = drive(context, &plan, &|_| {
            Box::new(Runs {
                queries: &prepared.queries,
                cancelled: &cancelled,
                next: 0,
                place: 0,
                is_sent: false,
                is_cancelled: false,
                is_measured: false,
            })
        })?;
        let time_ms = query_ms(&drive);
        drive.responses.extend(time_ms.map(|ms| Response::lower("query_time", "ms", ms)));
        if !configuration.get(FILES).is_empty() {
            let times = query_times(&drive, &prepared.queries, time_ms);
            drive.facts.extend(times);
        }
        drive.facts.extend(prepared.facts);
        drive.facts.push(CANCELLED.record(cancelled.load(Ordering::Relaxed) as f64));
        drive.responses.extend(prepared.responses);
        drive.plans.extend(prepared.plans);
        drive.warnings.extend(prepared.warnings);
        Ok(drive)
    }
}

/// Mean time of an execution in ms; `None` if there was none.
fn query_ms(observations: &Observations) -> Option<f64> {
    let latencies =
        observations.latencies.iter().filter(|latency| latency.name.starts_with("query"));
    let sums = latencies.map(|latency| {
        let count = latency.histogram.len() as f64;
        (count, count * latency.histogram.min_mean_max_ns().1)
    });
    let (count, sum_ns) = sums.fold((0.0, 0.0), |all, sum| (all.0 + sum.0, all.1 + sum.1));
    (count > 0.0).then(|| sum_ns / count / 1e6)
}

/// The mean time of each query; with a single one, that of all executions.
fn query_times(
    observations: &Observations,
    queries: &[(String, String)],
    all_ms: Option<f64>,
) -> Vec<Fact> {
    let found = queries.iter().filter_map(|(name, _)| {
        let ms = if queries.len() > 1 {
            let latency = observations
                .latencies
                .iter()
                .find(|latency| latency.name == format!("query: {name}"))?;
            latency.histogram.min_mean_max_ns().1 / 1e6
        } else {
            all_ms?
        };
        Some(QUERY_TIMES.record(name, ms))
    });
    found.collect()
}

/// The tables of a trial, and how its sessions run.
fn work(configuration: &Configuration) -> Work {
    let mut work = Work {
        degree: configuration.get(DEGREE),
        statement_limit: configuration.get(QUERY_LIMIT).map(Duration::from_secs_f64),
        ..Work::default()
    };
    if let Some(made) = MadeTables::for_configuration(configuration) {
        work.data = Some(SharedTables {
            identity: made.identity,
            tables: made.tables.len(),
            bytes: made.row_bytes,
            changed: changes(configuration),
        });
        (work.tables, work.fills) = (made.tables, made.fills);
    }
    work
}

/// The executions of a trial: the queries one after the other, and from the first one again.
struct Runs<'a> {
    queries: &'a [(String, String)],
    cancelled: &'a AtomicU64,
    /// Position of the next query.
    next: usize,
    /// Position of the query at hand.
    place: usize,
    is_sent: bool,
    is_cancelled: bool,
    is_measured: bool,
}

impl Workload for Runs<'_> {
    fn begin(&mut self) {
        (self.next, self.is_measured) = (0, true);
    }

    fn start(&mut self, _: u64) -> Start {
        self.place = self.next;
        self.next = (self.next + 1) % self.queries.len();
        (self.is_sent, self.is_cancelled) = (false, false);
        let kind = if self.queries.len() > 1 { self.place } else { 0 };
        Start { kind, units: 1, transactions: 1 }
    }

    fn step(&mut self) -> Result<Step<'_>, ProbeError> {
        if self.is_cancelled || std::mem::replace(&mut self.is_sent, true) {
            return Ok(Step::End);
        }
        let statement = Statement::Text(&self.queries[self.place].1);
        Ok(Step::Request(Request::Execute { statement, parameters: &[], results: false }))
    }

    fn is_result(&mut self, error: &EngineError) -> bool {
        self.is_cancelled = matches!(error, EngineError::TimeLimit { .. });
        if self.is_cancelled && self.is_measured {
            self.cancelled.fetch_add(1, Ordering::Relaxed);
        }
        self.is_cancelled
    }

    fn restart(&mut self) {
        self.is_sent = false;
    }

    fn statement(&self) -> usize {
        self.place
    }
}
