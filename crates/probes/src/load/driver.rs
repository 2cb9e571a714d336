//! Starts the load threads, lets them go together, watches them, and adds up what they saw.

use super::Workload;
use super::client::Client;
use super::recorder::ClientReport;
use super::shared::Shared;
use super::{LoadPlan, outcome};
use crate::sampling::Sampling;
use crate::{ProbeError, Progress, TrialContext};
use engines::{CacheState, ConnectionSet, EngineError};
use observations::{MachineLoad, Observations, Response, Warning, WarningKind};
use observe::MachineMonitor;
use observe::devices::DeviceMonitor;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How often the live figures are reported.
const REPORT_EVERY: Duration = Duration::from_millis(100);

/// What a thread hands over: what it saw, and its connections, still open.
type Finished = (ClientReport, Box<dyn ConnectionSet>);

/// Runs a load and returns what was seen. `workload` makes the transactions of a connection.
///
/// # Errors
/// The first error of any connection; the others stop then.
pub fn drive<W: Workload>(
    context: &TrialContext<'_>,
    plan: &LoadPlan,
    workload: impl Fn(u32) -> W + Sync,
) -> Result<Observations, ProbeError> {
    let embedded = context.capabilities.embedded;
    let threads = if embedded { plan.connections } else { plan.threads.clamp(1, plan.connections) };
    let shared = Shared::new(context.instance, context.cancel, embedded, threads);
    let mut collector = context.instance.wait_collector();
    // A server may have to be started anew for it; connections would not survive that.
    let settled = if embedded { None } else { Some(context.instance.settle(plan.cache)?) };
    let (sender, receiver) = channel();
    std::thread::scope(|scope| {
        for index in 0..threads {
            let (sender, shared, workload) = (sender.clone(), &shared, &workload);
            scope.spawn(move || {
                // The receiver lives until every thread has sent.
                let _ = sender.send(run_client(shared, plan, index, workload));
            });
        }
        drop(sender);
        if plan.warmup_s > 0.0 {
            (context.progress)(progress(plan, -plan.warmup_s, 0, (0.0, 0)));
        }
        shared.together.wait(); // connected and warmed up
        let settled = settled.map_or_else(|| context.instance.settle(plan.cache), Ok);
        let prepared = settled.and_then(|report| {
            collector.start()?;
            Ok(report)
        });
        if prepared.is_err() {
            shared.fail();
        }
        let mut devices = watch_devices(context);
        let sampling = Sampling::start(context);
        let monitor = MachineMonitor::start();
        devices.start();
        shared.together.wait(); // go
        let finished = watch(&receiver, &shared, plan, context);
        let sampled = sampling.stop();
        let machine = monitor.stop();
        let devices = devices.stop();
        let cache = prepared?;
        // What a server knows of a connection it forgets when that is closed.
        let (reports, connections): (Vec<_>, Vec<_>) = finished?.into_iter().unzip();
        let collected = collector.stop()?;
        drop(connections);
        let server_cpu_s = collected.server_cpu_s;
        let mut observations = outcome::add_up(plan, &reports, collected, embedded);
        if let Some(space_bytes) = context.instance.space_bytes() {
            observations.responses.push(Response::lower("space", "MB", space_bytes as f64 / 1e6));
        }
        let lost = context.instance.lost_observations().into_iter();
        observations.warnings.extend(lost.map(|detail| Warning { kind: WarningKind::NotObserved, detail }));
        let own_s = machine.own_s + server_cpu_s;
        // The kernel counts a machine's time in ticks, a process's in nanoseconds.
        observations.machine = MachineLoad { own_s, busy_s: machine.busy_s.max(own_s), ..machine };
        observations.devices = devices;
        observations.synthetic = context.capabilities.synthetic;
        if !cache.verified {
            observations.warnings.push(cache_warning(plan.cache, &cache));
        }
        sampled.note(&mut observations);
        Ok(observations)
    })
}

pub fn cache_warning(wanted: CacheState, report: &engines::CacheReport) -> Warning {
    let resident =
        report.resident_bytes.map_or_else(|| "an unknown part".into(), |bytes| format!("{bytes} bytes"));
    let detail =
        format!("cache = {wanted:?} was asked for, but {resident} of {} are in memory", report.file_bytes);
    Warning { kind: WarningKind::CacheState, detail: detail.to_lowercase() }
}

