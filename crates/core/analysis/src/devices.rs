//! What the kernel counted of the block devices under the trials.

use crate::response::distinct;
use crate::settings::has_probe;
use crate::{Estimate, ResponseChoice, Summary};
use observations::{
    ConfigurationRecord, DeviceUse, Direction, Histogram, Observations, write_copies,
};
use serde::Serialize;

/// The devices under a configuration, and for the disk probe the load itself to hold them against.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConfigurationDevices {
    /// Position of the configuration in the recording.
    pub configuration: usize,
    /// Its short label.
    pub label: String,
    /// Trials with counters.
    pub trials: usize,
    /// What the load did; `None` when it was not the disk probe.
    pub load: Option<DeviceFigures>,
    /// Each device.
    pub devices: Vec<DeviceRow>,
    /// How many times the devices wrote what the load wrote, where they are mirrors.
    pub write_copies: Option<u64>,
}

/// One device.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DeviceRow {
    /// The volume that it carries.
    pub volume: String,
    /// Its name.
    pub device: String,
    /// What it did.
    pub figures: DeviceFigures,
}

/// Figures over trials; `None` where there is nothing to divide by, or nobody counts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DeviceFigures {
    /// Reads a second.
    pub reads: Option<Estimate>,
    /// Writes a second.
    pub writes: Option<Estimate>,
    /// Bytes (read and written) a second.
    pub bytes: Option<Estimate>,
    /// Mean seconds of a read.
    pub read_latency: Option<Estimate>,
    /// Mean seconds of a write.
    pub write_latency: Option<Estimate>,
    /// Share of the time in which at least one I/O was in flight.
    pub utilisation: Option<Estimate>,
    /// Mean number of I/Os in flight.
    pub queue: Option<Estimate>,
}

impl Summary<'_> {
    /// Devices of every configuration that has counters, in the order of the file.
    pub fn devices(&self) -> Vec<ConfigurationDevices> {
        let of = |(position, configuration): (usize, &ConfigurationRecord)| {
            let trials = self.grid.trials(position).into_iter();
            let trials: Vec<&Observations> = trials.filter(|o| !o.devices.is_empty()).collect();
            let all = trials.iter().flat_map(|seen| &seen.devices);
            let names =
                distinct(all.map(|device| (device.volume.as_str(), device.device.as_str())));
            let disk = has_probe(configuration, "disk");
            (!names.is_empty()).then(|| ConfigurationDevices {
                configuration: position,
                label: configuration.label.clone(),
                trials: trials.len(),
                load: disk.then(|| DeviceFigures::of_load(&trials)),
                devices: names.into_iter().map(|name| DeviceRow::of(&trials, name)).collect(),
                write_copies: if disk { copies_of_trials(configuration, &trials) } else { None },
            })
        };
        self.recording.configurations.iter().enumerate().filter_map(of).collect()
    }
}

/// The same in every trial, else nothing.
fn copies_of_trials(configuration: &ConfigurationRecord, trials: &[&Observations]) -> Option<u64> {
    let of = |o: &&Observations| write_copies(load_bytes(configuration, o)?.1, &o.devices);
    let mut copies = trials.iter().map(of);
    let first = copies.next()??;
    copies.all(|other| other == Some(first)).then_some(first)
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
        _ if crate::disk::is_uniform(configuration) => {
            let block: u64 = configuration.get("workload.block_size")?;
            Some((reads * block, writes * block))
        }
        _ => None,
    }
}

fn count(observations: &Observations, latency: &str) -> u64 {
    observations.latency(latency).map_or(0, Histogram::len)
}

impl DeviceRow {
    fn of(trials: &[&Observations], (volume, device): (&str, &str)) -> Self {
        let is_own = |own: &&DeviceUse| own.volume == volume && own.device == device;
        let own: Vec<&DeviceUse> =
            trials.iter().filter_map(|o| o.devices.iter().find(is_own)).collect();
        Self {
            volume: volume.to_owned(),
            device: device.to_owned(),
            figures: DeviceFigures::of_device(&own),
        }
    }
}

impl DeviceFigures {
    fn of_device(trials: &[&DeviceUse]) -> Self {
        use Direction::{HigherIsBetter as Higher, LowerIsBetter as Lower};
        // What is divided by zero is not finite, and left out.
        let ratio = |of: &dyn Fn(&DeviceUse) -> (f64, f64), unit: &str, direction| {
            let values = trials.iter().map(|device| of(device)).map(|(over, under)| over / under);
            Estimate::of(&values.collect::<Vec<_>>(), unit, direction)
        };
        Self {
            reads: ratio(&|d| (d.reads as f64, d.elapsed_s), "reads/s", Higher),
            writes: ratio(&|d| (d.writes as f64, d.elapsed_s), "writes/s", Higher),
            bytes: ratio(
                &|d| (d.read_bytes as f64 + d.write_bytes as f64, d.elapsed_s),
                "B/s",
                Higher,
            ),
            read_latency: ratio(&|d| (d.read_s, d.reads as f64), "s", Lower),
            write_latency: ratio(&|d| (d.write_s, d.writes as f64), "s", Lower),
            utilisation: ratio(&|d| (d.busy_s, d.elapsed_s), "", Lower),
            queue: ratio(&|d| (d.queue_s, d.elapsed_s), "I/Os", Lower),
        }
    }

    fn of_load(trials: &[&Observations]) -> Self {
        let rate = |latency: &str, unit: &str| {
            let rates = trials.iter().map(|o| count(o, latency) as f64 / o.elapsed_s);
            Estimate::of(&rates.collect::<Vec<_>>(), unit, Direction::HigherIsBetter)
        };
        let latency = |name: &str| {
            let recorded =
                trials.iter().filter_map(|o| o.latency(name)).filter(|own| !own.is_empty());
            let means: Vec<f64> = recorded.map(|own| own.min_mean_max_ns().1 / 1e9).collect();
            Estimate::of(&means, "s", Direction::LowerIsBetter)
        };
        let response = |name: &str, factor: f64, unit: &str| {
            let choice = trials.iter().find_map(|o| ResponseChoice::named(name, o))?;
            let values = trials.iter().filter_map(|o| choice.value(o)).map(|v| v * factor);
            Estimate::of(&values.collect::<Vec<_>>(), unit, choice.direction)
        };
        Self {
            reads: rate("read", "reads/s"),
            writes: rate("write", "writes/s"),
            bytes: response("bandwidth", 1e6, "B/s"),
            read_latency: latency("read"),
            write_latency: latency("write"),
            utilisation: None,
            queue: response("depth", 1.0, "I/Os"),
        }
    }
}
