//! From what the threads did to the observations of the trial.

use crate::primitives::{Load, Outcome, Span, ThreadOutcome, Waiting};
use observations::{
    Amounts, Fact, FactName, Histogram, Latency, Observations, Operation, Response, Series, Wait,
    WaitClass, Work,
};
use probe::measure::{Surroundings, connection_done};

/// Cache lines that several threads write to.
pub const SHARED_LINES: FactName = FactName::new("shared_lines", "");
/// Processors that the threads were pinned to.
pub const PROCESSORS: FactName = FactName::new("processors", "");
/// Cores that the threads were pinned to.
pub const CORES: FactName = FactName::new("cores", "");
/// Sockets that the threads were pinned to.
pub const SOCKETS: FactName = FactName::new("sockets", "");
/// Memory nodes that the threads were pinned to.
pub const NODES: FactName = FactName::new("nodes", "");

/// The observations of a trial whose threads were pinned to what spans so much; nothing: they were
/// not pinned.
pub fn observations(
    load: &Load,
    outcome: &Outcome,
    span: Span,
    surroundings: Surroundings,
) -> Observations {
    let threads = &outcome.threads;
    let acquire = merged(threads, |thread| &thread.acquire);
    let operation = merged(threads, |thread| &thread.operation);
    let mut responses = responses(outcome, &acquire, &operation);
    if load.primitive.loses() {
        responses.push(Response::lower("lost_updates", "%", outcome.lost_share() * 100.0));
    }
    let latencies = [("operation", &operation), ("acquire", &acquire)];
    let latencies = latencies.into_iter().filter(|(_, histogram)| !histogram.is_empty());
    Observations {
        facts: place(outcome, span),
        work: Work { unit: "operation".into(), amount: outcome.operations(), ..Work::default() },
        responses,
        latencies: latencies
            .map(|(name, histogram)| Latency { name: name.into(), histogram: histogram.clone() })
            .collect(),
        operations: acquisitions(load, outcome, &acquire).into_iter().collect(),
        series: vec![throughput(load, outcome)],
        ..surroundings.observations(
            outcome.elapsed_s,
            threads.len() as u32,
            threads.iter().map(|thread| thread.used),
            waits(load, outcome),
        )
    }
}

fn merged(threads: &[ThreadOutcome], part: fn(&ThreadOutcome) -> &Histogram) -> Histogram {
    threads.iter().fold(Histogram::default(), |mut all, thread| {
        all.merge(part(thread));
        all
    })
}

fn responses(outcome: &Outcome, acquire: &Histogram, operation: &Histogram) -> Vec<Response> {
    let operations = outcome.operations().max(1) as f64;
    let switches = |name: &str, part: fn(&ThreadOutcome) -> u64| {
        let (switches, ns_per_operation) =
            (outcome.threads.iter().map(part).sum::<u64>() as f64, 1e6 / operations);
        Response::lower(name, "/million ops", switches * ns_per_operation)
            .in_steps_of(ns_per_operation)
    };
    let p99 =
        |name: &str, latency: &Histogram| Response::percentile(name, "ns", 1.0, latency, 99.0);
    let cpu_ns: u64 = outcome.threads.iter().map(|thread| thread.used.times.cpu_ns).sum();
    let elapsed_ms = outcome.elapsed_s * 1e3;
    let throughput = if elapsed_ms > 0.0 { outcome.operations() as f64 / elapsed_ms } else { 0.0 };
    let mut responses = vec![
        Response::higher("throughput", "ops/ms", throughput),
        Response::higher("fairness_jain", "", outcome.fairness_jain()),
        Response::higher("fairness_min_max", "", outcome.fairness_min_max()),
        Response::lower("cpu", "ns/op", cpu_ns as f64 / operations),
        switches("voluntary_switches", |t| t.used.voluntary_switches),
        switches("involuntary_switches", |t| t.used.involuntary_switches),
        p99("operation_p99", operation),
    ];
    if !acquire.is_empty() {
        responses.push(Response::lower("acquire_mean", "ns", acquire.min_mean_max_ns().1));
        responses.push(p99("acquire_p99", acquire));
    }
    responses
}

/// Returns the placement of the threads, when they were pinned, and the number of lines that they
/// shared: what curves are read by.
fn place(outcome: &Outcome, span: Span) -> Vec<Fact> {
    let spanned = [
        (PROCESSORS, span.processors),
        (CORES, span.cores),
        (SOCKETS, span.sockets),
        (NODES, span.nodes),
    ];
    let spanned = spanned.into_iter().filter(|_| span.processors > 0);
    let lines = outcome.shared_lines.map(|lines| (SHARED_LINES, lines));
    lines.into_iter().chain(spanned).map(|(name, number)| name.record(f64::from(number))).collect()
}

/// Waits by the kernel's accounts. There is nothing for which a thread could sleep but the lock. A
/// thread that spins does not wait in this sense: it uses its processor.
fn waits(load: &Load, outcome: &Outcome) -> Vec<Wait> {
    let threads = &outcome.threads;
    let mut waits = Vec::new();
    if let Waiting::Sleeps(name) = load.primitive.waiting() {
        let slept_s = threads.iter().map(ThreadOutcome::slept_s).sum();
        let count = threads.iter().map(|thread| thread.used.voluntary_switches).sum();
        waits.extend(Wait::counted(name, WaitClass::Latch, count, slept_s, 0.0));
    }
    waits.extend(connection_done(outcome.elapsed_s, threads.iter().map(|thread| thread.elapsed_s)));
    waits
}

/// All acquisitions of the lock; their time is that of the sampled ones, times how many there are
/// for each of these.
fn acquisitions(load: &Load, outcome: &Outcome, acquire: &Histogram) -> Option<Operation> {
    let name = match load.primitive.waiting() {
        Waiting::Never => return None,
        Waiting::Spins => "SPINLOCK",
        Waiting::Sleeps(name) => name,
    };
    let count = outcome.operations();
    let wall_s = acquire.min_mean_max_ns().1 / 1e9 * count as f64;
    Some(Operation { name: name.into(), count, bytes: 0, wall_s })
}

fn throughput(load: &Load, outcome: &Outcome) -> Series {
    Series::of_amounts(
        "throughput",
        "ops/ms",
        1e-3,
        load.interval.as_secs_f64(),
        Amounts { by_interval: &outcome.warmup_by_interval, covered_s: load.warmup.as_secs_f64() },
        Amounts { by_interval: &outcome.by_interval, covered_s: outcome.elapsed_s },
    )
}
