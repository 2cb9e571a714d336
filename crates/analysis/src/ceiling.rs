//! How close a database came to what its storage was measured to do.

use crate::compare::Values;
use crate::grid::Grid;
use crate::response::distinct;
use crate::settings::{has_probe, with_probe};
use crate::{Comparison, Estimate, Interval, ResponseChoice, Summary, disk};
use observations::{
    ConfigurationRecord, DeviceUse, Direction, Environment, Observations, Recording, VolumeEnvironment, named,
};
use serde::Serialize;

/// What one configuration did to a volume, as a share of the most that the disk probe got from it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ceiling {
    /// Position of the configuration in the recording.
    pub configuration: usize,
    /// Its short label.
    pub label: String,
    /// The volume.
    pub volume: String,
    /// Names of its devices.
    pub devices: Vec<String>,
    /// Reads or writes.
    pub way: Way,
    /// I/Os a second of the database, by the kernel's counters.
    pub rate: Estimate,
    /// Mean bytes of such an I/O.
    pub mean_bytes: f64,
    /// What was measured.
    pub ceiling: MeasuredCeiling,
    /// `rate` relative to the ceiling: 0.41 is 41 %.
    pub share: f64,
    /// 95 % interval of the share (Welch's t of log rates); `None` with fewer than two trials of either.
    pub interval: Option<Interval>,
}

named! {
    /// Direction of I/Os.
    #[serde(rename_all = "snake_case")]
    pub enum Way {
        /// Reads.
        Read = "read",
        /// Writes.
        Write = "write",
    }
}

/// A measurement of the disk probe.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MeasuredCeiling {
    /// Number of its run in its results file.
    pub run: i64,
    /// Name of the experiment.
    pub experiment: String,
    /// Label of the configuration.
    pub label: String,
    /// Whether it was random, which databases are; else sequential.
    pub random: bool,
    /// Bytes of an I/O.
    pub block_bytes: u64,
    /// I/Os a second.
    pub iops: Estimate,
}

impl Way {
    fn of(self, device: &DeviceUse) -> (u64, u64) {
        match self {
            Self::Read => (device.reads, device.read_bytes),
            Self::Write => (device.writes, device.write_bytes),
        }
    }
}

/// I/Os of a database that are fewer than so many a second load no storage worth a ceiling.
const RATE_MIN: f64 = 1.0;

impl Summary<'_> {
    /// For each configuration with another probe than the disk probe, each of its volumes and each direction: its
    /// share of the ceiling, where one was measured.
    ///
    /// A ceiling is a measurement of the same devices on the same host, with the same file system and under the same
    /// limits, past the page cache. Of these the random ones are preferred, then those whose block size is nearest
    /// to the mean size of the database's I/Os, and of these the fastest counts.
    pub fn ceilings(&self) -> Vec<Ceiling> {
        let measured: Vec<Measured> = self.disk_runs.iter().flat_map(Measured::all).collect();
        let environment = self.recording.environments.first();
        let mut ceilings = Vec::new();
        for (configuration, own) in self.recording.configurations.iter().enumerate() {
            let trials = if has_probe(own, "disk") { Vec::new() } else { self.grid.trials(configuration) };
            let all = trials.iter().flat_map(|seen| &seen.devices);
            for volume in distinct(all.map(|device| device.volume.as_str())) {
                let used: Vec<Vec<&DeviceUse>> =
                    trials.iter().map(|seen| under(seen, &|device| device.volume == volume)).collect();
                for way in Way::ALL {
                    let same = |one: &&Measured| one.way == way && one.same_storage(environment, volume);
                    let usable = measured.iter().filter(same);
                    let place = (configuration, own.label.as_str(), volume);
                    ceilings.extend(ceiling(place, way, &used, &usable.collect::<Vec<_>>()));
                }
            }
        }
        ceilings
    }
}

/// The share of a configuration on a volume, from what the devices of each trial did.
fn ceiling(
    (configuration, label, volume): (usize, &str, &str),
    way: Way,
    used: &[Vec<&DeviceUse>],
    measured: &[&Measured],
) -> Option<Ceiling> {
    let rates: Vec<f64> = used.iter().filter_map(|devices| rate(devices, way)).collect();
    let unit = format!("{}s/s", way.name());
    let rate = Estimate::of(&rates, &unit, Direction::HigherIsBetter).filter(|e| e.mean >= RATE_MIN)?;
    let done = used.iter().flatten().map(|device| way.of(device));
    let (count, bytes) = done.fold((0.0, 0.0), |sum, own| (sum.0 + own.0 as f64, sum.1 + own.1 as f64));
    let (devices, mean_bytes) = (names(used.iter().find(|devices| !devices.is_empty())?), bytes / count);
    let usable = measured.iter().filter(|one| one.devices == devices);
    let best = usable.min_by(|a, b| a.rank(mean_bytes).total_cmp(&b.rank(mean_bytes)))?;
    let [ceiling, used] = [&best.rates, &rates].map(Values::each);
    let compared = Comparison::of_values(false, &ceiling, &used, Direction::HigherIsBetter)?;
    Some(Ceiling {
        configuration,
        label: label.to_owned(),
        volume: volume.to_owned(),
        devices,
        way,
        rate,
        mean_bytes,
        ceiling: best.ceiling.clone(),
        share: compared.value,
        interval: compared.interval,
    })
}

/// Devices in a trial that a test picks.
fn under<'a>(trial: &'a Observations, is_own: &dyn Fn(&DeviceUse) -> bool) -> Vec<&'a DeviceUse> {
    trial.devices.iter().filter(|device| is_own(device)).collect()
}

