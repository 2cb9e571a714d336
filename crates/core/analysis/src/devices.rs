//! The kernel's counters of the block devices under the trials.

use crate::response_names::distinct;
pub use crate::study::DeviceFigures;
use crate::{Estimate, StorageUse, Summary};
use observations::{
    ConfigurationRecord, DeviceUse, Direction, Observations, VolumeNames, write_copies,
};
use serde::Serialize;

/// The devices under a configuration, and the load itself to hold them against, where it uses them
/// without an engine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConfigurationDevices {
    /// Position of the configuration in the recording.
    pub configuration: usize,
    /// The short label.
    pub label: String,
    /// Trials with counters.
    pub trials: usize,
    /// Figures of the load itself; `None` where an engine uses the devices.
    pub load: Option<DeviceFigures>,
    /// Each device.
    pub devices: Vec<DeviceRow>,
    /// The devices' writes as a multiple of the load's, where they are mirrors.
    pub write_copies: Option<u64>,
}

/// A device.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DeviceRow {
    /// The volumes that it carries.
    pub volume: VolumeNames,
    /// The name.
    pub device: String,
    /// The figures.
    pub figures: DeviceFigures,
}

impl Summary<'_> {
    /// Devices of every configuration that has counters, in the order of the file.
    pub fn devices(&self) -> Vec<ConfigurationDevices> {
        let configurations = self.recording.configurations.iter().enumerate();
        let devices = configurations.filter_map(|(position, configuration)| {
            let trials = self.grid.trials(position).into_iter();
            let trials: Vec<&Observations> = trials.filter(|o| !o.devices.is_empty()).collect();
            let all = trials.iter().flat_map(|trial| &trial.devices);
            let names = distinct(all.map(|device| (&device.volume, device.device.as_str())));
            let load = self.storage_use(position);
            (!names.is_empty()).then(|| ConfigurationDevices {
                configuration: position,
                label: configuration.label.clone(),
                trials: trials.len(),
                load: load.map(|load| (load.figures)(&trials)),
                devices: names
                    .into_iter()
                    .map(|(volume, device)| DeviceRow::from_trials(&trials, volume, device))
                    .collect(),
                write_copies: load.and_then(|load| copies_of_trials(load, configuration, &trials)),
            })
        });
        devices.collect()
    }
}

/// The value that all trials share, else `None`.
fn copies_of_trials(
    load: &StorageUse,
    configuration: &ConfigurationRecord,
    trials: &[&Observations],
) -> Option<u64> {
    let mut copies =
        trials.iter().map(|o| write_copies((load.bytes)(configuration, o)?.1, &o.devices));
    let first = copies.next()??;
    copies.all(|other| other == Some(first)).then_some(first)
}

impl DeviceRow {
    fn from_trials(trials: &[&Observations], volume: &VolumeNames, device: &str) -> Self {
        let device_uses: Vec<&DeviceUse> = trials
            .iter()
            .filter_map(|o| {
                o.devices
                    .iter()
                    .find(|device_use| device_use.volume == *volume && device_use.device == device)
            })
            .collect();
        Self {
            volume: volume.clone(),
            device: device.to_owned(),
            figures: DeviceFigures::of_device(&device_uses),
        }
    }
}

impl DeviceFigures {
    fn of_device(trials: &[&DeviceUse]) -> Self {
        use Direction::{HigherIsBetter as Higher, LowerIsBetter as Lower};
        // What is divided by zero is not finite, and left out.
        let ratio = |of: &dyn Fn(&DeviceUse) -> (f64, f64), unit: &str, direction| {
            let values = trials.iter().map(|device| of(device)).map(|(over, under)| over / under);
            Estimate::from_values(&values.collect::<Vec<_>>(), unit, direction)
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
}
