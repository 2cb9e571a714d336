//! Throughput of a device by I/Os in flight: as a storage study measured it, else by the trials'
//! own counters.

use crate::ceiling::probed_depths;
use analysis::{Summary, response, wording};
use observations::{DeviceUse, Observations, order};
use serde::Serialize;

/// A device that is busy for a smaller share of the time is not a bottleneck.
const BUSY_MIN: f64 = 0.3;

/// The speed of a device at depths of its queue.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DeviceDepths {
    /// The name.
    pub device: String,
    /// I/Os in flight on average and I/Os a second, the smallest depth first.
    pub depths: Vec<(f64, f64)>,
    /// The experiment that measured it; `None`: the counters of the trials themselves
    /// say it.
    pub probed: Option<String>,
}

impl DeviceDepths {
    /// The device under the target that is busiest at the highest of these levels, where it is
    /// busy. Not of a load that sets the depth itself: there the levels are what is modelled.
    pub(super) fn busiest(summary: &Summary<'_>, levels: &[(usize, f64)]) -> Option<Self> {
        let (last, _) = *levels.last()?;
        let trials = summary.grid.trials(last);
        let all = || trials.iter().flat_map(|trial| &trial.devices);
        let sum = |name: &str, of: fn(&DeviceUse) -> f64| -> f64 {
            all().filter(|device_use| device_use.device == name).map(of).sum()
        };
        let busy = |name: &str| sum(name, |name| name.busy_s) / sum(name, |name| name.elapsed_s);
        let names = response::distinct(all().map(|device_use| device_use.device.as_str()));
        let busiest = names.into_iter().max_by(|a, b| busy(a).total_cmp(&busy(b)))?;
        if busy(busiest).is_nan() || busy(busiest) < BUSY_MIN || summary.storage_use(last).is_some()
        {
            return None;
        }
        let recorded_depths = || {
            levels
                .iter()
                .map(|(configuration, _)| depth(&summary.grid.trials(*configuration), busiest))
                .collect::<Option<_>>()
        };
        let (mut depths, probed): (Vec<_>, _) = match probed_depths(summary, &trials, busiest) {
            Some((depths, experiment)) => (depths, Some(experiment)),
            None => (recorded_depths()?, None),
        };
        order::smallest_first(&mut depths, &|row| row.0);
        Some(Self { device: busiest.to_owned(), depths, probed })
    }

    /// `vda does 250 I/Os a second with 1.00 in flight, 475 with 2.00 (by the disk probe of
    /// depths)`.
    pub(super) fn law(&self) -> String {
        let depths: Vec<String> = self
            .depths
            .iter()
            .enumerate()
            .map(|(at, (depth, rate))| {
                let [rate, depth] = [rate, depth].map(|rate| wording::figure(*rate));
                if at == 0 {
                    format!("{rate} I/Os a second with {depth} in flight")
                } else {
                    format!("{rate} with {depth}")
                }
            })
            .collect();
        let source = self.probed.as_ref().map_or_else(
            || "the counters of these trials".to_owned(),
            |experiment| format!("the disk probe of {experiment}"),
        );
        format!("{} does {} (by {source})", self.device, depths.join(", "))
    }
}

/// I/Os in flight on a device on average, and I/Os a second; `None` of a trial without them.
pub(super) fn depth(trials: &[&Observations], device: &str) -> Option<(f64, f64)> {
    let figures = |observations: &&Observations| {
        let device = observations
            .devices
            .iter()
            .find(|device_use| device_use.device == device)
            .filter(|device| device.elapsed_s > 0.0)?;
        let ios = (device.reads + device.writes) as f64;
        (ios > 0.0).then_some((device.queue_s / device.elapsed_s, ios / device.elapsed_s))
    };
    let all: Vec<(f64, f64)> = trials.iter().map(figures).collect::<Option<_>>()?;
    let mean = |of: fn(&(f64, f64)) -> f64| all.iter().map(of).sum::<f64>() / all.len() as f64;
    Some((mean(|figure| figure.0), mean(|figure| figure.1)))
}
