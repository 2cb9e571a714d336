//! The bulk load probe (S2c): what it costs to load a data set by the engine's bulk path, until it
//! is on the disk, and what it takes there.

use analysis::{Access, CostKind, Study, TableUse, WorkCost};
use engine::{Ability, EngineError};
use experiment::{Configuration, Declaration, Invalid, declarations};
use observations::{Observations, Response, Wait, WaitClass};
use observe::{ThreadClock, ThreadUse};
use probe::data::{
    self, COLUMNS, DATA, DATA_SEED, Facts, FillResult, Loaded, ROWS, ROWS_PER_PAGE, SCALE,
    SpaceBefore,
};
use probe::measure::{Subject, Surroundings, measure};
use probe::{Declarations, Probe, ProbeError, Target, TrialContext};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use work::Work;
use work::conductor::{Lanes, Stage, conduct};

/// The bulk load probe.
#[derive(Debug, Clone, Copy)]
pub struct BulkLoad;

const SETTINGS: &[Declaration] =
    declarations![DATA, SCALE, ROWS, COLUMNS, ROWS_PER_PAGE, DATA_SEED];

/// The study's part in the analysis of its runs.
pub const STUDY: Study = Study {
    table: Some(TableUse { access: Access::Load, costs: COSTS }),
    ..Study::new("bulk-load")
};

const COSTS: &[WorkCost] = &[
    WorkCost::new(CostKind::Processor, "us/row", data::processor_us),
    WorkCost::new(CostKind::Kernel, "us/row", data::kernel_us),
    WorkCost::new(CostKind::Time, "s", |observations| observations.response("load")),
];

impl Probe for BulkLoad {
    fn declarations(&self) -> &'static Declarations {
        const {
            &Declarations::new("bulk-load", SETTINGS)
                .with_example_levels(ROWS_PER_PAGE.path(), [10, 20, 40])
        }
    }

    fn plan(&self, _: &Configuration, target: &Target) -> Vec<Invalid> {
        let lacks_tables = target.without(Ability::Tables, "this engine has no tables to load");
        lacks_tables.into_iter().collect()
    }

    fn run(&self, context: &TrialContext<'_>) -> Result<Observations, ProbeError> {
        let set = data::data_set(context.configuration);
        let taken = SpaceBefore::before(context);
        let subject = Subject {
            // Devices are watched where the target's files can be seen.
            storage: context.instance.space_bytes().map_or(&[], |_| context.storage),
            units: set.rows(),
            duration_s: None,
            rate_unit: "rows/s",
            rate_scale: 1.0,
        };
        let work = Mutex::new(Some(Work { measured: true, data: None, ..data::work(&set) }));
        let take =
            || work.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default();
        let lanes = Lanes { number: 1, name: "load", warmup: Duration::ZERO };
        let (loads, surroundings) = measure(context, subject, |director| {
            conduct(lanes, director, |stage| load(context, stage, take()))
        })?;
        let load = loads
            .into_iter()
            .next()
            .ok_or_else(|| EngineError::failed("loading", "no thread loaded the data"))?;
        let loaded = Loaded::read(context, &set, set.tables().first(), load.filled, &taken)?;
        Ok(observations(context, &loaded, &load, surroundings))
    }
}

/// Observations of the loading thread.
struct Load {
    elapsed_s: f64,
    used: ThreadUse,
    filled: FillResult,
}

fn load(context: &TrialContext<'_>, stage: &Stage<'_>, work: Work) -> Result<Load, ProbeError> {
    stage.together()?;
    let go_ns = stage.together()?;
    let clock = ThreadClock::of_this_thread();
    let (before, live) = (clock.usage(), stage.live());
    let filled = data::fill(context, work, &|rows| live.done.set(rows))?;
    let used = clock.usage().since(before);
    Ok(Load { elapsed_s: (stage.now_ns() - go_ns) as f64 / 1e9, used, filled })
}

fn observations(
    context: &TrialContext<'_>,
    loaded: &Loaded,
    load: &Load,
    surroundings: Surroundings,
) -> Observations {
    let Load { elapsed_s, used, filled: FillResult { waited_s, .. } } = *load;
    let embedded = context.target.abilities.contains(&Ability::Embedded);
    let of_engine = surroundings.engine_use();
    let waits = if embedded { waits(load) } else { Vec::new() };
    let mut observations = surroundings.observations(elapsed_s, 1, std::iter::once(used), waits);
    let rows = loaded.rows as f64;
    observations.work =
        observations::Work { unit: "row".into(), amount: loaded.rows, ..observations.work };
    // Time in which rows were generated and nothing was loaded is not the engine's.
    let load_s = (elapsed_s - waited_s).max(0.0);
    let Facts { cpu_s, all } = loaded.facts(observations.time.cpu_s, of_engine, rows.max(1.0));
    let mut responses = vec![Response::lower("load", "s", load_s)];
    responses
        .extend((load_s > 0.0).then(|| Response::higher("throughput", "rows/s", rows / load_s)));
    responses.extend(cpu_s.map(|cpu_s| Response::lower("cpu_per_row", "us/row", cpu_s * 1e6)));
    responses
        .extend(loaded.stored_bytes.map(|bytes| Response::lower("size", "MB", bytes as f64 / 1e6)));
    responses.push(Response::lower("elapsed", "s", elapsed_s));
    Observations { responses, facts: all, ..observations }
}

/// Waits of an embedded engine's thread: rows, and other suspended time.
fn waits(load: &Load) -> Vec<Wait> {
    let ThreadUse { times, voluntary_switches, .. } = load.used;
    let (rows_s, count) = (load.filled.waited_s, voluntary_switches.max(1));
    let suspended_s = load.elapsed_s - (times.cpu_ns + times.run_delay_ns) as f64 / 1e9;
    let rows_s = rows_s.min(suspended_s.max(0.0));
    let rows = Wait::counted("ROWS", WaitClass::Client, count, rows_s, 0.0);
    let others =
        Wait::counted("BULK_LOAD", WaitClass::Other, count, (suspended_s - rows_s).max(0.0), 0.0);
    rows.into_iter().chain(others).collect()
}
