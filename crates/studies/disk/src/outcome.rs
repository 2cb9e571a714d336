//! From what the I/O engine saw to the observations of the trial.

use crate::agreement::device_agreement;
use crate::settings::{DIRECT, DURATION, ON, QUEUE_DEPTH, WARMUP};
use crate::streams::StreamPlan;
use disk_io::{Direction, DiskError, IoFailure, Outcome, Sends, StreamOutcome};
use engine::Role;
use experiment::Configuration;
use experiment::common::OBSERVE_INTERVAL;
use observations::{
    Amounts, DeviceUse, Histogram, Latency, LoadHealth, Observations, Operation, Response, Series,
    Wait, WaitClass, Warning, WarningKind, Work, wait_type,
};
use probe::ProbeError;
use probe::load::add_intervals;
use probe::measure::{Surroundings, connection_done, seconds};

/// Observations of a trial.
pub(crate) struct DiskTrial<'a> {
    pub configuration: &'a Configuration,
    pub streams: &'a [StreamPlan],
    pub outcome: &'a Outcome,
}

impl DiskTrial<'_> {
    /// The observations. A stream with a failed file has no figures, and then the totals of all
    /// streams are missing too.
    ///
    /// # Errors
    /// When no stream is left.
    pub fn observations(&self, surroundings: Surroundings) -> Result<Observations, ProbeError> {
        let outcome = self.outcome;
        let failures: Vec<&IoFailure> =
            outcome.streams.iter().flat_map(|stream| &stream.failures).collect();
        let complete = failures.is_empty();
        if outcome.streams.iter().all(|stream| !stream.failures.is_empty())
            && let Some(first) = failures.first()
        {
            return Err(ProbeError::study(DiskError::from((*first).clone())));
        }
        let all = together(&outcome.streams);
        let threads = outcome.threads.iter().map(|thread| thread.used);
        let files = self.files();
        let waits = self.waits(&files);
        let around =
            surroundings.observations(outcome.elapsed_s, threads.len() as u32, threads, waits);
        let warning = |kind, detail: String| Warning { kind, detail };
        let mut warnings = around.warnings;
        warnings
            .extend(outcome.notes.iter().map(|note| warning(WarningKind::Fallback, note.clone())));
        warnings.extend(
            failures.iter().map(|failure| warning(WarningKind::IoErrors, failure.to_string())),
        );
        let series = self.series();
        if complete && self.streams.iter().all(StreamPlan::is_closed) {
            warnings.extend(not_steady(&series[0], outcome.elapsed_s));
        }
        if complete {
            warnings.extend(self.device_warning(&all, &around.devices));
        }
        // All of a load thread's CPU is for its I/O: there is no share of the client's own.
        let sends: Vec<Sends> = outcome.streams.iter().filter_map(|stream| stream.sends).collect();
        let figures = |of: fn(&Sends) -> u64| sends.iter().map(of);
        // With streams without a schedule, the share of a schedule that was done is unknown.
        let all_open = sends.len() == outcome.streams.len();
        let load = LoadHealth {
            sends_intended: figures(|sends| sends.intended).sum(),
            sends_missed: figures(|sends| sends.missed).sum(),
            send_delay_us_max: figures(|sends| sends.delay_ns_max).max().unwrap_or(0) / 1000,
            sends_late: all_open.then(|| figures(|sends| sends.late).sum()),
            schedule_s: figures(|sends| sends.schedule_ns).max().filter(|_| all_open).map(seconds),
            free_until_s: figures(|sends| sends.free_until_ns)
                .min()
                .filter(|_| all_open)
                .map(seconds),
            ..around.load
        };
        Ok(Observations {
            work: Work {
                unit: "I/O".into(),
                amount: ios(&all),
                errors: failures.len() as u64,
                ..Work::default()
            },
            responses: self.responses(&all, complete.then_some(around.machine.own_s)),
            latencies: self.latencies(&all),
            operations: files
                .into_iter()
                .map(|part| part.operation)
                .filter(|part| part.count > 0)
                .collect(),
            series,
            load,
            warnings,
            ..around
        })
    }

    /// The outcomes in the order of the plans: those with a share come last in the load.
    fn in_order(&self) -> impl Iterator<Item = (&StreamPlan, &StreamOutcome)> {
        self.streams.iter().filter_map(move |plan| {
            Some((plan, self.outcome.streams.iter().find(|stream| stream.name == plan.name)?))
        })
    }

    /// Each stream by itself, where there are several.
    fn each(&self) -> impl Iterator<Item = &StreamOutcome> {
        self.in_order().map(|(_, stream)| stream).filter(|_| self.streams.len() > 1)
    }

    /// `own_s`: processor time, where all streams are complete. The kernel's own threads work for
    /// the I/O of a process on its account.
    fn responses(&self, all: &StreamOutcome, own_s: Option<f64>) -> Vec<Response> {
        let elapsed_s = self.outcome.elapsed_s;
        let mut all = own_s.map_or_else(Vec::new, |s| responses(all, "", elapsed_s, Some(s)));
        for stream in self.each().filter(|stream| stream.failures.is_empty()) {
            // One that was done early had less time; the others end together.
            let early = stream.elapsed_s < self.configuration.get(DURATION);
            let own_s = if early { stream.elapsed_s } else { elapsed_s };
            all.extend(responses(stream, &format!("{}.", stream.name), own_s, None));
        }
        all
    }

    /// Latency of all I/Os, of each direction, and of each direction of each stream where there are
    /// several.
    fn latencies(&self, all: &StreamOutcome) -> Vec<Latency> {
        let parts = [&all.reads.service, &all.writes.service];
        let parts: Vec<&Histogram> = parts.into_iter().flatten().collect();
        let service = (!parts.is_empty()).then(|| Histogram::sum(&parts));
        let of = |prefix: String, stream: &StreamOutcome| -> Vec<Latency> {
            let directions =
                directions(stream).into_iter().filter(|(_, part)| !part.latency.is_empty());
            directions
                .map(|(name, part)| Latency {
                    name: format!("{prefix}{}", name.to_lowercase()),
                    histogram: part.latency.clone(),
                })
                .collect()
        };
        let mut latencies = vec![Latency { name: "I/O".into(), histogram: latency(all) }];
        latencies.extend(service.map(|histogram| Latency { name: "service".into(), histogram }));
        latencies.extend(of(String::new(), all));
        latencies.extend(self.each().flat_map(|stream| of(format!("{}: ", stream.name), stream)));
        latencies
    }

    /// I/Os and megabytes a second of all streams, and I/Os a second of each where there are
    /// several.
    fn series(&self) -> Vec<Series> {
        let series = |name: &str, unit: &str, scale: f64, warmup: &[u64], measured: &[u64]| {
            Series::of_amounts(
                name,
                unit,
                scale,
                self.configuration.get(OBSERVE_INTERVAL),
                Amounts { by_interval: warmup, covered_s: self.configuration.get(WARMUP) },
                Amounts { by_interval: measured, covered_s: self.outcome.elapsed_s },
            )
        };
        let sum = |part: fn(&StreamOutcome) -> &[u64]| {
            add_intervals(self.outcome.streams.iter().map(part))
        };
        let (ios_before, ios) = (sum(|s| &s.warmup_ios_by_interval), sum(|s| &s.ios_by_interval));
        let (bytes_before, bytes) =
            (sum(|s| &s.warmup_bytes_by_interval), sum(|s| &s.bytes_by_interval));
        let mut all = vec![
            series("iops", "I/Os/s", 1.0, &ios_before, &ios),
            series("bandwidth", "MB/s", 1e-6, &bytes_before, &bytes),
        ];
        all.extend(self.each().map(|stream| {
            let name = format!("{}.iops", stream.name);
            series(&name, "I/Os/s", 1.0, &stream.warmup_ios_by_interval, &stream.ios_by_interval)
        }));
        all
    }

    /// Compares the kernel's counts with our own, where no page cache is between.
    fn device_warning(&self, all: &StreamOutcome, devices: &[DeviceUse]) -> Option<Warning> {
        let direct = self.streams.iter().all(|plan| plan.get(DIRECT));
        let (read, written) = (all.reads.bytes, all.writes.bytes);
        let disagreement = direct.then(|| device_agreement(read, written, devices))??;
        Some(Warning { kind: WarningKind::DeviceDisagrees, detail: disagreement.sentence() })
    }

    /// Reads, writes and syncs of each kind of file.
    fn files(&self) -> Vec<FileUse> {
        let mut files: Vec<FileUse> = Vec::new();
        for (plan, stream) in self.in_order() {
            let role = plan.get(ON);
            let classes = match role {
                Role::Log => [WaitClass::Log; 3],
                Role::Data | Role::Backup => {
                    [WaitClass::DataRead, WaitClass::DataWrite, WaitClass::DataWrite]
                }
            };
            for ((direction, part), class) in directions(stream).into_iter().zip(classes) {
                let name = format!("{}_{direction}", role.name().to_uppercase());
                let known = files.iter().position(|file| file.operation.name == name);
                let number = known.unwrap_or(files.len());
                if known.is_none() {
                    let operation = Operation { name, count: 0, bytes: 0, wall_s: 0.0 };
                    files.push(FileUse { operation, class, in_flight_s: 0.0 });
                }
                let FileUse { operation, in_flight_s, .. } = &mut files[number];
                let wall_s = part.latency.min_mean_max_ns().1 / 1e9 * part.latency.len() as f64;
                operation.count += part.latency.len();
                operation.bytes += part.bytes;
                operation.wall_s += wall_s;
                *in_flight_s += wall_s / f64::from(plan.get(QUEUE_DEPTH));
            }
        }
        files
    }

    /// The waits of all threads: for I/O, for the next intended start, and for each other.
    ///
    /// A thread that is neither on a processor, nor in the run queue, nor idle, waits for the I/Os
    /// that it has in flight. With several in flight it is not known for which, so the time is
    /// divided among reads, writes and syncs in proportion to their latencies, summed, each
    /// divided by the queue depth of its stream.
    fn waits(&self, files: &[FileUse]) -> Vec<Wait> {
        let threads = &self.outcome.threads;
        let idle_s: f64 = threads.iter().map(|thread| thread.idle_s).sum();
        let io_s = threads.iter().map(|thread| {
            let times = &thread.used.times;
            let awake_s = seconds(times.cpu_ns + times.run_delay_ns) + thread.idle_s;
            (thread.elapsed_s - awake_s).max(0.0)
        });
        let io_s: f64 = io_s.sum();
        let io_waits: u64 = threads.iter().map(|thread| thread.io_waits).sum();
        let all_s: f64 = files.iter().map(|file| file.in_flight_s).sum();
        let share = |file: &FileUse| if all_s > 0.0 { file.in_flight_s / all_s } else { 0.0 };
        let of_files = files.iter().filter_map(|file| {
            let count = (io_waits as f64 * share(file)).round() as u64;
            Wait::counted(&file.operation.name, file.class, count, io_s * share(file), 0.0)
        });
        let arrival = Wait::counted(wait_type::ARRIVAL, WaitClass::Client, 1, idle_s, 0.0);
        let ends_s = threads.iter().map(|thread| thread.elapsed_s);
        of_files.chain(arrival).chain(connection_done(self.outcome.elapsed_s, ends_s)).collect()
    }
}

