//! Latencies by percentile, from the histograms of trials.

use crate::response::distinct;
use crate::{ConfigurationRow, Estimate, Summary};
use observations::{Direction, Histogram};
use serde::Serialize;

/// Percentiles that are estimated.
pub const PERCENTILES: [f64; 4] = [50.0, 90.0, 99.0, 99.9];
/// A percentile is estimated where each trial has at least this many slower ones.
const SLOWER_MIN: f64 = 1.0;

/// One kind of latency (`transaction`, `service`, those of streams) of the configurations that recorded any.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Latencies {
    /// Its name.
    pub name: String,
    /// In the order of the file.
    pub configurations: Vec<ConfigurationLatency>,
}

/// The latencies of one configuration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConfigurationLatency {
    /// Position of the configuration in the recording.
    pub configuration: usize,
    /// Its short label.
    pub label: String,
    /// Trials that recorded any.
    pub trials: usize,
    /// Recorded latencies of all trials.
    pub recorded: u64,
    /// Each of [`PERCENTILES`] over trials; `None` where a trial has too few latencies to have it.
    pub percentiles: [Option<Estimate>; PERCENTILES.len()],
    /// The largest of all trials.
    pub largest_s: f64,
    /// All trials together.
    #[serde(skip)]
    pub merged: Histogram,
}

impl Summary<'_> {
    /// Latencies by kind. Kinds that are in one before them are left out: without an open loop, service time is latency.
    pub fn latencies(&self) -> Vec<Latencies> {
        let mut kinds: Vec<Latencies> = Vec::new();
        let all = self.recording.done().flat_map(|(_, seen)| &seen.latencies);
        for name in distinct(all.map(|latency| latency.name.as_str())) {
            let of = |row| ConfigurationLatency::of(self, row, name);
            let configurations: Vec<_> = self.configurations.iter().filter_map(of).collect();
            let known = |own: &ConfigurationLatency, kind: &Latencies| {
                let others = &kind.configurations;
                let at = others.binary_search_by_key(&own.configuration, |other| other.configuration);
                at.is_ok_and(|at| others[at].merged == own.merged)
            };
            let repeats = |kind: &Latencies| configurations.iter().all(|own| known(own, kind));
            if !configurations.is_empty() && !kinds.iter().any(repeats) {
                kinds.push(Latencies { name: name.to_owned(), configurations });
            }
        }
        kinds
    }
}

impl ConfigurationLatency {
    fn of(summary: &Summary, row: &ConfigurationRow, name: &str) -> Option<Self> {
        let recorded = summary.grid.cells[row.index].iter().filter_map(|(_, seen)| seen.latency(name));
        let trials: Vec<&Histogram> = recorded.filter(|histogram| !histogram.is_empty()).collect();
        let merged = Histogram::sum(&trials);
        (!trials.is_empty()).then(|| Self {
            configuration: row.index,
            label: row.label.clone(),
            trials: trials.len(),
            recorded: merged.len(),
            percentiles: percentiles(&trials),
            largest_s: merged.min_mean_max_ns().2 as f64 / 1e9,
            merged,
        })
    }
}

fn percentiles(trials: &[&Histogram]) -> [Option<Estimate>; PERCENTILES.len()] {
    let values: Vec<_> = trials.iter().map(|one| one.percentiles_ns(PERCENTILES)).collect();
    std::array::from_fn(|at| {
        let slower = (100.0 - PERCENTILES[at]) / 100.0;
        if trials.iter().any(|one| one.len() as f64 * slower < SLOWER_MIN) {
            return None;
        }
        let values: Vec<f64> = values.iter().map(|own| own[at] as f64 / 1e9).collect();
        Estimate::of(&values, "s", Direction::LowerIsBetter)
    })
}
