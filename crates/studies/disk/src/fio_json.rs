//! A recorded run in the JSON that `fio --output-format=json` writes.
//!
//! Names, types and units are fio's (3.33); what we do not measure is left out. A job is one stream
//! of one trial, or all those of a trial whose jobs have `group_reporting`; they come in the order
//! of the experiment, not in that in which trials were run. Our latency counts from submission (in
//! an open loop from the intended start) to the end, which fio calls `lat_ns`; tools look at
//! `clat_ns` more often, so that both have it.

use crate::STREAMS;
use disk_io::Direction;
use observations::{
    ConfigurationRecord, DeviceUse, Histogram, Observations, Recording, TrialRecord, order,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The percentiles that fio gives.
const PERCENTILES: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];

/// fio gives a failed job the error number; which one it was is not recorded.
const EIO: i32 = 5;

/// The whole document. `grouped`: the job of each stream that has `group_reporting`, by the
/// stream's name.
pub fn fio_json(recording: &Recording, grouped: &BTreeMap<String, String>) -> Value {
    let run = &recording.run;
    let mut trials: Vec<(&TrialRecord, &Observations)> = recording.done().collect();
    order::by_key(&mut trials, &|(trial, _)| (trial.block, trial.configuration));
    let mut jobs: Vec<Job<'_>> = Vec::new();
    for (group, (trial, observations)) in trials.iter().enumerate() {
        let Some(of) = recording.configurations.get(trial.configuration) else { continue };
        // Where the job is that sums up its group.
        let mut sum: Option<usize> = None;
        for stream in Stream::all(of, observations) {
            let name = stream.name.clone().unwrap_or_else(|| run.name.clone());
            let (job, figures) = (grouped.get(&name), stream.figures(observations));
            if let Some(at) = sum
                && job.is_some()
            {
                jobs[at].figures.add(&figures);
            } else {
                sum = sum.or(job.map(|_| jobs.len()));
                let name = job.cloned().unwrap_or(name);
                jobs.push(Job { of, name, group, options: stream.options, figures });
            }
        }
    }
    // Streams of the same name in several configurations get its label as a suffix.
    let jobs: Vec<Value> = jobs
        .iter()
        .map(|job| {
            job.json(jobs.iter().any(|other| other.of.key != job.of.key && other.name == job.name))
        })
        .collect();
    let ended_ms =
        trials.iter().map(|(trial, _)| trial.started_ms + (trial.wall_s * 1e3) as i64).max();
    let ended_ms = ended_ms.unwrap_or(run.started_ms);
    json!({
        "fio version": format!("steelbench {}", run.steelbench),
        "timestamp": ended_ms / 1000,
        "timestamp_ms": ended_ms,
        "jobs": jobs,
        "disk_util": disk_util(trials.iter().map(|(_, observations)| *observations)),
    })
}

/// An entry of the document.
struct Job<'a> {
    of: &'a ConfigurationRecord,
    name: String,
    /// Number of the trial.
    group: usize,
    options: Map<String, Value>,
    figures: Figures,
}

impl Job<'_> {
    /// `with_levels`: whether its name alone is not enough.
    fn json(&self, with_levels: bool) -> Value {
        let Figures { failed, elapsed_s, reads, writes, syncs } = &self.figures;
        let name = if with_levels {
            format!("{} {}", self.name, self.of.label)
        } else {
            self.name.clone()
        };
        json!({
            "jobname": name,
            "groupid": self.group,
            "error": if *failed { EIO } else { 0 },
            "eta": 0,
            "elapsed": elapsed_s.ceil() as u64,
            "job options": self.options,
            "read": direction(reads, *elapsed_s),
            "write": direction(writes, *elapsed_s),
            "trim": direction(&Direction::default(), *elapsed_s),
            "sync": { "total_ios": syncs.len(), "lat_ns": distribution(syncs) },
            "job_runtime": (elapsed_s * 1e3).round() as u64,
        })
    }
}