/// The devices under the target; none where its files cannot be seen, because they are elsewhere.
fn watch_devices(context: &TrialContext<'_>) -> DeviceMonitor {
    let visible = context.instance.space_bytes().is_some();
    DeviceMonitor::find(if visible { context.storage } else { &[] })
}

/// One thread. It passes every barrier, whatever happens, so that nobody waits for it in vain.
fn run_client<W: Workload>(
    shared: &Shared<'_>,
    plan: &LoadPlan,
    index: u32,
    workload: impl Fn(u32) -> W,
) -> Result<Finished, ProbeError> {
    let mut client = guarded(shared, || {
        let connections = share(plan.connections, index, shared.threads);
        let mut client = Client::connect(shared, plan, (index, connections), workload)?;
        client.warm_up()?;
        Ok(client)
    });
    shared.together.wait(); // connected and warmed up
    let before_go = client.as_ref().map(Client::thread_times).unwrap_or_default();
    shared.together.wait(); // go
    let measured = guarded(shared, || match &mut client {
        Ok(client) => client.measure(before_go),
        Err(_) => Ok(()),
    });
    let waited_from = client.as_ref().map(Client::thread_times).unwrap_or_default();
    shared.all_done.wait();
    let flushed = guarded(shared, || match &mut client {
        Ok(client) => client.flush(waited_from).map_err(ProbeError::from),
        Err(_) => Ok(()),
    });
    let client = client?;
    measured?;
    flushed?;
    Ok(client.finish())
}

/// The connections of one of so many threads: evenly, the first ones take the remainder.
fn share(connections: u32, index: u32, threads: u32) -> Range<u32> {
    let start = |index: u32| index * (connections / threads) + index.min(connections % threads);
    start(index)..start(index + 1)
}

/// Runs a step of a thread; an error or panic of one makes the others stop.
fn guarded<T>(shared: &Shared<'_>, step: impl FnOnce() -> Result<T, ProbeError>) -> Result<T, ProbeError> {
    let result = catch_unwind(AssertUnwindSafe(step)).map_err(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        ProbeError::Panicked(text.unwrap_or_else(|| "no message".into()))
    });
    let result = result.and_then(|result| result);
    if result.is_err() {
        shared.fail();
    }
    result
}

/// Waits for the threads' reports and tells how they advance. An error of a thread's own goes
/// before the "stopped on request" of those that stopped because of it.
fn watch(
    receiver: &Receiver<Result<Finished, ProbeError>>,
    shared: &Shared<'_>,
    plan: &LoadPlan,
    context: &TrialContext<'_>,
) -> Result<Vec<Finished>, ProbeError> {
    let (start, mut last) = (Instant::now(), (0.0, 0));
    let (mut reports, mut failure) = (Vec::new(), None);
    let mut latency_p99_ns = None;
    loop {
        match receiver.recv_timeout(REPORT_EVERY) {
            Ok(Ok(report)) => reports.push(report),
            Ok(Err(error)) => {
                if failure.as_ref().is_none_or(is_cancelled) {
                    failure = Some(error);
                }
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                let elapsed_s = start.elapsed().as_secs_f64();
                let units = shared.units();
                // Adding up many threads' latencies takes a millisecond: once a second is enough for the eye.
                if elapsed_s.floor() > last.0 {
                    latency_p99_ns = shared.latency_p99_ns();
                }
                (context.progress)(Progress { latency_p99_ns, ..progress(plan, elapsed_s, units, last) });
                last = (elapsed_s, units);
            }
        }
    }
    failure.map_or(Ok(reports), Err)
}

fn is_cancelled(error: &ProbeError) -> bool {
    matches!(error, ProbeError::Engine(EngineError::Cancelled))
}

/// `last`: seconds and units of the report before.
fn progress(plan: &LoadPlan, elapsed_s: f64, units: u64, last: (f64, u64)) -> Progress {
    let by_units = plan.units.map(|all| units as f64 / all.max(1) as f64);
    let by_time = plan.duration_s.map(|seconds| elapsed_s / seconds);
    Progress {
        elapsed_s,
        fraction: by_units.or(by_time).unwrap_or(0.0).min(1.0),
        rate: (units - last.1) as f64 / (elapsed_s - last.0).max(1e-9),
        unit: plan.rate_unit,
        latency_p99_ns: None,
    }
}
