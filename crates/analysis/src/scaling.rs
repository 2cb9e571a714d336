//! How throughput changes with threads: what the sync probe measured.
//!
//! - `Curve`: configurations that differ in the number of threads only, and where it leaves a core, a socket, a memory node
//! - `ScalingClass`: negative, flat, sub-linear or linear
//! - `SharedLine`: what one cache line that several threads write to makes at most

mod curve;

pub use curve::{Curve, Edge, EdgeKind, Placement, Scaled, ScalingPoint};

use crate::grid::Grid;
use crate::settings::with_probe;
use crate::{Estimate, Summary, response};
use observations::{Observations, Recording};
use serde::Serialize;

/// Throughput that changes by less than this share with more threads is flat: the difference is of the size that the placement
/// of threads and of code makes from run to run.
pub const FLAT_SHARE: f64 = 0.1;
/// An efficiency (speed-up relative to the number of threads) of at least this is linear: what is missing is what shared
/// caches and clocks that drop when more cores work take away.
pub const LINEAR_EFFICIENCY: f64 = 0.9;

/// What a report says of the configurations with the sync probe.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScalingSummary {
    /// In the order of the file.
    pub curves: Vec<Curve>,
    /// `None` when no such configuration has a trial done.
    pub shared_line: Option<SharedLine>,
}

/// How throughput goes with threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ScalingClass {
    /// Less with more threads.
    Negative,
    /// Neither more nor less.
    Flat,
    /// More, but not in proportion.
    SubLinear,
    /// In proportion.
    Linear,
}

impl ScalingClass {
    /// The class of this ratio of throughputs at this ratio of numbers of threads (above 1).
    pub fn of(ratio: f64, threads: f64) -> Self {
        match ratio {
            ratio if ratio >= LINEAR_EFFICIENCY * threads => Self::Linear,
            ratio if ratio > 1.0 + FLAT_SHARE => Self::SubLinear,
            ratio if ratio >= 1.0 - FLAT_SHARE => Self::Flat,
            _ => Self::Negative,
        }
    }

    /// As it is printed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Negative => "negative",
            Self::Flat => "flat",
            Self::SubLinear => "sub-linear",
            Self::Linear => "linear",
        }
    }
}

/// The most that threads on several cores did together on one cache line without losing updates.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SharedLine {
    /// Position of the configuration in the recording.
    pub configuration: usize,
    /// Its short label.
    pub label: String,
    /// What guards the line.
    pub primitive: String,
    /// Threads.
    pub threads: u64,
    /// Operations a millisecond.
    pub throughput: Estimate,
}

impl Summary<'_> {
    /// How throughput goes with threads; `None` when no configuration with the sync probe has a trial done.
    pub fn scaling(&self) -> Option<ScalingSummary> {
        let curves = curve::curves(self.recording, &self.grid);
        let shared_line = || shared_line(self.recording, &self.grid);
        (!curves.is_empty()).then(|| ScalingSummary { curves, shared_line: shared_line() })
    }
}

fn shared_line(recording: &Recording, grid: &Grid) -> Option<SharedLine> {
    let candidates = with_probe(recording, "sync").filter_map(|position| {
        let configuration = &recording.configurations[position];
        let trials: Vec<&Observations> = grid.cells[position].values().copied().collect();
        let all = |test: &dyn Fn(&Observations) -> bool| trials.iter().all(|trial| test(trial));
        let shares = all(&|trial| trial.fact("shared_lines") == Some(1.0));
        let several = all(&|trial| trial.fact("cores").is_none_or(|cores| cores > 1.0));
        let loses = !all(&|trial| trial.response("lost_updates").is_none());
        let threads: u64 = configuration.get("workload.threads")?;
        let reads: f64 = configuration.get("workload.reads").unwrap_or(0.0);
        if !shares || !several || loses || threads < 2 || reads > 0.0 {
            return None;
        }
        Some(SharedLine {
            configuration: position,
            label: configuration.label.clone(),
            primitive: configuration.get("workload.primitive")?,
            threads,
            throughput: response::estimate("throughput", &trials)?,
        })
    });
    candidates.max_by(|a, b| a.throughput.mean.total_cmp(&b.throughput.mean))
}

#[cfg(test)]
mod tests {
    use super::ScalingClass::{Flat, Linear, Negative, SubLinear};
    use super::*;

    #[test]
    fn classes_by_their_thresholds() {
        let class = ScalingClass::of;
        assert_eq!((class(0.3, 2.0), class(0.89, 2.0), class(0.91, 2.0)), (Negative, Negative, Flat));
        assert_eq!((class(1.09, 2.0), class(1.2, 2.0), class(1.79, 2.0)), (Flat, SubLinear, SubLinear));
        assert_eq!((class(1.81, 2.0), class(2.3, 2.0), class(57.0, 64.0)), (Linear, Linear, SubLinear));
        // From 10 to 11 threads there is no room between flat and linear.
        assert_eq!((class(1.05, 1.1), class(0.95, 1.1)), (Linear, Flat));
    }
}
