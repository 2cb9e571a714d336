//! Latencies by percentile, from the histograms of trials.

use crate::response_names::distinct;
use crate::{ConfigurationRow, Estimate, Summary};
use observations::{Direction, Histogram, Observations, Percentile, range};
use serde::Serialize;

/// Percentiles that are estimated.
pub const PERCENTILES: [f64; 4] = [50.0, 90.0, 99.0, 99.9];

/// A kind of latency (`transaction`, `service`, those of streams) of the configurations that
/// recorded any.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Latencies {
    /// The name.
    pub name: String,
    /// In the order of the file.
    pub configurations: Vec<ConfigurationLatency>,
}

/// The latencies of one configuration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConfigurationLatency {
    /// Position of the configuration in the recording.
    pub configuration: usize,
    /// The short label.
    pub label: String,
    /// Trials that recorded any.
    pub trials: usize,
    /// Recorded latencies of all trials.
    pub recorded: u64,
    /// Each of [`PERCENTILES`] over trials; `None` where a trial has too few latencies for it.
    pub percentiles: [Option<Estimate>; PERCENTILES.len()],
    /// The largest of all trials.
    pub largest_s: f64,
}

/// Mean seconds of a transaction from its actual start; `None` where a trial did not time them.
pub fn response_s(trials: &[&Observations]) -> Option<f64> {
    let (mut seconds, mut count) = (0.0, 0.0);
    for trial in trials {
        let latency = trial.latency("service").or_else(|| trial.latency("transaction"))?;
        seconds += latency.min_mean_max_ns().1 * latency.len() as f64 / 1e9;
        count += latency.len() as f64;
    }
    (count > 0.0).then(|| seconds / count)
}

impl Summary<'_> {
    /// Latencies by kind. Kinds that are in one before them are left out: without an open loop,
    /// service time is latency.
    pub fn latencies(&self) -> Vec<Latencies> {
        let mut kinds: Vec<Latencies> = Vec::new();
        let all = self.recording.done().flat_map(|(_, observations)| &observations.latencies);
        for name in distinct(all.map(|latency| latency.name.as_str())) {
            if kinds.iter().any(|kind| self.is_in(name, &kind.name)) {
                continue;
            }
            let configurations: Vec<_> = self
                .configurations
                .iter()
                .filter_map(|row| {
                    ConfigurationLatency::for_configuration(row, &self.histograms(row.index, name))
                })
                .collect();
            if !configurations.is_empty() {
                kinds.push(Latencies { name: name.to_owned(), configurations });
            }
        }
        kinds
    }

    /// All latencies of a kind that the trials of a configuration recorded.
    pub fn merged_latency(&self, configuration: usize, name: &str) -> Histogram {
        Histogram::sum(&self.histograms(configuration, name))
    }

    /// The histogram of each trial that has one.
    fn histograms(&self, configuration: usize, name: &str) -> Vec<&Histogram> {
        let recorded = self.grid.cells[configuration]
            .iter()
            .filter_map(|(_, observations)| observations.latency(name));
        recorded.filter(|histogram| !histogram.is_empty()).collect()
    }

    /// Returns whether all latencies of one kind are latencies of the other.
    fn is_in(&self, name: &str, other: &str) -> bool {
        let observations = self.grid.cells.iter().flatten().map(|(_, observations)| observations);
        let mut recorded = observations.filter_map(|observations| {
            Some((observations.latency(name)?, observations.latency(other)))
        });
        recorded.all(|(histogram, other)| histogram.is_empty() || other == Some(histogram))
    }
}

impl ConfigurationLatency {
    fn for_configuration(row: &ConfigurationRow, trials: &[&Histogram]) -> Option<Self> {
        let largest_ns = trials.iter().map(|trial| trial.percentile_ns(100.0)).max()?;
        let percentiles = std::array::from_fn(|at| {
            let percent = PERCENTILES[at];
            let is_available = |histogram: &&Histogram| {
                Percentile { percent, values: histogram.len() }.is_available()
            };
            let values: Vec<f64> =
                trials.iter().map(|trial| trial.quantile_ns(percent) / 1e9).collect();
            let estimate = Estimate::from_values(&values, "s", Direction::LowerIsBetter);
            estimate.filter(|_| trials.iter().all(is_available))
        });
        Some(Self {
            configuration: row.index,
            label: row.label.clone(),
            trials: trials.len(),
            recorded: range::total(trials.iter().map(|trial| trial.len())),
            percentiles,
            largest_s: largest_ns as f64 / 1e9,
        })
    }
}
