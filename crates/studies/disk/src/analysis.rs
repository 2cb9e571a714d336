//! Results of the disk probe: figures of each configuration, Little's law, the knee.

mod knee;
mod knees;

pub use knee::{Knee, KneeInterval, KneePoint, SearchLevels, knee};
pub use knees::find as findings;

use crate::probe::DiskProbe;
use crate::settings::{
    BLOCK_SIZE, BLOCK_SIZE_MAX, BURST, DIRECT, MIX, ON, PATTERN, Pattern, QUEUE_DEPTH, RATE,
    STREAMS, THREADS,
};
use analysis::estimate::mean;
use analysis::grid::Grid;
use analysis::response::seconds;
use analysis::settings::concurrency_groups;
use analysis::settings::{self, ConfigurationGroup};
use analysis::{
    DeviceFigures, Estimate, ResponseChoice, StorageTest, StorageUse, Summary, Way, response,
};
use engine::file_set::Role as FileRole;
use observations::{
    ConfigurationRecord, Direction, Histogram, Observations, Recording, Role as SettingRole, Roles,
    Value,
};
use probe::Probe;
use serde::Serialize;

/// Summary of the configurations with the disk probe.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DiskSummary {
    /// The configurations that have figures, in the order of the file.
    pub rows: Vec<DiskRow>,
    /// Configurations that differ in threads and queue depth only.
    pub groups: Vec<ConfigurationGroup>,
    /// The points where the groups saturate.
    pub knees: Vec<Knee>,
}

/// Summarises the disk probe; `None` without a completed trial.
pub fn disk(summary: &Summary) -> Option<DiskSummary> {
    let recording = summary.recording;
    let rows: Vec<DiskRow> = settings::with_probe(recording, DiskProbe.declarations().name)
        .filter_map(|position| DiskRow::for_configuration(recording, &summary.grid, position))
        .collect();
    (!rows.is_empty()).then(|| DiskSummary {
        rows,
        groups: groups(recording),
        knees: knee(recording),
    })
}

/// How the trials of the disk probe use storage.
pub const STORAGE: StorageUse =
    StorageUse { test: storage_test, bytes: load_bytes, figures: load_figures };

/// The groups of a recording: configurations with the disk probe that differ in threads and queue
/// depth only.
fn groups(recording: &Recording) -> Vec<ConfigurationGroup> {
    concurrency_groups(recording, DiskProbe.declarations().name)
}

/// `None` of mixed directions, several streams, loads that leave the device idle on purpose, and
/// of I/O that the page cache may serve.
fn storage_test(roles: &Roles, configuration: &ConfigurationRecord) -> Option<StorageTest> {
    let (random, way) = match configuration.get(PATTERN.path())? {
        Pattern::RandomRead => (true, Way::Read),
        Pattern::RandomWrite => (true, Way::Write),
        Pattern::SequentialRead => (false, Way::Read),
        Pattern::SequentialWrite => (false, Way::Write),
        _ => return None,
    };
    let direct: bool = configuration.get(DIRECT.path())?;
    if !is_uniform(configuration) || is_paced(configuration) || !direct {
        return None;
    }
    Some(StorageTest {
        way,
        random,
        block_bytes: configuration.get(BLOCK_SIZE.path())?,
        volume: volume(roles, configuration)?.to_owned(),
        rate: "iops",
        depth: "depth",
    })
}

/// The one volume that the load went to: by its name, or the path of the existing file or device.
fn volume<'c>(roles: &Roles, configuration: &'c ConfigurationRecord) -> Option<&'c str> {
    let place: &[SettingRole] = match configuration.get(ON.path()) {
        Some(FileRole::Log) => &[SettingRole::LogPlace, SettingRole::DataPlace],
        Some(FileRole::Backup) => &[SettingRole::BackupPlace, SettingRole::DataPlace],
        _ => &[SettingRole::DataPlace],
    };
    let setting = roles.paths(place).find_map(|path| configuration.settings.get(path));
    match setting {
        None => Some("default"),
        Some(Value::Text(text)) => Some(text.as_str()),
        Some(Value::List(several)) => match several.as_slice() {
            [Value::Text(text)] => Some(text.as_str()),
            _ => None,
        },
        Some(_) => None,
    }
}

