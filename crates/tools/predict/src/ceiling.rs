//! The distance of a database from what its storage was measured to do.

use analysis::grid::Grid;
use analysis::response::{self, distinct};
use analysis::summary::study_of;
use analysis::{Comparison, Estimate, Interval, ResponseChoice, StorageTest, Study, Summary, Way};
use observations::{
    DeviceUse, Direction, Environment, Observations, Recording, Throttle, VolumeEnvironment,
    VolumeNames,
};
use serde::Serialize;

/// A configuration's use of a volume, as a share of the measured maximum or of the throttle's
/// limit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ceiling {
    /// Position of the configuration in the recording.
    pub configuration: usize,
    /// The short label.
    pub label: String,
    /// The volume; volumes on the same devices, which the kernel counts together, in one row
    /// (`data, log`).
    pub volume: VolumeNames,
    /// Names of its devices.
    pub devices: Vec<String>,
    /// Reads or writes.
    pub way: Way,
    /// I/Os a second of the database, by the kernel's counters.
    pub rate: Estimate,
    /// Mean bytes of such an I/O.
    pub mean_bytes: f64,
    /// The limit it is compared with.
    pub ceiling: Limit,
    /// `rate` relative to the ceiling: 0.41 is 41 %.
    pub share: f64,
    /// 95 % interval of the share (Welch's t of log rates); `None` with fewer than two trials of
    /// either, and when it spans more than [`SPAN_MAX`] and says nothing.
    pub interval: Option<Interval>,
}

/// If the ends of an interval differ by this factor or more, even the magnitude is unknown.
const SPAN_MAX: f64 = 10.0;

/// An upper limit of storage.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Limit {
    /// The measured maximum under the same throttle.
    Measured(MeasuredCeiling),
    /// The throttle's limit, where it was not measured.
    Throttle {
        /// So much a second.
        throttle: f64,
        /// Unit of the limit.
        unit: LimitUnit,
    },
}

/// The unit of a throttle's limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum LimitUnit {
    /// I/Os a second.
    #[serde(rename = "IOPS")]
    Iops,
    /// Bytes a second.
    #[serde(rename = "bytes/s")]
    Bytes,
}

/// A measurement of what storage can do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MeasuredCeiling {
    /// Number of its run in its results file.
    pub run: i64,
    /// Name of the experiment.
    pub experiment: String,
    /// Label of the configuration.
    pub label: String,
    /// True for random I/O, the pattern of databases; else sequential.
    pub random: bool,
    /// Bytes of an I/O.
    pub block_bytes: u64,
    /// I/Os a second.
    pub iops: Estimate,
}

/// Number of a device's I/Os in this direction, and their bytes.
fn counts(way: Way, device: &DeviceUse) -> (u64, u64) {
    match way {
        Way::Read => (device.reads, device.read_bytes),
        Way::Write => (device.writes, device.write_bytes),
    }
}

/// I/Os in flight, on average, from which a measurement can be a ceiling.
const DEPTH_MIN: f64 = 1.5;
/// With fewer I/Os a second than this, a comparison with a ceiling is pointless.
const RATE_MIN: f64 = 1.0;

/// For each configuration whose engine uses the storage, each of its volumes and each direction:
/// its share of the ceiling, where one is known.
///
/// A ceiling is a measurement of the same devices on the same host, with the same file system and
/// under the same limits, past the page cache. Of these the random ones are preferred, then those
/// whose block size is nearest to the mean size of the database's I/Os, and of these the fastest
/// counts. Where there is none, the limits of a throttled volume are its ceiling.
pub fn ceilings(summary: &Summary<'_>) -> Vec<Ceiling> {
    let runs = summary.storage_runs.iter();
    // One request at a time measures a latency, and not what the storage can do.
    let measured: Vec<Candidate> = runs
        .flat_map(|run| Candidate::all(run, summary.studies))
        .filter(|measurement| measurement.depth.is_none_or(|n| n >= DEPTH_MIN))
        .collect();
    let environment = summary.recording.environments.first();
    let mut ceilings = Vec::new();
    let configurations = 0..summary.recording.configurations.len();
    for configuration in configurations.filter(|at| summary.storage_use(*at).is_none()) {
        for storage in Storage::under_trials(environment, &summary.grid.trials(configuration)) {
            let usable: Vec<&Candidate> =
                measured.iter().filter(|measurement| measurement.storage.is(&storage)).collect();
            for way in Way::ALL {
                ceilings.extend(ceiling(summary, configuration, way, &storage, &usable));
            }
        }
    }
    ceilings
}

