use super::Little;
use crate::grid::Grid;
use crate::{Estimate, response};
use observations::{Observations, Recording};
use serde::Serialize;

/// What a configuration with the disk probe did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DiskRow {
    /// Its position in the recording.
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
    /// Whether depth, rate and latency fit each other.
    pub little: Option<Little>,
}

/// Figures of one of several streams.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StreamFigures {
    /// Its name.
    pub name: String,
    /// What it did.
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
    pub(super) fn of(recording: &Recording, grid: &Grid, position: usize) -> Option<Self> {
        let configuration = &recording.configurations[position];
        let trials: Vec<&Observations> = grid.cells[position].values().copied().collect();
        trials.first()?;
        let own = |path| Some(configuration.get(path)?).filter(|_| !has_streams(configuration));
        let stream = |name: String| StreamFigures { figures: DiskFigures::of(&trials, &name), name };
        Some(Self {
            configuration: position,
            label: configuration.label.clone(),
            threads: own("workload.threads"),
            queue_depth: own("workload.queue_depth"),
            trials: trials.len(),
            all: DiskFigures::of(&trials, ""),
            streams: stream_names(&trials).map(stream).collect(),
            little: Little::of(trials.iter().copied()),
        })
    }
}

/// Whether streams with settings of their own are given instead of the flat ones.
pub(crate) fn has_streams(configuration: &observations::ConfigurationRecord) -> bool {
    ["workload.streams", "workload.mix"].iter().any(|path| configuration.settings.contains_key(*path))
}

/// Whether I/Os begin when they are due and not when there is room: the storage is then idle on purpose.
pub(crate) fn is_paced(configuration: &observations::ConfigurationRecord) -> bool {
    ["workload.rate", "workload.burst"].iter().any(|path| configuration.settings.contains_key(*path))
}

/// Whether all I/Os of a configuration are of the size that `workload.block_size` says.
pub(crate) fn is_uniform(configuration: &observations::ConfigurationRecord) -> bool {
    !has_streams(configuration) && !configuration.settings.contains_key("workload.block_size_max")
}

/// What goes before `.iops` in the names of responses.
fn stream_names(trials: &[&Observations]) -> impl Iterator<Item = String> {
    let names = response::names(trials.iter().copied()).into_iter();
    names.filter_map(|name| name.strip_suffix(".iops").map(str::to_owned))
}

impl DiskFigures {
    /// Of one stream, or of all together where its name is empty.
    fn of(trials: &[&Observations], stream: &str) -> Self {
        let estimate = |name: &str| {
            let name = if stream.is_empty() { name.to_owned() } else { format!("{stream}.{name}") };
            response::estimate(&name, trials)
        };
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
