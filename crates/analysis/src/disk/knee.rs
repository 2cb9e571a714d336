use super::{Little, figures, groups, is_paced};
use crate::grid::{Grid, Matched};
use crate::{Comparison, Estimate, ResponseChoice, compare};
use observations::{Observations, Recording};
use serde::Serialize;

/// A knee is looked for among at least so many numbers of I/Os in flight.
const LEVELS_MIN: usize = 4;
/// This share of the maximum is as good as the maximum: what is left is not worth the latency.
const GOOD_SHARE: f64 = 0.95;
/// What cannot be told from the maximum is as good too, but not below this share: of two noisy
/// blocks hardly anything can be told apart.
const ALIKE_SHARE: f64 = 0.90;
/// At the knee, more I/Os in flight must bring less than this part of what they would bring if IOPS
/// grew with them; else neighbouring levels alone would look like a knee.
const GAIN_SHARE: f64 = 0.5;

/// Where configurations that differ in threads and queue depth only saturate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Knee {
    /// Levels of the other factors; empty when there is none.
    pub group: String,
    /// By I/Os in flight, the fewest first.
    pub points: Vec<KneePoint>,
    /// Position in `points` of the highest mean IOPS.
    pub maximum: usize,
    /// Position of the fewest I/Os in flight that are as good as the maximum; `None` when IOPS still rise at
    /// the most that was tried.
    pub knee: Option<usize>,
    /// N* = the highest IOPS x the lowest mean latency: with fewer I/Os in flight the device could in the best
    /// case keep none waiting, with more some must wait. (P. J. Denning and J. P. Buzen, "The
    /// Operational Analysis of Queueing Network Models", ACM Computing Surveys 10 (3), 1978; no think time.)
    pub asymptotic: Option<f64>,
}

/// One number of threads and queue depth.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KneePoint {
    /// Position of the configuration in the recording.
    pub configuration: usize,
    /// Threads.
    pub threads: u64,
    /// I/Os that a thread keeps in flight.
    pub queue_depth: u64,
    /// Threads x queue depth.
    pub outstanding: u64,
    /// I/Os a second.
    pub iops: Estimate,
    /// Mean latency.
    pub latency_mean: Option<Estimate>,
    /// Latency that 1 % exceed.
    pub latency_p99: Option<Estimate>,
    /// Little's law at this point.
    pub little: Option<Little>,
}

/// Where the disk saturates: for each combination of the other factors' levels that was measured
/// with at least four numbers of I/Os in flight.
pub fn knee(recording: &Recording) -> Vec<Knee> {
    let grid = Grid::new(recording);
    groups(recording)
        .into_iter()
        .filter_map(|group| {
            let mut points: Vec<KneePoint> =
                group.configurations.iter().filter_map(|c| KneePoint::of(recording, &grid, *c)).collect();
            // Of the same number, the one with more IOPS stands first.
            points
                .sort_by(|a, b| a.outstanding.cmp(&b.outstanding).then(b.iops.mean.total_cmp(&a.iops.mean)));
            Knee::of(group.label, points, &grid)
        })
        .collect()
}

impl Knee {
    fn of(group: String, points: Vec<KneePoint>, grid: &Grid) -> Option<Self> {
        let mut totals: Vec<u64> = points.iter().map(|point| point.outstanding).collect();
        totals.dedup();
        if totals.len() < LEVELS_MIN {
            return None;
        }
        let by_iops = |a: &usize, b: &usize| points[*a].iops.mean.total_cmp(&points[*b].iops.mean);
        // Of equals the one with the fewest in flight, which is the last one here.
        let maximum = (0..points.len()).rev().max_by(by_iops)?;
        let most = *totals.last()?;
        let against = against_maximum(&points, maximum, grid);
        let knee = (0..points.len()).find(|position| {
            let (point, top) = (&points[*position], points[maximum].iops.mean);
            let share = point.iops.mean / top;
            let alike = against[*position].as_ref().is_some_and(|c| c.adjusted_p.is_some() && !c.supported());
            let gain = (1.0 / share - 1.0) / (most as f64 / point.outstanding as f64 - 1.0);
            (share >= GOOD_SHARE || alike && share >= ALIKE_SHARE)
                && point.outstanding < most
                && gain < GAIN_SHARE
        });
        let latencies = points.iter().filter_map(|point| point.latency_mean.as_ref());
        let lowest_s = latencies.filter_map(Estimate::mean_s).reduce(f64::min);
        let asymptotic = lowest_s.map(|seconds| points[maximum].iops.mean * seconds);
        Some(Self { group, points, maximum, knee, asymptotic })
    }
}

fn against_maximum(points: &[KneePoint], maximum: usize, grid: &Grid) -> Vec<Option<Comparison>> {
    let cells = |position: usize| &grid.cells[points[position].configuration];
    let top = cells(maximum);
    let Some(choice) = top.values().find_map(|o| ResponseChoice::named("iops", o)) else {
        return vec![None; points.len()];
    };
    let usable = |o: &Observations| choice.value(o).is_some();
    let one = |position| Comparison::of(&Matched::configurations(top, cells(position), usable), &choice);
    let mut family: Vec<Option<Comparison>> =
        (0..points.len()).map(|position| if position == maximum { None } else { one(position) }).collect();
    compare::correct(&mut family);
    family
}

impl KneePoint {
    fn of(recording: &Recording, grid: &Grid, position: usize) -> Option<Self> {
        let configuration = &recording.configurations[position];
        let row = super::DiskRow::of(recording, grid, position)?;
        // Streams have threads of their own; an open loop's IOPS are those that were asked for.
        if figures::has_streams(configuration) || is_paced(configuration) {
            return None;
        }
        let threads: u64 = configuration.get("workload.threads")?;
        let queue_depth: u64 = configuration.get("workload.queue_depth")?;
        Some(Self {
            configuration: position,
            threads,
            queue_depth,
            outstanding: threads.checked_mul(queue_depth).filter(|n| *n > 0)?,
            iops: row.all.iops.filter(|iops| iops.mean > 0.0)?,
            latency_mean: row.all.latency_mean,
            latency_p99: row.all.latency_p99,
            little: row.little,
        })
    }
}