/// The share of a configuration on a volume, from what the devices of each trial did.
fn ceiling(
    summary: &Summary<'_>,
    configuration: usize,
    way: Way,
    storage: &Storage,
    measured: &[&Candidate],
) -> Option<Ceiling> {
    let trials = summary.grid.trials(configuration);
    let used: Vec<Vec<&DeviceUse>> =
        trials.iter().map(|trial| under(trial, &storage.volumes)).collect();
    let rates: Vec<f64> = used.iter().filter_map(|devices| rate(devices, way)).collect();
    let unit = format!("{}s/s", way.name());
    let rate = Estimate::from_amounts(&rates, &unit, Direction::HigherIsBetter)
        .filter(|e| e.mean >= RATE_MIN)?;
    let counts = used.iter().flatten().map(|device| counts(way, device));
    let (count, bytes) = counts.fold((0.0, 0.0), |(count, bytes), (more, more_bytes)| {
        (count + more as f64, bytes + more_bytes as f64)
    });
    let mean_bytes = bytes / count;
    let of_way = measured.iter().filter(|measurement| measurement.way == way);
    let best = of_way.min_by(|a, b| a.rank(mean_bytes).total_cmp(&b.rank(mean_bytes)));
    let (ceiling, share, interval) = match best {
        Some(best) => {
            let compared = Comparison::unpaired(&best.rates, &rates, Direction::HigherIsBetter)?;
            (Limit::Measured(best.ceiling.clone()), compared.value, compared.interval)
        }
        None => throttled(storage.throttle?, way, &rate, mean_bytes)?,
    };
    Some(Ceiling {
        configuration,
        label: summary.recording.configurations[configuration].label.clone(),
        volume: storage.volumes.iter().map(String::as_str).collect(),
        devices: storage.devices.clone(),
        way,
        rate,
        mean_bytes,
        ceiling,
        share,
        interval: interval
            .filter(|interval| interval.low > 0.0 && interval.high < SPAN_MAX * interval.low),
    })
}

/// The share of the limit that binds first, of those in this direction.
fn throttled(
    throttle: Throttle,
    way: Way,
    rate: &Estimate,
    mean_bytes: f64,
) -> Option<(Limit, f64, Option<Interval>)> {
    let (iops, bytes) = match way {
        Way::Read => (throttle.read_iops, throttle.read_bytes),
        Way::Write => (throttle.write_iops, throttle.write_bytes),
    };
    let limits = [(iops, LimitUnit::Iops, 1.0), (bytes, LimitUnit::Bytes, mean_bytes)];
    let (throttle, unit, scale) = limits
        .into_iter()
        .filter_map(|(limit, unit, amount)| {
            let throttle = limit.filter(|limit| *limit > 0)? as f64;
            Some((throttle, unit, amount / throttle))
        })
        .max_by(|a, b| a.2.total_cmp(&b.2))?;
    let limit = Limit::Throttle { throttle, unit };
    Some((limit, rate.mean * scale, rate.interval.map(|interval| interval.map(|end| end * scale))))
}

/// Storage as far as it is known.
struct Storage<'a> {
    environment: Option<&'a Environment>,
    volumes: Vec<String>,
    devices: Vec<String>,
    /// The limits of its devices. They hold for all that a trial does to them, whatever volume it
    /// is for.
    throttle: Option<Throttle>,
}

impl<'a> Storage<'a> {
    /// The storage of a trial's volumes; those that are on the same devices are one.
    fn under_trials(
        environment: Option<&'a Environment>,
        trials: &[&'a Observations],
    ) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        let all = trials.iter().flat_map(|trial| &trial.devices);
        for volume in distinct(all.flat_map(|device| device.volume.iter())) {
            let storage = Self::for_volume(environment, volume, trials);
            match found.iter_mut().find(|known| known.devices == storage.devices) {
                Some(known) => known.volumes.push(volume.to_owned()),
                None => found.push(storage),
            }
        }
        found
    }

    fn for_volume(
        environment: Option<&'a Environment>,
        volume: &str,
        trials: &[&'a Observations],
    ) -> Self {
        let volumes = vec![volume.to_owned()];
        let mut all = trials.iter().map(|trial| under(trial, &volumes));
        let used = all.find(|devices| !devices.is_empty()).unwrap_or_default();
        let mut names = used.iter().flat_map(|device| device.volume.iter());
        let throttle = names.find_map(|name| find(environment?, name)?.throttle);
        let mut devices: Vec<String> = used.iter().map(|device| device.device.clone()).collect();
        devices.sort();
        Self { environment, volumes, devices, throttle }
    }

    /// Returns whether both describe the same storage as far as known: host, devices, limits, file
    /// system.
    fn is(&self, other: &Self) -> bool {
        let (Some(environment), Some(theirs)) = (self.environment, other.environment) else {
            return false;
        };
        let place = |of: &'a VolumeEnvironment| (&of.device, &of.file_system, of.size_bytes);
        let known = |storage: &Self, environment: &'a Environment| -> Vec<_> {
            storage.volumes.iter().filter_map(|name| find(environment, name)).map(place).collect()
        };
        let (ours, others) = (known(self, environment), known(other, theirs));
        environment.host.is_some()
            && environment.host == theirs.host
            && self.devices == other.devices
            && self.throttle == other.throttle
            && (ours.is_empty()
                || others.is_empty()
                || ours.iter().any(|place| others.contains(place)))
    }
}

