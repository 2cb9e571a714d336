//! The sort-order probe (S2f): a table in a column store, its rows in some order: what it takes,
//! and what a scan of it costs.
//!
//! Beside its responses it records as facts with each trial:
//!
//! - `order_<column>`: place of the column in the order, from 1; without such a fact: as generated,
//!   or shuffled
//! - `bytes_<column>` (B): what the column takes
//! - `predicted_bytes_<column>` (B): what it was expected to take, from some row groups
//! - `predicted_bytes`, `predicted_bytes_low`, `predicted_bytes_high` (B): all columns together,
//!   and the ends of the 95 % interval
//! - `predicted_groups`, `predicted_groups_all`: row groups that the prediction looked at, of how
//!   many
//! - `row_groups`, `row_groups_skipped`: row groups, and those that `workload.filter` needs not
//!   read
//!
//! and those of the table that the scan probe has too. The order in words is the plan of the
//! statement `order`.

use crate::InMemory;
use crate::order::{RowNumbers, RowOrder};
use crate::settings::{FORMAT, ORDER, SETTINGS};
use engine::{Ability, CacheState, EngineError, Stored};
use experiment::{Configuration, Invalid};
use observations::{Event, Observations, QueryPlan, Response};
use probe::data::{self, DEGREE, Loaded};
use probe::load::{LoadPlan, drive_counting};
use probe::scans::{self, CONNECTIONS, FILTER, SCANS, ScanWorkload};
use probe::{Declarations, Probe, ProbeError, Target, TrialContext};
use std::sync::Arc;
use std::time::Instant;
use work::{Fill, Filter, Operation, Output, Table, Work};

/// The sort-order probe.
#[derive(Debug, Clone, Copy)]
pub struct SortOrder;

impl Probe for SortOrder {
    fn declarations(&self) -> &'static Declarations {
        const { &Declarations::new("sort-order", SETTINGS) }
    }

    fn plan(&self, configuration: &Configuration, target: &Target) -> Vec<Invalid> {
        let mut invalid = LoadPlan::objections(configuration, target, SCANS);
        let message = "this engine does not store tables by column; use duckdb";
        invalid.extend(target.without(Ability::Columns, message));
        let mut object = |path: &str, message: String| invalid.push(Invalid::new(path, message));
        if target.cache == CacheState::Cold {
            let message = "each trial scans the table several times, and only the first scan \
                           finds cold caches";
            object("target.cache", format!("{message}; use \"hot\" or \"warm\""));
        }
        let set = data::data_set(configuration);
        let table = &set.tables()[0];
        invalid.extend(
            RowOrder::parse(&configuration.get(ORDER), table)
                .err()
                .map(|error| Invalid::new(ORDER.path(), error.to_string())),
        );
        invalid.extend(filter(configuration, table).err());
        invalid
    }

    fn run(&self, context: &TrialContext<'_>) -> Result<Observations, ProbeError> {
        let configuration = context.configuration;
        let store = context.instance.parts().column_store;
        let none =
            EngineError::Unsupported { engine: "this target", what: "storing tables by column" };
        let store = store.ok_or(none)?;
        let set = data::data_set(configuration);
        let mut table = set.tables().remove(0);
        // A key would be an index beside the columns.
        table.key = &[];
        table.storage.format = configuration.get(FORMAT);
        let filter = filter(configuration, &table)?;
        let step = |text: &str| (context.progress)(Event::Step { text: text.into() });
        step(&format!("generating the rows of {}", set.name()));
        let rows = Arc::new(rows_of(&table, set.fills().remove(0), set.row_bytes(), context)?);
        step("ordering the rows");
        let ordered = RowNumbers::from_settings(configuration, &rows, &table, store)?;
        let measured = rows.names().to_vec();
        let work =
            work(table.clone(), rows.fill(ordered.rows.clone()), filter, &measured, configuration);
        drop(rows);
        let started = Instant::now();
        let loaded = data::create(context, &set, work)?;
        let load_s = started.elapsed().as_secs_f64();
        let loaded = loaded.explained(context, SCAN, &table)?;
        let stored = store.stored(&table, filter)?;
        let scanned = Scan::measure(context, &loaded, SCAN)?;
        let filtered = match filter {
            Filter::All => None,
            _ => Some(Scan::measure(context, &loaded, FILTERED)?),
        };
        let mut observations = add(scanned, filtered, &stored, load_s);
        ordered.add_facts(&mut observations, &stored, &measured);
        observations.plans.push(QueryPlan::new("order", ordered.words.clone()));
        Ok(loaded.with_plan("scan", observations))
    }
}

