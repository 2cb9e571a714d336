mod levels;

use super::{DiskRow, Little, groups, has_streams, is_paced};
use crate::settings::{QUEUE_DEPTH, THREADS};
use analysis::grid::Grid;
use analysis::{Estimate, Interval};
use command_line::arguments::doubling;
use levels::Levels;
use observations::{Observations, Recording, order};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt;

/// Fewest levels of I/Os in flight that are needed to find a knee.
const LEVELS_MIN: usize = 4;
/// This share of the maximum is as good as the maximum: what is left is not worth the latency.
const GOOD_SHARE: f64 = 0.95;
/// At the knee, more I/Os in flight must bring less than this part of what they would bring if IOPS
/// grew with them; else neighbouring levels alone would look like a knee.
const GAIN_SHARE: f64 = 0.5;

/// The point where configurations that differ in threads and queue depth only saturate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Knee {
    /// Levels of the other factors; empty when there is none.
    pub group: String,
    /// By I/Os in flight, the fewest first.
    pub points: Vec<KneePoint>,
    /// Position in `points` of the highest mean IOPS.
    pub maximum: usize,
    /// Position of the fewest I/Os in flight whose mean is 95 % of the highest, and which more
    /// gain little from; `None` when IOPS still rise at the most that was tried. A description
    /// of the means: what can be said of the knee is `between`.
    pub knee: Option<usize>,
    /// The position of the knee, as far as the blocks tell; `None` with a single block.
    pub between: Option<KneeInterval>,
    /// 95 % interval of the highest mean IOPS. It was chosen for being the highest, so that its
    /// own interval would hold too much that is above the truth.
    pub maximum_interval: Option<Interval>,
    /// N* = the highest IOPS x the lowest mean latency: with fewer I/Os in flight the device could
    /// in the best case keep none waiting, with more some must wait. (P. J. Denning and J. P.
    /// Buzen, "The Operational Analysis of Queueing Network Models", ACM Computing Surveys 10
    /// (3), 1978; no think time.)
    pub asymptotic: Option<f64>,
    /// The 95 % interval; `None` with a single block.
    pub asymptotic_interval: Option<Interval>,
}

/// 95 % interval of the knee: of the fewest I/Os in flight of those tried that reach 95 % of the
/// highest IOPS.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct KneeInterval {
    /// Position of the fewest in flight that are not shown to stay below 95 %.
    pub from: usize,
    /// Position of the fewest in flight that are shown to reach 95 %; `None` where none is.
    pub to: Option<usize>,
    /// The most that others gain over those: 0.03 is 3 % more IOPS.
    pub gain_max: Option<f64>,
}

/// A number of threads and a queue depth.
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

/// Returns the point where the disk saturates: for each combination of the other factors' levels
/// that was measured with at least four numbers of I/Os in flight.
pub fn knee(recording: &Recording) -> Vec<Knee> {
    let grid = Grid::new(recording);
    groups(recording)
        .into_iter()
        .filter_map(|group| {
            let points = group.configurations.iter().filter_map(|configuration| {
                KneePoint::for_configuration(recording, &grid, *configuration)
            });
            let mut points: Vec<KneePoint> = points.collect();
            // Equal numbers are sorted by decreasing IOPS.
            order::sort(&mut points, &|a, b| {
                a.outstanding.cmp(&b.outstanding).then(b.iops.mean.total_cmp(&a.iops.mean))
            });
            Knee::find(group.label, points, &grid)
        })
        .collect()
}

impl Knee {
    fn find(group: String, points: Vec<KneePoint>, grid: &Grid<&Observations>) -> Option<Self> {
        let mut totals: Vec<u64> = points.iter().map(|point| point.outstanding).collect();
        totals.dedup();
        if totals.len() < LEVELS_MIN {
            return None;
        }
        // Reversed, so that of equal maxima the one with the fewest in flight wins.
        let maximum = (0..points.len())
            .rev()
            .max_by(|a: &usize, b: &usize| points[*a].iops.mean.total_cmp(&points[*b].iops.mean))?;
        let most = *totals.last()?;
        // Whether those with more in flight bring so little when they have this much more IOPS.
        let saturates = |position: usize, gain: f64| {
            let more = most as f64 / points[position].outstanding as f64 - 1.0;
            points[position].outstanding < most
                && 1.0 / (1.0 + gain) >= GOOD_SHARE
                && gain < GAIN_SHARE * more
        };
        let knee = (0..points.len()).find(|position| {
            saturates(*position, points[maximum].iops.mean / points[*position].iops.mean - 1.0)
        });
        let latencies = points.iter().filter_map(|point| point.latency_mean.as_ref());
        let lowest_s = latencies.filter_map(Estimate::mean_s).reduce(f64::min);
        let asymptotic = lowest_s.map(|seconds| points[maximum].iops.mean * seconds);
        let configurations: Vec<usize> = points.iter().map(|point| point.configuration).collect();
        let iops = Levels::from_grid(grid, &configurations, "iops");
        let latency = Levels::from_grid(grid, &configurations, "latency_mean");
        let between = iops.as_ref().map(|levels| {
            let to =
                (0..points.len()).find(|index| saturates(*index, levels.others_at_most(*index)));
            let from = (0..points.len())
                .find(|index| levels.others_at_least(*index) <= 1.0 / GOOD_SHARE - 1.0)
                .unwrap_or(maximum);
            let gain_max = to.map(|level| levels.others_at_most(level).max(0.0));
            KneeInterval { from, to, gain_max }
        });
        Some(Self {
            maximum_interval: iops.as_ref().map(Levels::highest),
            asymptotic_interval: asymptotic
                .and_then(|value| iops.as_ref()?.highest_times_lowest(latency.as_ref()?, value)),
            group,
            points,
            maximum,
            knee,
            between,
            asymptotic,
        })
    }
}