/// Devices in a trial that carry any of these volumes. One that carries several has all their
/// names.
fn under<'a>(trial: &'a Observations, volumes: &[String]) -> Vec<&'a DeviceUse> {
    trial
        .devices
        .iter()
        .filter(|device| volumes.iter().any(|volume| device.volume.contains(volume)))
        .collect()
}

/// I/Os a second of all devices in a trial; `None` without any, which has no logarithm.
fn rate(devices: &[&DeviceUse], way: Way) -> Option<f64> {
    let rate: f64 =
        devices.iter().map(|device| counts(way, device).0 as f64 / device.elapsed_s).sum();
    (rate.is_finite() && rate > 0.0).then_some(rate)
}

/// A configuration that can serve as a ceiling.
struct Candidate<'a> {
    storage: Storage<'a>,
    way: Way,
    /// I/Os a second of each trial.
    rates: Vec<f64>,
    /// I/Os in flight on average.
    depth: Option<f64>,
    ceiling: MeasuredCeiling,
}

impl<'a> Candidate<'a> {
    fn all(recording: &'a Recording, studies: &'static [&'static Study]) -> Vec<Self> {
        let grid = Grid::new(recording);
        (0..recording.configurations.len())
            .filter_map(|position| Self::for_recording(recording, studies, &grid, position))
            .collect()
    }

    fn for_recording(
        recording: &'a Recording,
        studies: &'static [&'static Study],
        grid: &Grid<&'a Observations>,
        position: usize,
    ) -> Option<Self> {
        let configuration = &recording.configurations[position];
        let test = study_of(studies, configuration)?.storage?.test;
        let StorageTest { way, random, block_bytes, volume, rate: iops, depth } =
            test(&recording.roles, configuration)?;
        let trials = grid.trials(position);
        let storage = Storage::for_volume(recording.environments.first(), &volume, &trials);
        // Each of several devices counts all that reaches it, copies and parities included, so the
        // measured rate is taken from the same counters. Of one device the larger count holds: it
        // merges I/Os of the load, and serves those of other processes, as it does for the
        // database.
        let choice = ResponseChoice::named(iops, trials.first()?)?;
        let several = storage.devices.len() > 1;
        let rates: Vec<f64> = trials
            .iter()
            .filter_map(|trial| {
                let of_devices = rate(&under(trial, &storage.volumes), way);
                if several {
                    return of_devices;
                }
                let of_load = choice.value(trial).filter(|iops| *iops > 0.0)?;
                Some(of_devices.map_or(of_load, |counted| counted.max(of_load)))
            })
            .collect();
        let ceiling = MeasuredCeiling {
            run: recording.run.id,
            experiment: recording.run.name.clone(),
            label: configuration.label.clone(),
            random,
            block_bytes,
            iops: Estimate::from_amounts(&rates, &choice.unit, Direction::HigherIsBetter)?,
        };
        let depth = response::estimate(depth, &trials).map(|estimate| estimate.mean);
        (!storage.devices.is_empty()).then_some(Self { storage, way, rates, depth, ceiling })
    }

    /// Lower is a better ceiling for I/Os of this mean size. Sizes are powers of two: what is as
    /// far on a logarithmic scale is as near; ties go to the fastest.
    fn rank(&self, mean_bytes: f64) -> f64 {
        let octaves = (self.ceiling.block_bytes as f64 / mean_bytes).log2().abs();
        let sequential = if self.ceiling.random { 0.0 } else { 1e6 };
        // Smaller than one step of the rounded distance: decides only between equal distances.
        let slowness = 1e-3 / (1.0 + self.ceiling.iops.mean);
        sequential + (octaves * 100.0).round() / 100.0 + slowness
    }
}

fn find<'e>(environment: &'e Environment, volume: &str) -> Option<&'e VolumeEnvironment> {
    environment.volumes.iter().find(|candidate| candidate.name == volume)
}
