//! Session time, and counters of devices, machine and study, that separate the blocks of two
//! regimes.

use analysis::compare::welch_error;
use analysis::estimate::{Moments, t_test};
use analysis::grid::{Grid, Matched, Unit};
use analysis::{Decomposition, Estimate, Explanation, Summary};
use observations::{Direction, Observations, order};
use serde::Serialize;
use statistics::discoveries;
use std::collections::BTreeMap;

/// Expected share of false ones, at most, among the counters of a configuration that are named.
const FALSE_SHARE: f64 = 0.05;
/// Beginnings of the names of responses that are the same figure in another form.
const SAME_FIGURE: [&str; 4] = ["elapsed", "throughput", "latency", "service"];

/// A counter that differs between two regimes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Separator {
    /// The name: `CPU steal`, `vda: mean read`.
    pub name: String,
    /// In the blocks of the better side.
    pub better: Estimate,
    /// In the blocks of the worse side.
    pub worse: Estimate,
    /// P-value of "no difference" (Welch's t), adjusted over all counters of the configuration.
    pub p_value: f64,
    /// True if every value of one side is above every value of the other.
    pub is_complete: bool,
}

/// Name and unit of a counter.
type Counter = (String, String);

/// The session time of these blocks of a configuration, part by part.
pub fn explanation_of_blocks(
    summary: &Summary,
    configuration: usize,
    better: &[u32],
    worse: &[u32],
) -> Option<Explanation> {
    let usable = summary.grid.filter(Decomposition::usable);
    let side = |blocks: &[u32]| {
        let cells = usable.cells[configuration].iter().copied();
        let cells = cells.filter(|(block, _)| blocks.contains(block));
        usable.repeated(cells, Unit::Block)
    };
    let decomposition = Decomposition::from_trials(&Matched::unpaired(side(better), side(worse)))?;
    // Work without sessions has no time to explain.
    (decomposition.total.from_s > 0.0).then(|| Explanation {
        from: "the better side".to_owned(),
        to: "the worse side".to_owned(),
        both: String::new(),
        is_claimed: false,
        decomposition,
    })
}

/// The counters that differ between these blocks of a configuration.
pub fn separators(
    summary: &Summary,
    configuration: usize,
    better: &[u32],
    worse: &[u32],
) -> Vec<Separator> {
    let compared_on = summary.response.as_ref().map_or("", |response| response.name.as_str());
    let sides = [better, worse].map(|side| counters(&summary.grid, configuration, side));
    let [better, worse] = &sides;
    let named = better.iter().filter(|((name, _), _)| name != compared_on);
    let compared = named.filter_map(|(values_before, values)| {
        compare(values_before, values, worse.get(values_before)?)
    });
    let mut found: Vec<Separator> = compared.collect();
    let p_values: Vec<f64> = found.iter().map(|cause| cause.p_value).collect();
    let adjusted = discoveries(&p_values, &vec![1.0; p_values.len()]);
    found.iter_mut().zip(adjusted).for_each(|(cause, p)| cause.p_value = p);
    found.retain(|cause| cause.p_value < FALSE_SHARE);
    order::smallest_first(&mut found, &|row| row.p_value);
    found
}

/// The values of each counter in these blocks; those that a trial lacks are left out.
fn counters(
    grid: &Grid<&Observations>,
    configuration: usize,
    blocks: &[u32],
) -> BTreeMap<Counter, Vec<f64>> {
    let mut all: BTreeMap<Counter, Vec<f64>> = BTreeMap::new();
    let trials = blocks.iter().filter_map(|block| grid.cell(configuration, *block));
    for trial in trials.filter(|trial| !trial.timed_out()) {
        let mut add = |name: &str, unit: &str, value: f64| {
            if value.is_finite() {
                all.entry((name.to_owned(), unit.to_owned())).or_default().push(value);
            }
        };
        machine(trial, &mut add);
        devices(trial, &mut add);
        for fact in &trial.facts {
            add(&fact.name, &fact.unit, fact.value);
        }
        let others = trial.responses.iter();
        let others = others
            .filter(|figure| !SAME_FIGURE.iter().any(|prefix| figure.name.starts_with(prefix)));
        for other in others {
            add(&other.name, &other.unit, other.value);
        }
    }
    all
}

/// Shares of the machine's CPU time.
fn machine(observations: &Observations, add: &mut impl FnMut(&str, &str, f64)) {
    let machine = &observations.machine;
    let percent = 100.0 / (f64::from(machine.cpus) * observations.elapsed_s);
    add("CPU steal", "%", machine.steal_s * percent);
    add("CPU idle with pending I/O", "%", machine.iowait_s * percent);
    add("CPU used by other processes", "%", (machine.busy_s - machine.own_s) * percent);
    add("CPU wait of the load generator", "%", 100.0 * observations.load.run_delay_share);
}

/// Of each device what its kernel counters say.
fn devices(observations: &Observations, add: &mut impl FnMut(&str, &str, f64)) {
    for device in &observations.devices {
        let mut add = |name: &str, unit: &str, over: f64, under: f64| {
            add(&format!("{}: {name}", device.device), unit, over / under);
        };
        add("mean read", "ms", 1e3 * device.read_s, device.reads as f64);
        add("mean write", "ms", 1e3 * device.write_s, device.writes as f64);
        add("mean flush", "ms", 1e3 * device.flush_s, device.flushes as f64);
        add("busy", "%", 100.0 * device.busy_s, device.elapsed_s);
        add("I/Os in flight", "I/Os", device.queue_s, device.elapsed_s);
        add("reads", "reads/s", device.reads as f64, device.elapsed_s);
        add("writes", "writes/s", device.writes as f64, device.elapsed_s);
    }
}

/// `None` of single values, and of equal ones.
fn compare((name, unit): &Counter, better: &[f64], worse: &[f64]) -> Option<Separator> {
    let estimate = |values: &[f64]| Estimate::from_values(values, unit, Direction::LowerIsBetter);
    let (from, to) = (estimate(better)?, estimate(worse)?);
    let (error, df) = welch_error(&Moments::from_values(better), &Moments::from_values(worse))?;
    let change = to.mean - from.mean;
    let is_complete = from.max < to.min || to.max < from.min;
    if change.abs() <= 1e-12 * from.mean.abs().max(to.mean.abs()) {
        return None;
    }
    // Values without a spread may be so by chance: then the number of orders of the blocks decides.
    let by_order = 2.0 / orders(from.n, from.n + to.n);
    let p_value = if error > 0.0 { t_test(change, error, df).1 } else { by_order.min(1.0) };
    let name = name.clone();
    Some(Separator { name, better: from, worse: to, p_value, is_complete })
}

/// In how many ways some of these can be chosen.
fn orders(some: usize, all: usize) -> f64 {
    (0..some).map(|index| (all - index) as f64 / (some - index) as f64).product()
}
