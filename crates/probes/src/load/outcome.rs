//! Adds up what the threads of a load saw.

use super::LoadPlan;
use super::driver::Finished;
use super::recorder::{ClientReport, ClientWait};
use crate::measure::{LaneUse, Surroundings, seconds};
use conductor::{Reader, Recorder};
use observations::{
    Amounts, Histogram, Latency, LoadHealth, Observations, Response, Series, Wait, WaitClass, Work,
    add_by_interval,
};

/// The observations of a load.
pub fn add_up(
    plan: &LoadPlan,
    finished: &[Finished],
    surroundings: Surroundings,
    embedded: bool,
) -> Observations {
    let reports: Vec<&ClientReport> = finished.iter().map(|(report, _)| report).collect();
    let start_ns = reports.iter().map(|report| report.start_ns).min().unwrap_or(0);
    let end_ns = reports.iter().map(|report| report.end_ns).max().unwrap_or(0);
    let done_ns = reports.iter().map(|report| report.done_ns).max().unwrap_or(0);
    let elapsed_s = seconds(end_ns - start_ns);
    let session_s = elapsed_s * f64::from(plan.connections);
    let lane = |report: &&ClientReport| LaneUse { times: report.times, preemptions: report.preemptions };
    let lanes: Vec<LaneUse> = reports.iter().map(lane).collect();
    let waits = if embedded { client_waits(&reports, end_ns) } else { Vec::new() };
    let around = surroundings.observations(elapsed_s, session_s, &lanes, waits);
    let work = work(plan, &reports);
    let latency = merge(reports.iter().filter_map(|report| report.record.latency.as_ref()));
    let mut responses = responses(plan, elapsed_s, seconds(end_ns - done_ns.min(end_ns)), &work, &latency);
    if !embedded {
        responses.extend(client_cpu(&reports, &work));
    }
    Observations {
        connections: plan.connections,
        responses,
        work,
        latencies: if plan.latencies { latencies(plan, &reports, latency) } else { Vec::new() },
        series: vec![throughput(plan, &reports, elapsed_s)],
        load: health(&reports, session_s, around.load.run_delay_share),
        ..around
    }
}

fn work(plan: &LoadPlan, reports: &[&ClientReport]) -> Work {
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
fn latencies(plan: &LoadPlan, reports: &[&ClientReport], latency: Histogram) -> Vec<Latency> {
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
fn client_cpu(reports: &[&ClientReport], work: &Work) -> Option<Response> {
    let cpu_ns: u64 = reports.iter().map(|report| report.times.cpu_ns).sum();
    let us = cpu_ns as f64 / 1e3 / work.transactions as f64;
    (work.transactions > 0).then(|| Response::lower("client_cpu", "us/transaction", us))
}

/// Waits on the client's side: for the next arrival, and for connections that are not done yet.
fn client_waits(reports: &[&ClientReport], end_ns: u64) -> Vec<Wait> {
    let sum = |part: fn(&ClientReport) -> ClientWait| {
        reports.iter().map(|report| part(report)).fold(ClientWait::default(), |sum, wait| ClientWait {
            count: sum.count + wait.count,
            resource_ns: sum.resource_ns + wait.resource_ns,
            signal_ns: sum.signal_ns + wait.signal_ns,
        })
    };
    let arrival = sum(|report| report.arrival);
    let mut others = sum(|report| report.others);
    others.resource_ns += reports.iter().map(|report| end_ns - report.end_ns).sum::<u64>();
    let wait = |(name, wait): (&str, ClientWait)| {
        let (resource_s, signal_s) = (seconds(wait.resource_ns), seconds(wait.signal_ns));
        Wait::counted(name, WaitClass::Client, wait.count.max(1), resource_s, signal_s)
    };
    [("ARRIVAL", arrival), ("CONNECTION_DONE", others)].into_iter().filter_map(wait).collect()
}

fn health(reports: &[&ClientReport], session_s: f64, run_delay_share: f64) -> LoadHealth {
    let sum = |part: fn(&ClientReport) -> u64| reports.iter().map(|report| part(report)).sum::<u64>();
    let generator_s = seconds(sum(|report| report.record.generator_ns));
    LoadHealth {
        client_share: if session_s > 0.0 { generator_s / session_s } else { 0.0 },
        run_delay_share,
        sends_intended: sum(|report| report.record.sends_intended),
        sends_missed: sum(|report| report.record.sends_missed),
        send_delay_us_max: reports.iter().map(|report| report.record.send_delay_ns_max).max().unwrap_or(0)
            / 1000,
    }
}

/// Units a second in each interval: warm-up before second 0, then the measurement.
fn throughput(plan: &LoadPlan, reports: &[&ClientReport], elapsed_s: f64) -> Series {
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
