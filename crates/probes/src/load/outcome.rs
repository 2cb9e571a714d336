//! Adds up what the threads of a load saw.

use super::LoadPlan;
use super::recorder::{ClientReport, ClientWait};
use engines::Collected;
use observations::{
    Amounts, Histogram, Latency, LoadHealth, Observations, Response, Series, TimeUse, Wait, WaitClass,
    WaitSource, Work, add_by_interval,
};
use recorder::{Reader, Recorder};

/// The observations of a load; machine, space and warnings are left to the driver.
pub fn add_up(
    plan: &LoadPlan,
    reports: &[ClientReport],
    collected: Collected,
    embedded: bool,
) -> Observations {
    let start_ns = reports.iter().map(|report| report.start_ns).min().unwrap_or(0);
    let end_ns = reports.iter().map(|report| report.end_ns).max().unwrap_or(0);
    let elapsed_s = seconds(end_ns - start_ns);
    let session_s = elapsed_s * f64::from(plan.connections);
    let mut waits = collected.waits;
    if embedded {
        waits.extend(client_waits(reports, end_ns));
    }
    let time = if let Some(time) = collected.time {
        TimeUse { session_s, ..time }
    } else {
        waits.extend(cpu_queue(reports, &waits));
        let cpu_ns = reports.iter().map(|report| report.times.cpu_ns).sum();
        TimeUse { session_s, cpu_s: seconds(cpu_ns), cpu_user_s: None }
    };
    let work = work(plan, reports);
    let latency = merge(reports.iter().filter_map(|report| report.record.latency.as_ref()));
    let done_ns = reports.iter().map(|report| report.done_ns).max().unwrap_or(0);
    let mut responses = responses(plan, elapsed_s, seconds(end_ns - done_ns.min(end_ns)), &work, &latency);
    if !embedded {
        responses.extend(client_cpu(reports, &work));
    }
    Observations {
        elapsed_s,
        connections: plan.connections,
        responses,
        work,
        latencies: if plan.latencies { latencies(plan, reports, latency) } else { Vec::new() },
        waits,
        time,
        operations: collected.operations,
        series: vec![throughput(plan, reports, elapsed_s)],
        load: health(reports, session_s, elapsed_s),
        ..Observations::default()
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

fn work(plan: &LoadPlan, reports: &[ClientReport]) -> Work {
    Work {
        unit: plan.unit.into(),
        amount: reports.iter().map(|report| report.record.units).sum(),
        transactions: reports.iter().map(|report| report.record.transactions).sum(),
        errors: reports.iter().map(|report| report.record.errors).sum(),
        retries: reports.iter().map(|report| report.record.retries).sum(),
    }
}

fn merge<'a>(recorders: impl Iterator<Item = &'a Recorder>) -> Histogram {
    let readers: Vec<Reader> = recorders.map(Recorder::reader).collect();
    Reader::sum(&readers)
}

/// Elapsed comes first where the amount of work is fixed, throughput where the time is.
fn responses(
    plan: &LoadPlan,
    elapsed_s: f64,
    flush_s: f64,
    work: &Work,
    latency: &Histogram,
) -> Vec<Response> {
    let rate = |amount: u64| if elapsed_s > 0.0 { amount as f64 / elapsed_s } else { 0.0 };
    let ms = |ns: u64| ns as f64 / 1e6;
    let elapsed = Response::lower("elapsed", "s", elapsed_s);
    let throughput = Response::higher("throughput", plan.rate_unit, rate(work.amount));
    let mut responses =
        if plan.duration_s.is_none() { vec![elapsed, throughput] } else { vec![throughput, elapsed] };
    if !plan.counts_transactions {
        responses.push(Response::higher("transactions", "transactions/s", rate(work.transactions)));
    }
    if plan.latencies {
        responses.push(Response::lower("latency_mean", "ms", latency.min_mean_max_ns().1 / 1e6));
        for (name, percentile) in [("latency_p50", 50.0), ("latency_p95", 95.0), ("latency_p99", 99.0)] {
            responses.push(Response::lower(name, "ms", ms(latency.percentile_ns(percentile))));
        }
    }
    responses.push(Response::lower("flush", "s", flush_s));
    responses
}

/// Latency of all transactions, their service time, and the latency of each kind of them.
fn latencies(plan: &LoadPlan, reports: &[ClientReport], latency: Histogram) -> Vec<Latency> {
    let service = if plan.rate.is_some() {
        merge(reports.iter().filter_map(|report| report.record.service.as_ref()))
    } else {
        latency.clone()
    };
    let mut latencies = vec![
        Latency { name: plan.timed.into(), histogram: latency },
        Latency { name: "service".into(), histogram: service },
    ];
    for (kind, name) in plan.kinds.iter().enumerate().filter(|_| plan.kinds.len() > 1) {
        let of_kind = reports.iter().filter_map(|report| report.record.latency_by_kind.get(kind));
        latencies.push(Latency { name: format!("{}: {name}", plan.timed), histogram: merge(of_kind) });
    }
    latencies
}

/// What a transaction costs the client that asks a server for it.
fn client_cpu(reports: &[ClientReport], work: &Work) -> Option<Response> {
    let cpu_ns: u64 = reports.iter().map(|report| report.times.cpu_ns).sum();
    let us = cpu_ns as f64 / 1e3 / work.transactions as f64;
    (work.transactions > 0).then(|| Response::lower("client_cpu", "us/transaction", us))
}

/// Waits on the client's side: for the next arrival, and for connections that are not done yet.
fn client_waits(reports: &[ClientReport], end_ns: u64) -> Vec<Wait> {
    let sum = |part: fn(&ClientReport) -> ClientWait| {
        reports.iter().map(part).fold(ClientWait::default(), |sum, wait| ClientWait {
            count: sum.count + wait.count,
            resource_ns: sum.resource_ns + wait.resource_ns,
            signal_ns: sum.signal_ns + wait.signal_ns,
        })
    };
    let arrival = sum(|report| report.arrival);
    let mut others = sum(|report| report.others);
    let tail_ns: u64 = reports.iter().map(|report| end_ns - report.end_ns).sum();
    others.resource_ns += tail_ns;
    others.count = others.count.max(u64::from(tail_ns > 0));
    [("ARRIVAL", arrival), ("CONNECTION_DONE", others)]
        .into_iter()
        .filter(|(_, wait)| wait.count > 0)
        .map(|(name, wait)| Wait {
            wait_type: name.into(),
            class: WaitClass::Client,
            count: Some(wait.count),
            resource_s: seconds(wait.resource_ns),
            signal_s: seconds(wait.signal_ns),
            source: WaitSource::Counted,
        })
        .collect()
}

/// The run-queue delay of the threads that is not already the signal part of another wait. Its
/// count is the number of times a thread lost its processor.
fn cpu_queue(reports: &[ClientReport], waits: &[Wait]) -> Option<Wait> {
    let delay_ns = reports.iter().map(|report| report.times.run_delay_ns).sum();
    let elsewhere_s: f64 = waits.iter().map(|wait| wait.signal_s).sum();
    let signal_s = (seconds(delay_ns) - elsewhere_s).max(0.0);
    (signal_s > 0.0).then(|| Wait {
        wait_type: "CPU_QUEUE".into(),
        class: WaitClass::CpuQueue,
        count: Some(reports.iter().map(|report| report.preemptions).sum()),
        resource_s: 0.0,
        signal_s,
        source: WaitSource::Counted,
    })
}

fn health(reports: &[ClientReport], session_s: f64, elapsed_s: f64) -> LoadHealth {
    let share = |ns: u64, of_s: f64| if of_s > 0.0 { seconds(ns) / of_s } else { 0.0 };
    let threads_s = elapsed_s * reports.len() as f64;
    LoadHealth {
        client_share: share(reports.iter().map(|report| report.record.generator_ns).sum(), session_s),
        run_delay_share: share(reports.iter().map(|report| report.times.run_delay_ns).sum(), threads_s),
        sends_intended: reports.iter().map(|report| report.record.sends_intended).sum(),
        sends_missed: reports.iter().map(|report| report.record.sends_missed).sum(),
        send_delay_us_max: reports.iter().map(|report| report.record.send_delay_ns_max).max().unwrap_or(0)
            / 1000,
    }
}

/// Units a second in each interval: warm-up before second 0, then the measured part.
fn throughput(plan: &LoadPlan, reports: &[ClientReport], elapsed_s: f64) -> Series {
    let warmup = add_intervals(reports.iter().map(|report| report.warmup_units_by_interval.as_slice()));
    let measured = add_intervals(reports.iter().map(|report| report.record.units_by_interval.as_slice()));
    Series::of_amounts(
        ("throughput", plan.rate_unit, 1.0),
        plan.interval_s,
        Amounts { by_interval: &warmup, covered_s: plan.warmup_s },
        Amounts { by_interval: &measured, covered_s: elapsed_s },
    )
}

/// Amounts by interval of all these together.
pub fn add_intervals<'a>(parts: impl Iterator<Item = &'a [u64]>) -> Vec<u64> {
    parts.fold(Vec::new(), |mut sum, part| {
        add_by_interval(&mut sum, part);
        sum
    })
}
