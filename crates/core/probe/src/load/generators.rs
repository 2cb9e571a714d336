//! Load generators in other processes: a part of a load, and the sum of all parts.

use super::outcome::{ClientReport, add_up};
use super::plan::{GENERATORS, LoadPart, LoadPlan, Workloads};
use super::threads::{conducted, subject};
use crate::generation::{Generators, Part, PartRecord, SharedLoad};
use crate::measure::{measure, seconds};
use crate::record::LoadRecord;
use crate::{ProbeError, TrialContext};
use engine::{Ability, EngineUse};
use observations::{
    Fact, FactFamily, FactName, Observations, TimeUse, Warning, WarningKind, number,
};
use observe::Clock;
use std::time::{Duration, Instant};
use work::conductor::{Director, LoadProgress};

/// Units of work a second of one generator: `generator_rate.NAME`.
const GENERATOR_RATE: FactFamily = FactFamily::new("generator_rate.", "1/s");
/// 99th percentile of one generator's latencies: `generator_p99.NAME`.
const GENERATOR_P99: FactFamily = FactFamily::new("generator_p99.", "ms");
/// Start of one generator after the common start: `generator_start.NAME`.
const GENERATOR_START: FactFamily = FactFamily::new("generator_start.", "ms");
/// Busy share of the CPUs of one generator's machine: `generator_cpu.NAME`.
const GENERATOR_CPU: FactFamily = FactFamily::new("generator_cpu.", "%");
/// Share of the time of one generator's threads in the run queue: `generator_run_queue.NAME`.
const GENERATOR_RUN_QUEUE: FactFamily = FactFamily::new("generator_run_queue.", "%");
/// CPU time that a hypervisor took from one generator's machine: `generator_steal.NAME`.
const GENERATOR_STEAL: FactFamily = FactFamily::new("generator_steal.", "s");
/// Traffic of the busiest network interface of one generator's machine, in both directions:
/// `generator_network.NAME`.
const GENERATOR_NETWORK: FactFamily = FactFamily::new("generator_network.", "MB/s");
/// Time between the first and the last start of a generator.
const START_SKEW: FactName = FactName::new("generator_start_skew", "ms");
/// Largest uncertainty of a generator's clock; starts are known up to it.
const CLOCK_UNCERTAINTY: FactName = FactName::new("generator_clock_uncertainty", "ms");
/// Largest drift of a generator's clock during the load.
const CLOCK_DRIFT: FactName = FactName::new("generator_clock_drift", "ms");

/// Starts that are further apart than this get a warning, and clocks that drift by more.
const SKEW_MS_MAX: f64 = 10.0;
/// A generator whose rate for each connection differs from the mean by more than this share gets a
/// warning.
const RATE_DIFFERENCE: f64 = 0.1;

/// Notes when the director of a part let its load go.
struct StartClock<'a> {
    director: Box<dyn Director + 'a>,
    clock: &'a Clock,
    go_ns: u64,
}

impl Director for StartClock<'_> {
    fn go(&mut self) -> bool {
        let goes = self.director.go();
        self.go_ns = self.clock.now_ns();
        goes
    }

    fn look(&mut self, now: &LoadProgress) -> Option<Duration> {
        self.director.look(now)
    }
}

/// Generates a part of a load that another process conducts. Ends in [`ProbeError::Delivered`].
pub(super) fn generate_part(
    context: &TrialContext<'_>,
    plan: &LoadPlan,
    part: &dyn Part,
    workload: &Workloads<'_>,
) -> ProbeError {
    let clock = Clock::monotonic();
    let mut director = StartClock { director: part.director(), clock: &clock, go_ns: 0 };
    let part_of_load = LoadPart::of_several(context, plan, part.index(), part.parts());
    let finished = match conducted(context, plan, &part_of_load, &clock, &mut director, workload) {
        Ok(finished) => finished,
        Err(error) => return error,
    };
    let reports: Vec<_> = finished.iter().map(|(report, _)| report).collect();
    let mut record = ClientReport::sum(&reports);
    record.study = plan.counting.as_ref().map(|counting| counting.report()).unwrap_or_default();
    part.deliver(if is_scripted(context) { record } else { record.since(director.go_ns) });
    ProbeError::Delivered
}

/// Returns whether sessions have virtual clocks, the same in all processes.
fn is_scripted(context: &TrialContext<'_>) -> bool {
    context.target.abilities.contains(&Ability::Synthetic)
}

