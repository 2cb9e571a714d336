//! How close a database came to what its storage was measured to do.

mod measured;

use crate::grid::Grid;
use crate::settings::has_probe;
use crate::{Estimate, Interval, Summary, compare};
use measured::Measured;
use observations::{ConfigurationRecord, DeviceUse, Direction, Environment, Observations, Recording};
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

/// Direction of I/Os.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// Reads.
    Read,
    /// Writes.
    Write,
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
    /// `read`, `write`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }

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
        let grids: Vec<(&Recording, Grid)> = self.disk_runs.iter().map(|run| (run, Grid::new(run))).collect();
        let measured: Vec<Measured> = grids.iter().flat_map(|(run, grid)| Measured::all(run, grid)).collect();
        let environment = self.recording.environments.first();
        let others = self.recording.configurations.iter().enumerate();
        others
            .filter(|(_, own)| !has_probe(own, "disk"))
            .flat_map(|(position, configuration)| {
                let trials: Vec<&Observations> = self.grid.cells[position].values().copied().collect();
                let used = Used::all(environment, &trials);
                let ceiling = |used: &Used, way| used.ceiling(position, configuration, way, &measured);
                let both = |used: &Used| [ceiling(used, Way::Read), ceiling(used, Way::Write)];
                used.iter().flat_map(both).flatten().collect::<Vec<_>>()
            })
            .collect()
    }
}

/// A volume that trials of a configuration used.
struct Used<'a> {
    environment: Option<&'a Environment>,
    volume: &'a str,
    trials: Vec<Vec<&'a DeviceUse>>,
}

impl<'a> Used<'a> {
    fn all(environment: Option<&'a Environment>, trials: &[&'a Observations]) -> Vec<Self> {
        let mut names: Vec<&str> = Vec::new();
        for device in trials.iter().flat_map(|observations| &observations.devices) {
            if !names.contains(&device.volume.as_str()) {
                names.push(&device.volume);
            }
        }
        let of = |o: &&'a Observations, volume: &str| -> Vec<&'a DeviceUse> {
            o.devices.iter().filter(|device| device.volume == volume).collect()
        };
        let used = |volume: &'a str| Self {
            environment,
            volume,
            trials: trials.iter().map(|o| of(o, volume)).filter(|devices| !devices.is_empty()).collect(),
        };
        names.into_iter().map(used).collect()
    }

    fn ceiling(
        &self,
        position: usize,
        configuration: &ConfigurationRecord,
        way: Way,
        measured: &[Measured],
    ) -> Option<Ceiling> {
        let rates: Vec<f64> = self.trials.iter().filter_map(|devices| rate(devices, way)).collect();
        let unit = format!("{}s/s", way.name());
        let own = Estimate::of(&rates, &unit, Direction::HigherIsBetter).filter(|e| e.mean >= RATE_MIN)?;
        let mean_bytes = mean_bytes(self.trials.iter().flatten().copied(), way)?;
        let devices = names(self.trials.first()?);
        let usable = measured.iter().filter(|one| {
            one.way == way && one.devices == devices && one.same_storage(self.environment, self.volume)
        });
        let best = usable.min_by(|a, b| a.rank(mean_bytes).total_cmp(&b.rank(mean_bytes)))?;
        let logs = |values: &[f64]| values.iter().map(|value| value.ln()).collect::<Vec<_>>();
        let test = compare::welch(&logs(&best.rates), &logs(&rates), 0.0);
        Some(Ceiling {
            configuration: position,
            label: configuration.label.clone(),
            volume: self.volume.to_owned(),
            devices,
            way,
            rate: own,
            mean_bytes,
            ceiling: best.ceiling.clone(),
            share: test.value.exp(),
            interval: test.interval.map(|i| Interval { low: i.low.exp(), high: i.high.exp() }),
        })
    }
}

/// I/Os a second of all devices in a trial; `None` without any, which has no logarithm.
fn rate(devices: &[&DeviceUse], way: Way) -> Option<f64> {
    let of = |device: &&DeviceUse| way.of(device).0 as f64 / device.elapsed_s;
    let rate: f64 = devices.iter().map(of).sum();
    (rate.is_finite() && rate > 0.0).then_some(rate)
}

fn mean_bytes<'a>(devices: impl Iterator<Item = &'a DeviceUse>, way: Way) -> Option<f64> {
    let (count, bytes) = devices.fold((0_u64, 0_u64), |(count, bytes), device| {
        let (own_count, own_bytes) = way.of(device);
        (count.saturating_add(own_count), bytes.saturating_add(own_bytes))
    });
    (count > 0).then(|| bytes as f64 / count as f64)
}

/// Names of devices, sorted.
fn names(devices: &[&DeviceUse]) -> Vec<String> {
    let mut names: Vec<String> = devices.iter().map(|device| device.device.clone()).collect();
    names.sort();
    names
}
