//! From what the I/O engine saw to the observations of the trial.

use super::responses::Done;
use super::streams::StreamPlan;
use super::waits;
use crate::ProbeError;
use crate::load::add_intervals;
use crate::measure::{LaneUse, Surroundings};
use disk_io::{DiskError, IoFailure, Outcome, StreamOutcome, ThreadOutcome};
use observations::{
    Amounts, DeviceUse, Latency, LoadHealth, Observations, Response, Series, Warning, WarningKind, Work,
    device_agreement,
};

/// What was seen of a trial.
pub struct Seen<'a> {
    pub streams: &'a [StreamPlan],
    pub outcome: Outcome,
    pub interval_s: f64,
    /// Of the warm-up, as asked for.
    pub warmup_s: f64,
    /// Of the measurement, as asked for.
    pub duration_s: f64,
}

impl Seen<'_> {
    /// The observations. A stream of which a file failed has no figures of its own, and then there are none of all together.
    ///
    /// # Errors
    /// When no stream is left.
    pub fn observations(self, surroundings: Surroundings) -> Result<Observations, ProbeError> {
        let outcome = &self.outcome;
        let in_order = waits::in_order(self.streams, outcome);
        let whole: Vec<&StreamOutcome> =
            in_order.iter().copied().filter(|stream| stream.failures.is_empty()).collect();
        let failures: Vec<&IoFailure> = outcome.streams.iter().flat_map(|stream| &stream.failures).collect();
        if let Some(first) = failures.first().filter(|_| whole.is_empty()) {
            return Err(DiskError::System(in_words(first)).into());
        }
        let all = Done::of(outcome.streams.iter());
        let lane = |thread: &ThreadOutcome| LaneUse {
            times: thread.used.times,
            preemptions: thread.used.involuntary_switches,
        };
        let lanes: Vec<LaneUse> = outcome.threads.iter().map(lane).collect();
        let session_s = outcome.elapsed_s * lanes.len() as f64;
        let waits = waits::waits(self.streams, outcome);
        let around = surroundings.observations(outcome.elapsed_s, session_s, &lanes, waits);
        let warning = |kind, detail: String| Warning { kind, detail };
        let mut warnings = around.warnings;
        warnings.extend(outcome.notes.iter().map(|note| warning(WarningKind::Fallback, note.clone())));
        warnings.extend(failures.iter().map(|failure| warning(WarningKind::IoErrors, in_words(failure))));
        let series = self.series();
        let complete = failures.is_empty();
        if complete && self.streams.iter().all(StreamPlan::is_closed) {
            warnings.extend(not_steady(&series[0], outcome.elapsed_s));
        }
        if complete {
            warnings.extend(self.device_warning(&all, &around.devices));
        }
        Ok(Observations {
            connections: lanes.len() as u32,
            work: Work {
                unit: "I/O".into(),
                amount: all.ios(),
                errors: failures.len() as u64,
                ..Work::default()
            },
            responses: self.responses(&all, &whole, complete.then_some(around.machine.own_s)),
            latencies: latencies(&all, &in_order),
            operations: waits::operations(self.streams, outcome),
            series,
            load: health(outcome, around.load.run_delay_share),
            warnings,
            ..around
        })
    }

    /// `own_s`: processor time, where all streams are complete. The kernel's own threads work for the I/O of a process on
    /// its account.
    fn responses(&self, all: &Done, whole: &[&StreamOutcome], own_s: Option<f64>) -> Vec<Response> {
        let elapsed_s = self.outcome.elapsed_s;
        let mut responses = own_s.map_or_else(Vec::new, |s| all.responses("", elapsed_s, Some(s)));
        for stream in whole.iter().filter(|_| self.streams.len() > 1) {
            let prefix = format!("{}.", stream.name);
            // One that was done early had less time; the others end together.
            let early = stream.elapsed_s < self.duration_s;
            let own_s = if early { stream.elapsed_s } else { elapsed_s };
            let own = Done::of(std::iter::once(*stream));
            responses.extend(own.responses(&prefix, own_s, None));
        }
        responses
    }

    /// I/Os and megabytes a second of all streams, and I/Os a second of each where there are several.
    fn series(&self) -> Vec<Series> {
        let streams = &self.outcome.streams;
        let elapsed_s = self.outcome.elapsed_s;
        let series = |name: &str, unit: &str, scale: f64, warmup: Vec<u64>, measured: Vec<u64>| {
            Series::of_amounts(
                (name, unit, scale),
                self.interval_s,
                Amounts { by_interval: &warmup, covered_s: self.warmup_s },
                Amounts { by_interval: &measured, covered_s: elapsed_s },
            )
        };
        let sum = |part: fn(&StreamOutcome) -> &[u64]| add_intervals(streams.iter().map(part));
        let mut all = vec![
            series("iops", "I/Os/s", 1.0, sum(|s| &s.warmup_ios_by_interval), sum(|s| &s.ios_by_interval)),
            series(
                "bandwidth",
                "MB/s",
                1e-6,
                sum(|s| &s.warmup_bytes_by_interval),
                sum(|s| &s.bytes_by_interval),
            ),
        ];
        for stream in streams.iter().filter(|_| streams.len() > 1) {
            let (warmup, measured) = (stream.warmup_ios_by_interval.clone(), stream.ios_by_interval.clone());
            all.push(series(&format!("{}.iops", stream.name), "I/Os/s", 1.0, warmup, measured));
        }
        all
    }

    /// Whether the kernel counted what we counted; it does where no page cache is in between.
    fn device_warning(&self, all: &Done, devices: &[DeviceUse]) -> Option<Warning> {
        let direct = self.streams.iter().all(StreamPlan::is_direct);
        let ours = (all.reads.bytes, all.writes.bytes);
        let disagreement = direct.then(|| device_agreement(ours, devices))??;
        Some(Warning { kind: WarningKind::DeviceDisagrees, detail: disagreement.sentence() })
    }
}