/// A stream of a trial.
struct Stream {
    /// The name; `None` for an unnamed stream that is the only one of its trial.
    name: Option<String>,
    /// True if the trial has several: their names prefix those of responses and latencies.
    several: bool,
    /// The job's options, in fio's terms.
    options: Map<String, Value>,
}

impl Stream {
    /// The streams of a trial, in their order.
    fn all(configuration: &ConfigurationRecord, observations: &Observations) -> Vec<Self> {
        let texts: Vec<String> = configuration.get(STREAMS.path()).unwrap_or_default();
        let options = |name: &str| {
            let text = texts.iter().find(|text| text.split_whitespace().next() == Some(name));
            options(
                text.iter()
                    .flat_map(|text| text.split_whitespace())
                    .filter_map(|word| word.split_once('=')),
            )
        };
        let mut names: Vec<&str> = Vec::new();
        for latency in &observations.latencies {
            if let Some((stream, _)) =
                latency.name.rsplit_once(": ").filter(|(name, _)| !names.contains(name))
            {
                names.push(stream);
            }
        }
        if names.is_empty() {
            let name =
                texts.first().and_then(|text| text.split_whitespace().next()).map(str::to_owned);
            let settings = configuration.settings.iter();
            let flat: Vec<(&str, String)> = settings
                .filter_map(|(path, value)| {
                    Some((path.strip_prefix("workload.")?, value.to_string()))
                })
                .collect();
            let flat = flat.iter().map(|(key, value)| (*key, value.as_str()));
            let options = name.as_deref().map_or_else(|| self::options(flat), options);
            return vec![Self { name, several: false, options }];
        }
        names
            .iter()
            .map(|name| Self {
                name: Some((*name).to_owned()),
                several: true,
                options: options(name),
            })
            .collect()
    }

    fn figures(&self, observations: &Observations) -> Figures {
        let elapsed_s = self.response(observations, "elapsed").unwrap_or(observations.elapsed_s);
        let bandwidth = self.response(observations, "bandwidth");
        let failed = bandwidth.is_none();
        let histogram = |name: &str| {
            let name = self.named(name, ": ");
            let found = observations.latencies.iter().find(|latency| latency.name == name);
            // A stream of which a file failed has no figures.
            found.filter(|_| !failed).map(|latency| latency.histogram.clone()).unwrap_or_default()
        };
        let (reads, writes) = (histogram("read"), histogram("write"));
        let bytes = (bandwidth.unwrap_or(0.0) * 1e6 * elapsed_s).round();
        // Reads and writes of a stream have the same sizes, or sizes drawn from the same range.
        let ios = (reads.len() + writes.len()).max(1) as f64;
        let direction = |latency: Histogram| {
            let bytes = (bytes * latency.len() as f64 / ios).round() as u64;
            Direction { bytes, latency, service: None }
        };
        let (reads, writes) = (direction(reads), direction(writes));
        Figures { failed, elapsed_s, reads, writes, syncs: histogram("sync") }
    }

    /// Returns the name of the figure among those of the trial.
    fn named(&self, figure: &str, separator: &str) -> String {
        let stream = self.name.as_ref().filter(|_| self.several);
        stream.map_or_else(|| figure.to_owned(), |stream| format!("{stream}{separator}{figure}"))
    }

    fn response(&self, observations: &Observations, name: &str) -> Option<f64> {
        let name = self.named(name, ".");
        let found = observations.responses.iter().find(|response| response.name == name);
        found.map(|response| response.value)
    }
}

/// Figures of a stream, or of all streams of a group.
struct Figures {
    failed: bool,
    elapsed_s: f64,
    reads: Direction,
    writes: Direction,
    syncs: Histogram,
}

impl Figures {
    /// Adds what another stream did at the same time.
    fn add(&mut self, other: &Self) {
        self.failed |= other.failed;
        self.elapsed_s = self.elapsed_s.max(other.elapsed_s);
        self.reads.add(&other.reads);
        self.writes.add(&other.writes);
        self.syncs.merge(&other.syncs);
    }
}