/// Conducts a load that other processes generate.
pub(super) fn lead(
    context: &TrialContext<'_>,
    plan: &LoadPlan,
    generators: &dyn Generators,
    count: u32,
) -> Result<(Observations, EngineUse), ProbeError> {
    let target = context.instance.parts().shared.ok_or(ProbeError::NotShared)?;
    let load = SharedLoad {
        configuration: context.configuration,
        seed: context.seed,
        generators: count,
        target,
        cancel: context.cancel,
    };
    let ((generated, flush_ns), surroundings) =
        measure(context, subject(context, plan), |director| {
            let generated = generators.generate(&load, director)?;
            let start = Instant::now();
            target.flush()?;
            Ok((generated, start.elapsed().as_nanos() as u64))
        })?;
    let used = surroundings.engine_use();
    let scripted = is_scripted(context);
    let records = generated.parts.iter().map(|part| {
        let late_ns = if scripted { 0 } else { part.late_ns };
        part.record.clone().later_by(late_ns)
    });
    let mut record = records
        .reduce(|mut sum, other| {
            sum.add(&other);
            sum
        })
        .ok_or(ProbeError::NotShared)?;
    record.end_ns = record.end_ns.saturating_add(if scripted { 0 } else { flush_ns });
    if let Some(counting) = &plan.counting {
        counting.include(&record.study);
    }
    let embedded = context.target.abilities.contains(&Ability::Embedded);
    let mut observations = add_up(plan, &record, surroundings, embedded);
    if scripted {
        // The waits that the script had in the generators are not here: nothing is accounted for.
        (observations.time, observations.waits) = (TimeUse::default(), Vec::new());
    }
    let starts = Starts::new(&generated.parts, scripted);
    observations.facts.extend(facts(&generated.parts, &starts));
    observations.warnings.extend(warnings(plan, &generated.parts, &starts));
    Ok((observations, used))
}

/// Units of work a second of one generator.
fn rate(part: &PartRecord) -> f64 {
    let LoadRecord { counts, start_ns, done_ns, .. } = part.record;
    counts.units as f64 / seconds(done_ns.saturating_sub(start_ns)).max(1e-9)
}

/// Milliseconds of the generators' first starts after the common start.
struct Starts(Vec<f64>);

impl Starts {
    fn new(parts: &[PartRecord], scripted: bool) -> Self {
        let start_ns = |part: &PartRecord| {
            part.late_ns.saturating_add(if scripted { 0 } else { part.record.start_ns })
        };
        Self(parts.iter().map(|part| start_ns(part) as f64 / 1e6).collect())
    }

    /// Between the first and the last.
    fn skew_ms(&self) -> f64 {
        let first = self.0.iter().copied().fold(f64::INFINITY, f64::min);
        self.0.iter().copied().fold(first, f64::max) - first
    }
}

/// Share of the time of a generator's threads in the run queue, in percent.
fn run_queue_percent(record: &LoadRecord) -> Option<f64> {
    let threads_ns =
        record.done_ns.saturating_sub(record.start_ns) as f64 * record.threads.len() as f64;
    let waited_ns: u64 = record.threads.iter().map(|thread| thread.times.run_delay_ns).sum();
    (threads_ns > 0.0).then(|| 100.0 * waited_ns as f64 / threads_ns)
}

/// Busy share of the CPUs of a generator's machine, in percent.
fn cpu_percent(part: &PartRecord) -> Option<f64> {
    let elapsed_s = seconds(part.record.end_ns.saturating_sub(part.record.start_ns));
    let available_s = f64::from(part.machine.cpus) * elapsed_s;
    (available_s > 0.0 && part.machine.busy_s > 0.0)
        .then(|| (100.0 * part.machine.busy_s / available_s).min(100.0))
}

/// Megabytes a second on the busiest network interface of a generator's machine.
fn network_mb_s(part: &PartRecord) -> Option<f64> {
    let elapsed_s = seconds(part.record.end_ns.saturating_sub(part.record.start_ns));
    part.network_bytes.filter(|_| elapsed_s > 0.0).map(|bytes| bytes as f64 / 1e6 / elapsed_s)
}

