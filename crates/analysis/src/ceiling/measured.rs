use super::{MeasuredCeiling, Way, names, rate};
use crate::grid::Grid;
use crate::settings::with_probe;
use crate::{Estimate, ResponseChoice, disk};
use observations::{
    ConfigurationRecord, DeviceUse, Direction, Environment, Observations, Recording, VolumeEnvironment,
};

/// A configuration of the disk probe that can serve as a ceiling.
pub struct Measured<'a> {
    environment: Option<&'a Environment>,
    volume: String,
    pub devices: Vec<String>,
    pub way: Way,
    /// I/Os a second of each trial.
    pub rates: Vec<f64>,
    pub ceiling: MeasuredCeiling,
}

impl<'a> Measured<'a> {
    pub fn all(recording: &'a Recording, grid: &Grid) -> Vec<Self> {
        with_probe(recording, "disk").filter_map(|position| Self::of(recording, grid, position)).collect()
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
        let trials: Vec<(&Observations, Vec<&DeviceUse>)> =
            grid.cells[position].values().map(|o| (*o, under(o, &volume))).collect();
        let devices = names(&trials.first()?.1);
        // Of several devices each counts what reaches it, copies and parities too: they are then held
        // against the same counters.
        let (choice, several) = (ResponseChoice::named("iops", trials.first()?.0)?, devices.len() > 1);
        let of = |(o, devices): &(&Observations, Vec<&DeviceUse>)| {
            if several { rate(devices, way) } else { choice.value(o).filter(|iops| *iops > 0.0) }
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
    pub fn same_storage(&self, other: Option<&Environment>, volume: &str) -> bool {
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
    pub fn rank(&self, mean_bytes: f64) -> f64 {
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
    if configuration.settings.contains_key(existing) {
        return one(existing);
    }
    if configuration.settings.contains_key(named) {
        return one(named);
    }
    if configuration.settings.contains_key("target.volume") {
        one("target.volume")
    } else {
        Some("default".to_owned())
    }
}

/// Devices under a volume; one that carries several has all their names.
fn under<'o>(observations: &'o Observations, volume: &str) -> Vec<&'o DeviceUse> {
    let carries =
        |device: &&DeviceUse| device.volume == volume || device.volume.split(", ").any(|n| n == volume);
    observations.devices.iter().filter(carries).collect()
}

fn find<'e>(environment: &'e Environment, volume: &str) -> Option<&'e VolumeEnvironment> {
    let named = |name: &str| environment.volumes.iter().find(|own| own.name == name);
    named(volume).or_else(|| volume.split(", ").find_map(named))
}