fn in_words(failure: &IoFailure) -> String {
    let IoFailure { path, doing, offset, length, message, at_s, .. } = failure;
    format!(
        "{}: {doing} of {length} bytes at {offset}, {at_s:.1} s after the start: {message}",
        path.display()
    )
}

/// A warning where the throughput was not steady at the end; none where the intervals are too few to tell.
fn not_steady(iops: &Series, elapsed_s: f64) -> Option<Warning> {
    let warmup = (-iops.start_s / iops.interval_s).round() as usize;
    let whole = (elapsed_s / iops.interval_s) as usize;
    let measured: Vec<f64> = iops.values.iter().copied().skip(warmup).take(whole).collect();
    (disk_io::steady(&measured) == Some(false)).then(|| {
        let window = &measured[measured.len().saturating_sub(disk_io::STEADY_ROUNDS)..];
        let window: Vec<String> = window.iter().map(|iops| format!("{iops:.0}")).collect();
        let detail = format!("I/Os/s of the last intervals of {} s: {}", iops.interval_s, window.join(", "));
        Warning { kind: WarningKind::NotSteady, detail }
    })
}

/// Latency of all I/Os, of each direction, and of each direction of each stream where there are several.
fn latencies(all: &Done, streams: &[&StreamOutcome]) -> Vec<Latency> {
    let mut latencies = vec![Latency { name: "I/O".into(), histogram: all.latency() }];
    latencies.extend(all.service().map(|histogram| Latency { name: "service".into(), histogram }));
    let mut add = |prefix: &str, directions: [&disk_io::Direction; 3]| {
        for (name, direction) in ["read", "write", "sync"].into_iter().zip(directions) {
            if !direction.latency.is_empty() {
                let histogram = direction.latency.clone();
                latencies.push(Latency { name: format!("{prefix}{name}"), histogram });
            }
        }
    };
    add("", [&all.reads, &all.writes, &all.syncs]);
    for stream in streams.iter().filter(|_| streams.len() > 1) {
        add(&format!("{}: ", stream.name), [&stream.reads, &stream.writes, &stream.syncs]);
    }
    latencies
}

/// All of a load thread's CPU is for its I/O: there is no share of the client's own.
fn health(outcome: &Outcome, run_delay_share: f64) -> LoadHealth {
    let streams = &outcome.streams;
    LoadHealth {
        client_share: 0.0,
        run_delay_share,
        sends_intended: streams.iter().map(|stream| stream.sends_intended).sum(),
        sends_missed: streams.iter().map(|stream| stream.sends_missed).sum(),
        send_delay_us_max: streams.iter().map(|stream| stream.send_delay_ns_max).max().unwrap_or(0) / 1000,
    }
}
