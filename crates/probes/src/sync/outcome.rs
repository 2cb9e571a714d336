//! From what the threads did to the observations of the trial.

use observations::{
    Amounts, Fact, Histogram, Latency, LoadHealth, MachineLoad, Observations, Operation, Response, Series,
    TimeUse, Wait, WaitClass, WaitSource, Work,
};
use observe::topology::Span;
use primitives::{Load, Outcome, ThreadOutcome, Waiting};

/// The observations of a trial whose threads were pinned to what spans so much; nothing: they were not pinned.
pub fn observations(load: &Load, outcome: &Outcome, span: Span, machine: MachineLoad) -> Observations {
    let threads = &outcome.threads;
    let session_s = outcome.elapsed_s * threads.len() as f64;
    let delay_s: f64 = threads.iter().map(|thread| seconds(thread.times.run_delay_ns)).sum();
    let acquire = merged(threads, |thread| &thread.acquire);
    let operation = merged(threads, |thread| &thread.operation);
    let mut responses = responses(outcome, &acquire, &operation);
    responses.extend(lost(load, outcome));
    let latencies = [("operation", &operation), ("acquire", &acquire)];
    let latencies = latencies.into_iter().filter(|(_, histogram)| !histogram.is_empty());
    Observations {
        facts: place(outcome, span),
        elapsed_s: outcome.elapsed_s,
        connections: threads.len() as u32,
        work: Work { unit: "operation".into(), amount: outcome.operations(), ..Work::default() },
        responses,
        latencies: latencies
            .map(|(name, histogram)| Latency { name: name.into(), histogram: histogram.clone() })
            .collect(),
        waits: waits(load, outcome, delay_s),
        time: TimeUse { session_s, cpu_s: cpu_s(threads), cpu_user_s: None },
        operations: acquisitions(load, outcome, &acquire).into_iter().collect(),
        series: vec![throughput(load, outcome)],
        load: LoadHealth {
            run_delay_share: if session_s > 0.0 { delay_s / session_s } else { 0.0 },
            ..LoadHealth::default()
        },
        machine,
        ..Observations::default()
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

fn cpu_s(threads: &[ThreadOutcome]) -> f64 {
    threads.iter().map(|thread| seconds(thread.times.cpu_ns)).sum()
}

fn merged(threads: &[ThreadOutcome], part: fn(&ThreadOutcome) -> &Histogram) -> Histogram {
    threads.iter().fold(Histogram::default(), |mut all, thread| {
        all.merge(part(thread));
        all
    })
}

fn responses(outcome: &Outcome, acquire: &Histogram, operation: &Histogram) -> Vec<Response> {
    let operations = outcome.operations().max(1) as f64;
    let per_million = |part: fn(&ThreadOutcome) -> u64| {
        outcome.threads.iter().map(part).sum::<u64>() as f64 * 1e6 / operations
    };
    let elapsed_ms = outcome.elapsed_s * 1e3;
    let throughput = if elapsed_ms > 0.0 { outcome.operations() as f64 / elapsed_ms } else { 0.0 };
    let mut responses = vec![
        Response::higher("throughput", "ops/ms", throughput),
        Response::higher("fairness_jain", "", outcome.fairness_jain()),
        Response::higher("fairness_min_max", "", outcome.fairness_min_max()),
        Response::lower("cpu", "ns/op", cpu_s(&outcome.threads) * 1e9 / operations),
        Response::lower("voluntary_switches", "/million ops", per_million(|t| t.voluntary_switches)),
        Response::lower("involuntary_switches", "/million ops", per_million(|t| t.involuntary_switches)),
        Response::lower("operation_p99", "ns", operation.percentile_ns(99.0) as f64),
    ];
    if !acquire.is_empty() {
        responses.push(Response::lower("acquire_mean", "ns", acquire.min_mean_max_ns().1));
        responses.push(Response::lower("acquire_p99", "ns", acquire.percentile_ns(99.0) as f64));
    }
    responses
}

/// The share of updates that nothing kept from getting lost.
fn lost(load: &Load, outcome: &Outcome) -> Option<Response> {
    load.primitive.loses().then(|| Response::lower("lost_updates", "%", outcome.lost_share() * 100.0))
}

/// Where the threads were, when they were pinned, and how many lines they shared: what curves are read by.
fn place(outcome: &Outcome, span: Span) -> Vec<Fact> {
    let count = Fact::count;
    let mut counts: Vec<Fact> =
        outcome.shared_lines.map(|lines| count("shared_lines", lines)).into_iter().collect();
    if span.processors > 0 {
        counts.push(count("processors", span.processors));
        counts.push(count("cores", span.cores));
        counts.push(count("sockets", span.sockets));
        counts.push(count("nodes", span.nodes));
    }
    counts
}

/// Waits by the kernel's accounts. There is nothing for which a thread could sleep but the lock. Who spins does not wait
/// in this sense: it uses its processor.
fn waits(load: &Load, outcome: &Outcome, delay_s: f64) -> Vec<Wait> {
    let threads = &outcome.threads;
    let sum = |part: fn(&ThreadOutcome) -> u64| threads.iter().map(part).sum::<u64>();
    let mut waits = Vec::new();
    let mut add = |name: &str, class, count, resource_s: f64, signal_s: f64| {
        if resource_s + signal_s > 0.0 {
            let source = WaitSource::Counted;
            waits.push(Wait {
                wait_type: name.into(),
                class,
                count: Some(count),
                resource_s,
                signal_s,
                source,
            });
        }
    };
    if let Waiting::Sleeps(name) = load.primitive.waiting() {
        let slept_s = threads.iter().map(ThreadOutcome::slept_s).sum();
        add(name, WaitClass::Latch, sum(|thread| thread.voluntary_switches), slept_s, 0.0);
    }
    add("CPU_QUEUE", WaitClass::CpuQueue, sum(|thread| thread.involuntary_switches), 0.0, delay_s);
    let apart_s = threads.iter().map(|thread| (outcome.elapsed_s - thread.elapsed_s).max(0.0)).sum();
    add("CONNECTION_DONE", WaitClass::Client, threads.len() as u64, apart_s, 0.0);
    waits
}

/// All acquisitions of the lock; their time is that of the sampled ones, times how many there are for each of these.
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
        ("throughput", "ops/ms", 1e-3),
        load.interval.as_secs_f64(),
        Amounts { by_interval: &outcome.warmup_by_interval, covered_s: load.warmup.as_secs_f64() },
        Amounts { by_interval: &outcome.by_interval, covered_s: outcome.elapsed_s },
    )
}