/// Use of one kind of file in one direction.
struct FileUse {
    operation: Operation,
    class: WaitClass,
    /// Time in which it was in flight, divided by the queue depth.
    in_flight_s: f64,
}

fn directions(stream: &StreamOutcome) -> [(&'static str, &Direction); 3] {
    [("READ", &stream.reads), ("WRITE", &stream.writes), ("SYNC", &stream.syncs)]
}

/// All these streams as one.
fn together(streams: &[StreamOutcome]) -> StreamOutcome {
    streams.iter().fold(StreamOutcome::default(), |mut sum, stream| {
        sum.reads.add(&stream.reads);
        sum.writes.add(&stream.writes);
        sum.syncs.add(&stream.syncs);
        sum.depth_mean += stream.depth_mean;
        sum
    })
}

/// Number of reads and writes.
fn ios(stream: &StreamOutcome) -> u64 {
    stream.reads.latency.len() + stream.writes.latency.len()
}

/// Latency of reads and writes.
fn latency(stream: &StreamOutcome) -> Histogram {
    Histogram::sum(&[&stream.reads.latency, &stream.writes.latency])
}

/// The responses of a stream, their names behind this prefix.
fn responses(
    stream: &StreamOutcome,
    prefix: &str,
    elapsed_s: f64,
    cpu_s: Option<f64>,
) -> Vec<Response> {
    let named = |name: &str| format!("{prefix}{name}");
    let rate = |amount: u64| if elapsed_s > 0.0 { amount as f64 / elapsed_s } else { 0.0 };
    let higher = |name: &str, unit, value| Response::higher(&named(name), unit, value);
    let (ios, bytes) = (ios(stream), stream.reads.bytes + stream.writes.bytes);
    // Whole I/Os are done.
    let bandwidth = rate(bytes) / 1e6;
    let mut all = vec![
        higher("iops", "I/Os/s", rate(ios)).in_steps_of(rate(1)),
        higher("bandwidth", "MB/s", bandwidth).in_steps_of(bandwidth / ios.max(1) as f64),
    ];
    let figures = ["mean", "min", "p50", "p95", "p99", "p99.9", "max"];
    all.extend(latencies(&named("latency"), &latency(stream), &figures));
    let cpu_s = cpu_s.filter(|_| ios > 0);
    all.extend(cpu_s.map(|s| Response::lower(&named("cpu"), "us/I/O", s * 1e6 / ios as f64)));
    all.push(higher("depth", "I/Os", stream.depth_mean));
    all.push(Response::lower(&named("elapsed"), "s", elapsed_s));
    let mixed = !stream.reads.latency.is_empty() && !stream.writes.latency.is_empty();
    let parts = [
        ("read_iops", "I/Os/s", "read_latency", &stream.reads.latency, mixed),
        ("write_iops", "I/Os/s", "write_latency", &stream.writes.latency, mixed),
        (
            "syncs",
            "syncs/s",
            "sync_latency",
            &stream.syncs.latency,
            !stream.syncs.latency.is_empty(),
        ),
    ];
    for (name, unit, latency_name, latency, _) in parts.into_iter().filter(|(.., shown)| *shown) {
        all.push(higher(name, unit, rate(latency.len())).in_steps_of(rate(1)));
        all.extend(latencies(&named(latency_name), latency, &["mean", "p99"]));
    }
    all
}

/// Figures of a distribution in microseconds; no figures for an empty one.
fn latencies(name: &str, latency: &Histogram, figures: &[&str]) -> Vec<Response> {
    if latency.is_empty() {
        return Vec::new();
    }
    let (min_ns, mean_ns, max_ns) = latency.min_mean_max_ns();
    figures
        .iter()
        .map(|figure| {
            let name = format!("{name}_{figure}");
            let in_bucket = match *figure {
                "mean" => return Response::lower(&name, "us", mean_ns / 1e3),
                "min" => min_ns,
                "max" => max_ns,
                percentile => {
                    let percent = percentile[1..].parse().unwrap_or(100.0);
                    return Response::percentile(&name, "us", 1e3, latency, percent);
                }
            };
            let response = Response::lower(&name, "us", in_bucket as f64 / 1e3);
            response.in_steps_of(Histogram::bucket_ns(in_bucket) as f64 / 1e3)
        })
        .collect()
}

/// A warning where the throughput was not steady at the end; none where the intervals are too few
/// to tell.
fn not_steady(iops: &Series, elapsed_s: f64) -> Option<Warning> {
    let warmup = (-iops.start_s / iops.interval_s).round() as usize;
    let whole = (elapsed_s / iops.interval_s) as usize;
    let measured: Vec<f64> = iops.values.iter().copied().skip(warmup).take(whole).collect();
    (disk_io::steady(&measured) == Some(false)).then(|| {
        let window = &measured[measured.len().saturating_sub(disk_io::STEADY_ROUNDS)..];
        let window: Vec<String> = window.iter().map(|iops| format!("{iops:.0}")).collect();
        let detail =
            format!("IOPS in the last intervals of {} s: {}", iops.interval_s, window.join(", "));
        Warning { kind: WarningKind::NotSteady, detail }
    })
}