/// The operations behind the one that counts rows.
const SCAN: usize = 1;
const FILTERED: usize = 2;

fn filter(configuration: &Configuration, table: &Table) -> Result<Filter, Invalid> {
    let filter = configuration.get(FILTER).map(|text| scans::filter(&text, table)).transpose();
    filter
        .map(|filter| filter.unwrap_or(Filter::All))
        .map_err(|error| Invalid::new(FILTER.path(), error.to_string()))
}

/// The rows in memory, where they have room.
fn rows_of(
    table: &Table,
    fill: Fill,
    row_bytes: u64,
    context: &TrialContext<'_>,
) -> Result<InMemory, EngineError> {
    let rows = row_bytes / table.row_bytes().max(1);
    let needed = InMemory::bytes(table, rows);
    let available = observe::survey::available_memory_bytes().unwrap_or(u64::MAX);
    if needed > available || rows > InMemory::ROWS_MAX {
        let [needed, available] = [needed, available].map(observations::number::bytes);
        let message = format!(
            "needs about {needed} of memory, {available} available; use a smaller workload.scale \
             or fewer rows"
        );
        return Err(EngineError::failed("ordering the rows in memory", message));
    }
    InMemory::load(fill, context.cancel)
}

/// The table, its rows, and two scans: MAX of every column of all rows, and of those that pass the
/// filter.
fn work(
    table: Table,
    fill: Fill,
    filter: Filter,
    columns: &[&'static str],
    configuration: &Configuration,
) -> Work {
    let outputs: Vec<Output> = columns.iter().map(|name| Output::Max(name)).collect();
    let select =
        |rows| Operation::Select { table: 0, outputs: outputs.clone(), rows, group_by: Vec::new() };
    Work {
        operations: vec![
            Operation::scan(0, vec![Output::Count]),
            select(Filter::All),
            select(filter),
        ],
        tables: vec![table],
        fills: vec![fill],
        degree: configuration.get(DEGREE),
        ..Work::default()
    }
}

/// Cost of scans.
struct Scan {
    observations: Observations,
    /// Milliseconds of one.
    scan_ms: f64,
    /// Microseconds of processor time for each row of the table, where it is known.
    cpu_us: Option<f64>,
}

impl Scan {
    fn measure(
        context: &TrialContext<'_>,
        loaded: &Loaded,
        operation: usize,
    ) -> Result<Self, ProbeError> {
        let plan = LoadPlan {
            connections: context.configuration.get(CONNECTIONS),
            unit: "scan",
            rate_unit: "scans/s",
            timed: "scan",
            ..LoadPlan::from_context(context, SCANS)
        };
        let (mut observations, used) =
            drive_counting(context, &plan, &|_| Box::new(ScanWorkload::new(operation)))?;
        let scans = (observations.work.amount as f64).max(1.0);
        let facts = loaded.facts(observations.time.cpu_s, used, scans);
        let scan_ms = observations.elapsed_s * f64::from(observations.connections) / scans * 1e3;
        let cpu_us =
            facts.cpu_s.filter(|_| loaded.rows > 0).map(|cpu_s| cpu_s * 1e6 / loaded.rows as f64);
        observations.facts.extend(facts.all);
        Ok(Self { observations, scan_ms, cpu_us })
    }
}

/// The observations of the scans of all rows, with the responses of this probe in front.
fn add(scanned: Scan, filtered: Option<Scan>, stored: &Stored, load_s: f64) -> Observations {
    let bytes: u64 = stored.column_bytes.iter().map(|(_, bytes)| bytes).sum();
    let mut responses = vec![
        Response::lower("size", "MB", bytes as f64 / 1e6),
        Response::lower("load", "s", load_s),
        Response::lower("scan", "ms", scanned.scan_ms),
    ];
    let cpu =
        |name: &str, scanned: &Scan| scanned.cpu_us.map(|us| Response::lower(name, "us/row", us));
    responses.extend(cpu("cpu_per_row", &scanned));
    if let Some(filtered) = filtered {
        responses.push(Response::lower("filtered_scan", "ms", filtered.scan_ms));
        responses.extend(cpu("filtered_cpu_per_row", &filtered));
        let read = 100.0 * (stored.groups - stored.groups_skipped.min(stored.groups)) as f64;
        responses.push(Response::lower("row_groups_read", "%", read / stored.groups.max(1) as f64));
    }
    let mut observations = scanned.observations;
    observations.responses.splice(0..0, responses);
    observations
}