fn facts(parts: &[PartRecord], starts: &Starts) -> Vec<Fact> {
    let mut facts = Vec::new();
    for (part, start_ms) in parts.iter().zip(&starts.0) {
        let (name, record) = (part.generator.as_str(), &part.record);
        facts.push(GENERATOR_RATE.record(name, rate(part)));
        if !record.latency.is_empty() {
            let p99_ms = record.latency.percentile_ns(99.0) as f64 / 1e6;
            facts.push(GENERATOR_P99.record(name, p99_ms));
        }
        facts.push(GENERATOR_START.record(name, *start_ms));
        facts.extend(cpu_percent(part).map(|cpu| GENERATOR_CPU.record(name, cpu)));
        let waited = run_queue_percent(record);
        facts.extend(waited.map(|waited| GENERATOR_RUN_QUEUE.record(name, waited)));
        facts.extend(network_mb_s(part).map(|rate| GENERATOR_NETWORK.record(name, rate)));
        if part.machine.cpus > 0 {
            facts.push(GENERATOR_STEAL.record(name, part.machine.steal_s));
        }
    }
    let uncertainty_ns = parts.iter().map(|part| part.clock_uncertainty_ns).max().unwrap_or(0);
    facts.push(START_SKEW.record(starts.skew_ms()));
    facts.push(CLOCK_UNCERTAINTY.record(uncertainty_ns as f64 / 1e6));
    let drift_ns = parts.iter().map(|part| part.clock_drift_ns).max().unwrap_or(0);
    facts.push(CLOCK_DRIFT.record(drift_ns as f64 / 1e6));
    facts
}

/// Warns of generators that started far apart, and of one that worked at another rate than the
/// others.
fn warnings(plan: &LoadPlan, parts: &[PartRecord], starts: &Starts) -> Vec<Warning> {
    let warn = |detail| Warning { kind: WarningKind::Generators, detail };
    let mut warnings = Vec::new();
    let skew_ms = starts.skew_ms();
    if skew_ms > SKEW_MS_MAX {
        let detail = format!(
            "the load generators started {skew_ms:.1} ms apart, more than {SKEW_MS_MAX} ms"
        );
        warnings.push(warn(detail));
    }
    if let Some(part) = parts.iter().max_by_key(|part| part.clock_drift_ns) {
        let (name, drift_ms) = (&part.generator, part.clock_drift_ns as f64 / 1e6);
        if drift_ms > SKEW_MS_MAX {
            let detail = format!(
                "the clock of load generator {name} drifted by {drift_ms:.1} ms during the load: \
                 its rates and latencies are wrong by as much of the time; correct its clock source"
            );
            warnings.push(warn(detail));
        }
    }
    if plan.intends && plan.rate.is_none() {
        // Connections have schedules of their own, which do not give them equal rates.
        return warnings;
    }
    let each: Vec<f64> = (0..)
        .zip(parts)
        .map(|(index, part)| {
            let share = super::plan::share(plan.connections, index, parts.len() as u32);
            rate(part) / share.len().max(1) as f64
        })
        .collect();
    let mean = each.iter().sum::<f64>() / each.len().max(1) as f64;
    let farthest = parts
        .iter()
        .zip(&each)
        .max_by(|(_, rate), (_, other)| (*rate - mean).abs().total_cmp(&(*other - mean).abs()));
    if let Some((part, rate)) =
        farthest.filter(|(_, rate)| (**rate - mean).abs() > RATE_DIFFERENCE * mean)
    {
        let known = |value: Option<f64>, unit: &str| {
            value.map_or_else(|| "unknown".into(), |value| format!("{value:.0} {unit}"))
        };
        let steal_s = (part.machine.cpus > 0).then_some(part.machine.steal_s);
        let detail = format!(
            "load generator {} did {} {}s/s for each connection, the mean is {}; its machine's \
             CPUs were busy for {} of the time, its threads waited for a CPU for {}, a hypervisor \
             took {} of CPU time, and its busiest network interface carried {}",
            part.generator,
            number::grouped(*rate),
            plan.unit,
            number::grouped(mean),
            known(cpu_percent(part), "%"),
            known(run_queue_percent(&part.record), "%"),
            known(steal_s, "s"),
            known(network_mb_s(part), "MB/s"),
        );
        warnings.push(warn(detail));
    }
    warnings
}

/// The number of generators that a configuration asks for.
pub(super) fn count(context: &TrialContext<'_>) -> Option<u32> {
    context.configuration.get(GENERATORS)
}