/// Results of a configuration with the disk probe.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DiskRow {
    /// The position in the recording.
    pub configuration: usize,
    /// Short label.
    pub label: String,
    /// Threads; `None` where streams have their own.
    pub threads: Option<u64>,
    /// I/Os that a thread keeps in flight.
    pub queue_depth: Option<u64>,
    /// Trials done.
    pub trials: usize,
    /// All streams together.
    pub all: DiskFigures,
    /// Each stream, where there are several.
    pub streams: Vec<StreamFigures>,
    /// Agreement of depth, rate and latency.
    pub little: Option<Little>,
}

/// Figures of one of several streams.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StreamFigures {
    /// The name.
    pub name: String,
    /// The figures.
    pub figures: DiskFigures,
}

/// The responses of the disk probe that reports show, over trials.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DiskFigures {
    /// I/Os a second.
    pub iops: Option<Estimate>,
    /// Megabytes (10^6) a second.
    pub bandwidth: Option<Estimate>,
    /// Mean latency.
    pub latency_mean: Option<Estimate>,
    /// Latency that 1 % of the I/Os exceed.
    pub latency_p99: Option<Estimate>,
    /// Processor time for each I/O.
    pub cpu: Option<Estimate>,
    /// I/Os in flight.
    pub depth: Option<Estimate>,
    /// Mean latency of syncs.
    pub sync_latency_mean: Option<Estimate>,
}

impl DiskRow {
    /// `None` when no trial of the configuration was done.
    pub(super) fn for_configuration(
        recording: &Recording,
        grid: &Grid<&Observations>,
        position: usize,
    ) -> Option<Self> {
        let (configuration, trials) = (&recording.configurations[position], grid.trials(position));
        trials.first()?;
        let setting_of =
            |path| if has_streams(configuration) { None } else { configuration.get(path) };
        // What goes before `.iops` in the names of responses.
        let names =
            response::names(&trials).into_iter().filter_map(|name| name.strip_suffix(".iops"));
        let streams = names.map(|name| StreamFigures {
            name: name.to_owned(),
            figures: DiskFigures::from_trials(&trials, name),
        });
        Some(Self {
            configuration: position,
            label: configuration.label.clone(),
            threads: setting_of(THREADS.path()),
            queue_depth: setting_of(QUEUE_DEPTH.path()),
            trials: trials.len(),
            all: DiskFigures::from_trials(&trials, ""),
            streams: streams.collect(),
            little: Little::from_trials(&trials),
        })
    }
}

fn has_any(configuration: &ConfigurationRecord, paths: [&str; 2]) -> bool {
    paths.iter().any(|path| configuration.settings.contains_key(*path))
}

/// Returns whether streams with their own settings replace the flat ones.
fn has_streams(configuration: &ConfigurationRecord) -> bool {
    has_any(configuration, [STREAMS.path(), MIX.path()])
}

/// Returns whether I/Os start on schedule, not when there is room: storage is then idle on purpose.
fn is_paced(configuration: &ConfigurationRecord) -> bool {
    has_any(configuration, [RATE.path(), BURST.path()])
}

/// Returns whether all I/Os of a configuration have the size of `workload.block_size`.
fn is_uniform(configuration: &ConfigurationRecord) -> bool {
    !has_streams(configuration) && !configuration.settings.contains_key(BLOCK_SIZE_MAX.path())
}

/// Bytes that a trial of the disk probe read and wrote; `None` where sizes differ and both
/// directions occur.
fn load_bytes(
    configuration: &ConfigurationRecord,
    observations: &Observations,
) -> Option<(u64, u64)> {
    let (reads, writes) = (count(observations, "read"), count(observations, "write"));
    let bandwidth = observations.response("bandwidth");
    let all = || Some((bandwidth? * 1e6 * observations.elapsed_s).round() as u64);
    match (reads, writes) {
        (_, 0) => Some((all()?, 0)),
        (0, _) => Some((0, all()?)),
        _ if is_uniform(configuration) => {
            let block: u64 = configuration.get(BLOCK_SIZE.path())?;
            Some((reads * block, writes * block))
        }
        _ => None,
    }
}

fn count(observations: &Observations, latency: &str) -> u64 {
    observations.latency(latency).map_or(0, Histogram::len)
}

