//! The bulk load probe (S2c): what it costs to load a data set by the engine's bulk path, until it is on the disk, and what
//! it takes there.

use crate::data::{self, COLUMNS, DATA, DATA_SEED, Facts, Loaded, ROWS, ROWS_PER_PAGE, SCALE, Taken};
use crate::measure::{Subject, Surroundings, measure};
use crate::{Probe, ProbeError, Target, TrialContext};
use conductor::{Lanes, Stage, conduct};
use engines::{Ability, Footprint, Table, Work};
use experiment::common::PROBE;
use experiment::{Configuration, Declaration, Invalid, declarations};
use observations::{LoadHealth, Observations, Response, Wait, WaitClass};
use observe::{ThreadClock, ThreadUse};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The bulk load probe.
#[derive(Debug, Clone, Copy)]
pub struct BulkLoad;

const SETTINGS: &[Declaration] = declarations![DATA, SCALE, ROWS, COLUMNS, ROWS_PER_PAGE, DATA_SEED];

impl Probe for BulkLoad {
    fn name(&self) -> &'static str {
        "bulk-load"
    }

    fn settings(&self) -> &'static [Declaration] {
        SETTINGS
    }

    fn footprint(&self, configuration: &Configuration) -> Footprint {
        data::footprint(configuration)
    }

    fn tables(&self, configuration: &Configuration) -> Vec<Table> {
        data::data_set(configuration).tables()
    }

    fn plan(&self, _: &Configuration, target: &Target) -> Vec<Invalid> {
        let objection = || Invalid::new(PROBE.path(), "this engine has no tables to load");
        (!target.abilities.contains(&Ability::Tables)).then(objection).into_iter().collect()
    }

    fn run(&self, context: &TrialContext<'_>) -> Result<Observations, ProbeError> {
        let set = data::data_set(context.configuration);
        let taken = Taken::before(context);
        let subject = Subject {
            // Devices are watched where the target's files can be seen.
            storage: context.instance.space_bytes().map_or(&[], |_| context.storage),
            units: set.rows(),
            duration_s: None,
            rate_unit: "rows/s",
            rate_scale: 1.0,
        };
        let work = Mutex::new(Some(Work { measured: true, ..data::work(&set) }));
        let take = || work.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default();
        let lanes = Lanes { number: 1, name: "load", warmup: Duration::ZERO };
        let (loads, surroundings) = measure(context, subject, |director| {
            conduct(lanes, director, |stage| load(context, stage, take()))
        })?;
        let loaded = Loaded::of(context, &set, &taken)?;
        Ok(observations(context, &loaded, &loads, surroundings))
    }
}

/// What the thread that loads has seen.
struct Load {
    elapsed_s: f64,
    used: ThreadUse,
    /// Processor seconds in which it made the rows.
    making_s: f64,
}

fn load(context: &TrialContext<'_>, stage: &Stage<'_>, work: Work) -> Result<Load, ProbeError> {
    stage.together()?;
    let go_ns = stage.together()?;
    let clock = ThreadClock::of_this_thread();
    let before = clock.usage();
    let live = stage.live();
    let making_s = data::fill(context, work, &|rows| live.done.set(rows))?;
    let used = clock.usage().since(before);
    Ok(Load { elapsed_s: (stage.now_ns() - go_ns) as f64 / 1e9, used, making_s })
}

fn observations(
    context: &TrialContext<'_>,
    loaded: &Loaded,
    loads: &[Load],
    surroundings: Surroundings,
) -> Observations {
    let embedded = context.target.abilities.contains(&Ability::Embedded);
    let elapsed_s: f64 = loads.iter().map(|own| own.elapsed_s).sum();
    let making_s: f64 = loads.iter().map(|own| own.making_s).sum();
    let used = surroundings.engine_use();
    let waits = loads.iter().filter(|_| embedded).filter_map(suspended).collect();
    let mut seen = surroundings.observations(elapsed_s, 1, loads.iter().map(|own| own.used), waits);
    let rows = loaded.rows as f64;
    seen.work.unit = "row".into();
    seen.work.amount = loaded.rows;
    // In an embedded engine one thread makes rows and loads them by turns: what making took is known and taken off. A
    // server works meanwhile.
    let not_loading_s = if embedded { making_s } else { 0.0 };
    let load_s = (elapsed_s - not_loading_s).max(0.0);
    let Facts { cpu_s, all } = loaded.facts((seen.time.cpu_s - not_loading_s).max(0.0), used, rows.max(1.0));
    let mut responses = vec![Response::lower("load", "s", load_s)];
    responses.extend((load_s > 0.0).then(|| Response::higher("throughput", "rows/s", rows / load_s)));
    responses.extend(cpu_s.map(|cpu_s| Response::lower("cpu_per_row", "us/row", cpu_s * 1e6)));
    responses.extend(loaded.stored_bytes.map(|bytes| Response::lower("size", "MB", bytes as f64 / 1e6)));
    responses.push(Response::lower("elapsed", "s", elapsed_s));
    let client_share = if embedded || elapsed_s <= 0.0 { 0.0 } else { making_s / elapsed_s };
    Observations { responses, facts: all, load: LoadHealth { client_share, ..seen.load }, ..seen }
}

/// The time in which the thread of an embedded engine was neither on a processor nor in the run queue.
fn suspended(load: &Load) -> Option<Wait> {
    let times = load.used.times;
    let suspended_s = load.elapsed_s - (times.cpu_ns + times.run_delay_ns) as f64 / 1e9;
    let count = load.used.voluntary_switches.max(1);
    Wait::counted("BULK_LOAD", WaitClass::Other, count, suspended_s.max(0.0), 0.0)
}