impl KneePoint {
    fn for_configuration(
        recording: &Recording,
        grid: &Grid<&Observations>,
        position: usize,
    ) -> Option<Self> {
        let configuration = &recording.configurations[position];
        let row = DiskRow::for_configuration(recording, grid, position)?;
        // Streams have threads of their own; an open loop's IOPS are those that were asked for.
        if has_streams(configuration) || is_paced(configuration) {
            return None;
        }
        let threads: u64 = configuration.get(THREADS.path())?;
        let queue_depth: u64 = configuration.get(QUEUE_DEPTH.path())?;
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

    /// `at 8` or `between 4 and 8`: the I/Os in flight from this point to another.
    pub(crate) fn range(&self, to: &Self) -> String {
        if self.outstanding == to.outstanding {
            format!("at {}", to.outstanding)
        } else {
            format!("between {} and {}", self.outstanding, to.outstanding)
        }
    }
}

/// Queue depths of the coarse run.
const COARSE_DEPTHS: [u32; 5] = [1, 4, 16, 64, 256];
/// Largest queue depth that a thread can have.
const DEPTH_MAX: u64 = 65_536;

/// Levels of one of the two runs that search for the threads and queue depth that saturate storage:
/// a coarse run over the whole range, then a fine one around its knees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchLevels {
    /// Numbers of threads.
    pub threads: Vec<u32>,
    /// I/Os that each of them keeps in flight.
    pub queue_depths: Vec<u32>,
}

impl SearchLevels {
    /// 1, 2, 4, ... threads and as many as there are processors, with few and with many I/Os in
    /// flight.
    pub fn coarse(processors: u32) -> Self {
        Self { threads: doubling(processors), queue_depths: COARSE_DEPTHS.to_vec() }
    }

    /// Returns the levels around these knees.
    pub fn around(knees: &[Knee]) -> Self {
        let (mut threads, mut depths) = (BTreeSet::new(), BTreeSet::new());
        for point in knees.iter().map(Knee::best) {
            let (around_threads, around_depths) = around(point.threads, point.queue_depth);
            threads.extend(around_threads);
            depths.extend(around_depths);
        }
        Self { threads: threads.into_iter().collect(), queue_depths: depths.into_iter().collect() }
    }
}

impl Knee {
    /// The point at the knee; where there is none, the one with the highest IOPS.
    pub fn best(&self) -> &KneePoint {
        &self.points[self.knee.unwrap_or(self.maximum)]
    }

    /// `pattern=random-read: `, before a sentence; empty without other factors.
    pub(crate) fn prefix(&self) -> String {
        if self.group.is_empty() { String::new() } else { format!("{}: ", self.group) }
    }
}

impl fmt::Display for Knee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (prefix, KneePoint { threads, queue_depth, .. }) = (self.prefix(), self.best());
        let most = if self.knee.is_some() { "" } else { ", the largest tried" };
        write!(f, "{prefix}knee near {threads} threads x {queue_depth}{most}")
    }
}

/// Numbers of threads and queue depths around those of a knee: from a quarter of the I/Os in flight
/// to four times as many.
fn around(threads: u64, depth: u64) -> (Vec<u32>, Vec<u32>) {
    let quarters =
        [1, 2, 3, 4, 6, 8, 16].map(|quarters| (depth * quarters / 4).clamp(1, DEPTH_MAX));
    let mut depths: BTreeSet<u64> = quarters.into();
    let (more, largest) =
        (LEVELS_MIN.saturating_sub(depths.len()), depths.last().copied().unwrap_or(1));
    depths.extend((1..=more as u64).map(|step| largest + step));
    // With a depth of 1 it takes fewer threads to have fewer I/Os in flight.
    let fewer = (threads > 1 && depth < 4).then_some(threads / 2);
    let threads = fewer.into_iter().chain([threads]).map(|threads| threads as u32).collect();
    (threads, depths.into_iter().map(|depth| depth as u32).collect())
}

#[cfg(test)]
mod tests {
    use super::{SearchLevels, around};

    #[test]
    fn the_fine_levels_lie_around_the_knee() {
        assert_eq!(around(2, 16), (vec![2], vec![4, 8, 12, 16, 24, 32, 64]));
        assert_eq!(around(1, 1), (vec![1], vec![1, 2, 4, 5]));
        assert_eq!(around(4, 1), (vec![2, 4], vec![1, 2, 4, 5]));
        assert_eq!(around(1, 65_536).1.last(), Some(&65_536));
    }

    #[test]
    fn the_coarse_threads_end_with_the_processors() {
        assert_eq!(SearchLevels::coarse(6).threads, [1, 2, 4, 6]);
        assert_eq!(SearchLevels::coarse(8).threads, [1, 2, 4, 8]);
        assert_eq!(SearchLevels::coarse(1).threads, [1]);
    }
}
