//! Starts the load threads, lets them go together, watches them, and adds up what they saw.

use super::Workload;
use super::client::Client;
use super::recorder::ClientReport;
use super::shared::Shared;
use super::{LoadPlan, outcome};
use crate::{ProbeError, Progress, TrialContext};
use engines::{CacheState, EngineError};
use observations::{Mark, MarkKind, Observations, Response};
use observe::MachineMonitor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How often the live figures are reported.
const REPORT_EVERY: Duration = Duration::from_millis(100);

/// Runs a load and returns what was seen. `workload` makes the transactions of a connection.
///
/// # Errors
/// The first error of any connection; the others stop then.
pub fn drive<W: Workload>(
    context: &TrialContext<'_>,
    plan: &LoadPlan,
    workload: impl Fn(u32) -> W + Sync,
) -> Result<Observations, ProbeError> {
    let shared = Shared::new(context.instance, context.cancel, plan.connections);
    let mut collector = context.instance.wait_collector();
    let (sender, receiver) = channel();
    std::thread::scope(|scope| {
        for index in 0..plan.connections {
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
        let prepared = context.instance.settle(plan.cache).and_then(|report| {
            collector.start()?;
            Ok(report)
        });
        if prepared.is_err() {
            shared.fail();
        }
        let monitor = MachineMonitor::start();
        shared.together.wait(); // go
        let reports = watch(&receiver, &shared, plan, context);
        let machine = monitor.stop();
        let cache = prepared?;
        let reports = reports?;
        let collected = collector.stop()?;
        let mut observations = outcome::add_up(plan, &reports, collected);
        let space_bytes = context.instance.space_bytes();
        observations.responses.push(Response::lower("space", "MB", space_bytes as f64 / 1e6));
        observations.machine = machine;
        observations.synthetic = context.capabilities.synthetic;
        if !cache.verified {
            observations.marks.push(cache_mark(plan.cache, &cache));
        }
        Ok(observations)
    })
}

fn cache_mark(wanted: CacheState, report: &engines::CacheReport) -> Mark {
    let resident =
        report.resident_bytes.map_or_else(|| "an unknown part".into(), |bytes| format!("{bytes} bytes"));
    let detail =
        format!("cache = {wanted:?} was asked for, but {resident} of {} are in memory", report.file_bytes);
    Mark { kind: MarkKind::CacheState, detail: detail.to_lowercase() }
}

/// One thread. It passes every barrier, whatever happens, so that nobody waits for it in vain.
fn run_client<W: Workload>(
    shared: &Shared<'_>,
    plan: &LoadPlan,
    index: u32,
    workload: impl Fn(u32) -> W,
) -> Result<ClientReport, ProbeError> {
    let mut client = guarded(shared, || {
        let mut client = Client::connect(shared, plan, index, workload(index))?;
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
        Ok(client) => client.flush(waited_from),
        Err(_) => Ok(()),
    });
    let client = client?;
    measured?;
    flushed?;
    Ok(client.into_report())
}

/// Runs a step of a thread; an error or panic of one makes the others stop.
fn guarded<T>(shared: &Shared<'_>, step: impl FnOnce() -> Result<T, EngineError>) -> Result<T, ProbeError> {
    let result = catch_unwind(AssertUnwindSafe(step)).map_err(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        ProbeError::Panicked(text.unwrap_or_else(|| "no message".into()))
    });
    let result = result.and_then(|result| result.map_err(ProbeError::from));
    if result.is_err() {
        shared.fail();
    }
    result
}

/// Waits for the threads' reports and tells how they advance. An error of a thread's own goes
/// before the "stopped on request" of those that stopped because of it.
fn watch(
    receiver: &Receiver<Result<ClientReport, ProbeError>>,
    shared: &Shared<'_>,
    plan: &LoadPlan,
    context: &TrialContext<'_>,
) -> Result<Vec<ClientReport>, ProbeError> {
    let (start, mut last) = (Instant::now(), (0.0, 0));
    let (mut reports, mut failure) = (Vec::new(), None);
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
                (context.progress)(progress(plan, elapsed_s, units, last));
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
    }
}