/// Returns the load's own figures.
fn load_figures(trials: &[&Observations]) -> DeviceFigures {
    let rate = |latency: &str, unit: &str| {
        Estimate::over_trials(trials, unit, Direction::HigherIsBetter, |trial| {
            Some(count(trial, latency) as f64 / trial.elapsed_s)
        })
    };
    let latency = |name: &str| {
        Estimate::over_trials(trials, "s", Direction::LowerIsBetter, |trial| {
            trial.mean_latency_s(name)
        })
    };
    let response = |name: &str, factor: f64, unit: &str| {
        let choice = trials.iter().find_map(|trial| ResponseChoice::named(name, trial))?;
        Estimate::over_trials(trials, unit, choice.direction, |trial| {
            Some(choice.value(trial)? * factor)
        })
    };
    DeviceFigures {
        reads: rate("read", "reads/s"),
        writes: rate("write", "writes/s"),
        bytes: response("bandwidth", 1e6, "B/s"),
        read_latency: latency("read"),
        write_latency: latency("write"),
        utilisation: None,
        queue: response("depth", 1.0, "I/Os"),
    }
}

impl DiskFigures {
    /// Figures of one stream, or of all together where its name is empty.
    fn from_trials(trials: &[&Observations], stream: &str) -> Self {
        let prefix = if stream.is_empty() { String::new() } else { format!("{stream}.") };
        let estimate = |name: &str| response::estimate(&format!("{prefix}{name}"), trials);
        Self {
            iops: estimate("iops"),
            bandwidth: estimate("bandwidth"),
            latency_mean: estimate("latency_mean"),
            latency_p99: estimate("latency_p99"),
            cpu: estimate("cpu"),
            depth: estimate("depth"),
            sync_latency_mean: estimate("sync_latency_mean"),
        }
    }
}

/// Beyond this relative difference the figures of a trial do not fit each other: what starts and
/// what is still in flight at the ends of a measurement of some seconds is far less.
pub(crate) const LITTLE_TOLERANCE: f64 = 0.05;

/// Little's law held against the figures of a configuration (means over its trials).
///
/// The mean number in flight is the rate times the mean time that one of them takes, whatever the
/// distributions: L = lambda W (J. D. C. Little, "A Proof for the Queuing Formula: L = lambda W",
/// Operations Research 9 (3), 1961).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Little {
    /// I/Os in flight, as measured.
    pub depth: f64,
    /// I/Os a second times seconds that an I/O takes.
    pub product: f64,
    /// `product` against `depth`: 0.03 is 3 % more.
    pub difference: f64,
    /// Trials behind it.
    pub trials: usize,
}

/// By how much rate x time differs from the measured depth, relative to it; `None` without a depth.
pub fn little_difference(depth: f64, rate_per_s: f64, time_s: f64) -> Option<f64> {
    let difference = rate_per_s * time_s / depth - 1.0;
    (depth > 0.0 && difference.is_finite()).then_some(difference)
}

impl Little {
    fn from_trials(trials: &[&Observations]) -> Option<Self> {
        let (depths, products): (Vec<f64>, Vec<f64>) =
            trials.iter().filter_map(|trial| figures(trial)).unzip();
        let (depth, product) = (mean(&depths), mean(&products));
        let difference = little_difference(depth, product, 1.0)?;
        Some(Self { depth, product, difference, trials: depths.len() })
    }

    /// Returns whether the figures agree.
    pub fn holds(&self) -> bool {
        self.difference.abs() <= LITTLE_TOLERANCE
    }
}

/// Depth of a trial, and I/Os a second times seconds for each I/O.
///
/// In an open loop, latency counts from the intended start, before the I/O is in flight: the time
/// is then the service time. Where only some streams are open loops, it is not known.
fn figures(observations: &Observations) -> Option<(f64, f64)> {
    let time_s = match (observations.latency("service"), observations.latency("I/O")) {
        (Some(service), Some(all)) if service.len() < all.len() => return None,
        (Some(service), _) => service.min_mean_max_ns().1 / 1e9,
        (None, _) => {
            let mean =
                observations.responses.iter().find(|response| response.name == "latency_mean")?;
            mean.value * seconds(&mean.unit)?
        }
    };
    Some((observations.response("depth")?, observations.response("iops")? * time_s))
}