/// Settings by fio's names, all as text.
fn options<'a>(settings: impl Iterator<Item = (&'a str, &'a str)>) -> Map<String, Value> {
    settings
        .filter_map(|(key, value)| {
            let (key, value) = match key {
                "pattern" => {
                    let short = value
                        .replace("random-", "rand")
                        .replace("sequential-", "")
                        .replace("mixed", "rw");
                    ("rw", short)
                }
                "block_size" => ("bs", value.to_owned()),
                "queue_depth" => ("iodepth", value.to_owned()),
                "threads" => ("numjobs", value.to_owned()),
                "direct" => ("direct", u8::from(value == "true").to_string()),
                _ => return None,
            };
            Some((key.to_owned(), Value::from(value)))
        })
        .collect()
}

/// The section of reads, writes or trims.
fn direction(Direction { bytes, latency, .. }: &Direction, elapsed_s: f64) -> Value {
    let (ios, used) = (latency.len(), !latency.is_empty() && elapsed_s > 0.0);
    let rate = |amount: f64| if used { amount / elapsed_s } else { 0.0 };
    let runtime_ms = if used { (elapsed_s * 1e3).round() as u64 } else { 0 };
    let with_percentiles = distribution(latency);
    // fio gives percentiles of one of the two.
    let mut without = with_percentiles.clone();
    if let Some(fields) = without.as_object_mut() {
        fields.remove("percentile");
    }
    json!({
        "io_bytes": bytes,
        "io_kbytes": bytes / 1024,
        "bw_bytes": rate(*bytes as f64) as u64,
        "bw": (rate(*bytes as f64) / 1024.0) as u64,
        "iops": rate(ios as f64),
        "runtime": runtime_ms,
        "total_ios": ios,
        "clat_ns": with_percentiles,
        "lat_ns": without,
    })
}

/// A distribution in nanoseconds; without percentiles when it is empty, as fio has it.
fn distribution(histogram: &Histogram) -> Value {
    let count = histogram.len();
    if count == 0 {
        return json!({ "min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0 });
    }
    let (min, mean, max) = histogram.min_mean_max_ns();
    let percentiles: Map<String, Value> = PERCENTILES
        .iter()
        .map(|percentile| (format!("{percentile:.6}"), histogram.percentile_ns(*percentile).into()))
        .collect();
    json!({
        "min": min,
        "max": max,
        "mean": mean,
        "stddev": stddev(histogram, mean),
        "N": count,
        "percentile": percentiles,
    })
}

/// Standard deviation of a sample, as fio has it.
fn stddev(histogram: &Histogram, mean: f64) -> f64 {
    let count = histogram.len();
    let squares: f64 = Vec::from(histogram.clone())
        .iter()
        .map(|(value, count)| (*value as f64 - mean).powi(2) * *count as f64)
        .sum();
    if count > 1 { (squares / (count - 1) as f64).sqrt() } else { 0.0 }
}

/// Use of each device, summed over all trials.
fn disk_util<'a>(trials: impl Iterator<Item = &'a Observations>) -> Vec<Value> {
    let mut devices: BTreeMap<&str, Vec<&DeviceUse>> = BTreeMap::new();
    for device in trials.flat_map(|observations| &observations.devices) {
        devices.entry(&device.device).or_default().push(device);
    }
    let devices = devices.into_iter().map(|(name, uses)| {
        let count = |of: fn(&DeviceUse) -> u64| uses.iter().map(|device| of(device)).sum::<u64>();
        let seconds = |of: fn(&DeviceUse) -> f64| uses.iter().map(|device| of(device)).sum::<f64>();
        let ms = |of: fn(&DeviceUse) -> f64| (seconds(of) * 1e3).round() as u64;
        let elapsed_s = seconds(|device| device.elapsed_s);
        let busy = if elapsed_s > 0.0 { seconds(|device| device.busy_s) / elapsed_s } else { 0.0 };
        json!({
            "name": name,
            "read_ios": count(|device| device.reads),
            "write_ios": count(|device| device.writes),
            "read_ticks": ms(|device| device.read_s),
            "write_ticks": ms(|device| device.write_s),
            "in_queue": ms(|device| device.queue_s),
            "util": (busy * 100.0).min(100.0),
        })
    });
    devices.collect()
}