/// I/Os a second of all devices in a trial; `None` without any, which has no logarithm.
fn rate(devices: &[&DeviceUse], way: Way) -> Option<f64> {
    let of = |device: &&DeviceUse| way.of(device).0 as f64 / device.elapsed_s;
    let rate: f64 = devices.iter().map(of).sum();
    (rate.is_finite() && rate > 0.0).then_some(rate)
}

/// Names of devices, sorted.
fn names(devices: &[&DeviceUse]) -> Vec<String> {
    let mut names: Vec<String> = devices.iter().map(|device| device.device.clone()).collect();
    names.sort();
    names
}

/// A configuration of the disk probe that can serve as a ceiling.
struct Measured<'a> {
    environment: Option<&'a Environment>,
    volume: String,
    devices: Vec<String>,
    way: Way,
    /// I/Os a second of each trial.
    rates: Vec<f64>,
    ceiling: MeasuredCeiling,
}

impl<'a> Measured<'a> {
    fn all(recording: &'a Recording) -> Vec<Self> {
        let grid = Grid::new(recording);
        with_probe(recording, "disk").filter_map(|position| Self::of(recording, &grid, position)).collect()
    }

    /// `None` of mixed directions, several streams, loads that leave the device idle on purpose, and of I/O
    /// that the page cache may serve.
    fn of(recording: &'a Recording, grid: &Grid, position: usize) -> Option<Self> {
        let configuration = &recording.configurations[position];
        let pattern: String = configuration.get("workload.pattern")?;
        let (random, way) = match pattern.as_str() {
            "random-read" => (true, Way::Read),
            "random-write" => (true, Way::Write),
            "sequential-read" => (false, Way::Read),
            "sequential-write" => (false, Way::Write),
            _ => return None,
        };
        let direct: bool = configuration.get("workload.direct")?;
        if !disk::is_uniform(configuration) || disk::is_paced(configuration) || !direct {
            return None;
        }
        let volume = volume(configuration)?;
        let trials = grid.trials(position);
        // A device that carries several volumes has all their names.
        let carries =
            |own: &DeviceUse| own.volume == volume || own.volume.split(", ").any(|name| name == volume);
        let devices = names(&under(trials.first()?, &carries));
        // Of several devices each counts what reaches it, copies and parities too: they are then held
        // against the same counters.
        let (choice, several) = (ResponseChoice::named("iops", trials.first()?)?, devices.len() > 1);
        let counted = |own: &Observations| rate(&under(own, &carries), way);
        let of = |own: &&Observations| {
            if several { counted(own) } else { choice.value(own).filter(|iops| *iops > 0.0) }
        };
        let rates: Vec<f64> = trials.iter().filter_map(of).collect();
        let ceiling = MeasuredCeiling {
            run: recording.run.id,
            experiment: recording.run.name.clone(),
            label: configuration.label.clone(),
            random,
            block_bytes: configuration.get("workload.block_size")?,
            iops: Estimate::of(&rates, &choice.unit, Direction::HigherIsBetter)?,
        };
        let environment = recording.environments.first();
        (!devices.is_empty()).then_some(Self { environment, volume, devices, way, rates, ceiling })
    }

    /// Whether it was the same storage, as far as it is known: host, file system, limits.
    fn same_storage(&self, other: Option<&Environment>, volume: &str) -> bool {
        let (Some(own), Some(other)) = (self.environment, other) else { return false };
        let (ours, theirs) = (find(own, &self.volume), find(other, volume));
        let throttle = |volume: Option<&VolumeEnvironment>| volume.and_then(|v| v.throttle.clone());
        let same_place = |(a, b): (&VolumeEnvironment, &VolumeEnvironment)| {
            (&a.device, &a.file_system, a.size_bytes) == (&b.device, &b.file_system, b.size_bytes)
        };
        own.host.is_some()
            && own.host == other.host
            && throttle(ours) == throttle(theirs)
            && ours.zip(theirs).is_none_or(same_place)
    }

    /// Lower is a better ceiling for I/Os of this mean size. Sizes are powers of two: what is as far
    /// on a logarithmic scale is as near; ties go to the fastest.
    fn rank(&self, mean_bytes: f64) -> f64 {
        let octaves = (self.ceiling.block_bytes as f64 / mean_bytes).log2().abs();
        let sequential = if self.ceiling.random { 0.0 } else { 1e6 };
        // Below the smallest difference between two distances that are told apart.
        let slowness = 1e-3 / (1.0 + self.ceiling.iops.mean);
        sequential + (octaves * 100.0).round() / 100.0 + slowness
    }
}

/// The one volume that the load went to: by its name, or the path of the existing file or device.
fn volume(configuration: &ConfigurationRecord) -> Option<String> {
    let one = |path: &str| -> Option<String> {
        let single = configuration.get::<String>(path);
        single.or_else(|| match configuration.get::<Vec<String>>(path)?.as_slice() {
            [one] => Some(one.clone()),
            _ => None,
        })
    };
    let (existing, named) = match configuration.get::<String>("workload.on").as_deref() {
        Some("log") => ("target.log_path", "target.log_volume"),
        Some("backup") => ("target.backup_path", "target.backup_volume"),
        _ => ("target.paths", "target.volume"),
    };
    let given = [existing, named, "target.volume"];
    let given = given.into_iter().find(|path| configuration.settings.contains_key(*path));
    given.map_or_else(|| Some("default".to_owned()), one)
}

fn find<'e>(environment: &'e Environment, volume: &str) -> Option<&'e VolumeEnvironment> {
    let named = |name: &str| environment.volumes.iter().find(|own| own.name == name);
    named(volume).or_else(|| volume.split(", ").find_map(named))
}
