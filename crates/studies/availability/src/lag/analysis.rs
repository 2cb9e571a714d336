//! The highest rate of writes at which the lag stays bounded.

use super::probe::{LAG_LIMIT, LAG_P95, Lag, RATE, WRITES};
use ::probe::Probe as _;
use analysis::{Estimate, Study, Summary, settings};
use observations::{Direction, order};
use serde::Serialize;
use std::collections::BTreeMap;

/// The study's part in the analysis of its runs.
pub const STUDY: Study = Study::new("lag");

/// Values where a file does not give them.
const RATE_DEFAULT: f64 = 500.0;
const LIMIT_DEFAULT_S: f64 = 0.1;

/// The levels of the rate, with all other settings equal.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Lags {
    /// The other settings.
    pub group: String,
    /// The limit of the lag in ms.
    pub limit_ms: f64,
    /// The levels, slowest first.
    pub levels: Vec<Level>,
    /// The highest rate with bounded lag; `None`: in some block there is none.
    pub bounded: Option<TopRate>,
}

/// A level of the rate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Level {
    /// Writes a second that were asked for.
    pub rate: f64,
    /// Writes a second that were acknowledged, over blocks.
    pub reached: Estimate,
    /// The lag that 95 % of the looks do not exceed, in ms, over blocks.
    pub lag_p95: Estimate,
    /// Blocks in which that is within the limit.
    pub within: usize,
}

/// The highest rate that was reached with bounded lag.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TopRate {
    /// Writes a second, over blocks.
    pub rate: Estimate,
    /// In some block no level was beyond the limit: the rate may be higher.
    pub is_lower_bound: bool,
}

/// The rate and the lag of a trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Writes a second that were asked for.
    pub rate: f64,
    /// Writes a second that were acknowledged.
    pub reached: f64,
    /// The lag that 95 % of the looks do not exceed, in ms.
    pub lag_ms: f64,
}

/// The groups of configurations that differ in the rate alone.
pub(crate) fn lags(summary: &Summary) -> Vec<Lags> {
    let groups =
        settings::groups(summary.recording, Lag.declarations().name, |path| path == RATE.path());
    let all = groups.into_iter().filter_map(|group| {
        let limit_s = summary.recording.configurations[*group.configurations.first()?]
            .get(LAG_LIMIT.path())
            .unwrap_or(LIMIT_DEFAULT_S);
        let blocks = blocks(summary, &group.configurations);
        (!blocks.is_empty()).then(|| Lags {
            group: group.label,
            limit_ms: 1e3 * limit_s,
            levels: levels(&blocks, 1e3 * limit_s),
            bounded: bounded(&blocks, 1e3 * limit_s),
        })
    });
    all.collect()
}

/// The points of each block, slowest first.
fn blocks(summary: &Summary, configurations: &[usize]) -> Vec<Vec<Point>> {
    let mut blocks = BTreeMap::<u32, Vec<Point>>::new();
    for configuration in configurations {
        let record = &summary.recording.configurations[*configuration];
        let rate = record.get(RATE.path()).unwrap_or(RATE_DEFAULT);
        for block in summary.recording.trials.iter().map(|trial| trial.block) {
            let Some(cell) =
                summary.grid.cell(*configuration, block).filter(|cell| !cell.timed_out())
            else {
                continue;
            };
            let (Some(reached), Some(lag_ms)) = (WRITES.read(cell), LAG_P95.read(cell)) else {
                continue;
            };
            let points = blocks.entry(block).or_default();
            let point = Point { rate, reached, lag_ms };
            if !points.contains(&point) {
                points.push(point);
            }
        }
    }
    for points in blocks.values_mut() {
        order::smallest_first(points, &|row| row.rate);
    }
    blocks.into_values().collect()
}

fn levels(blocks: &[Vec<Point>], limit_ms: f64) -> Vec<Level> {
    let mut rates: Vec<f64> = blocks.iter().flatten().map(|point| point.rate).collect();
    rates.sort_by(f64::total_cmp);
    rates.dedup();
    let levels = rates.into_iter().filter_map(|rate| {
        let points: Vec<&Point> =
            blocks.iter().flatten().filter(|point| point.rate.total_cmp(&rate).is_eq()).collect();
        let reached: Vec<f64> = points.iter().map(|point| point.reached).collect();
        let lags: Vec<f64> = points.iter().map(|point| point.lag_ms).collect();
        Some(Level {
            rate,
            reached: Estimate::from_amounts(&reached, "writes/s", Direction::HigherIsBetter)?,
            lag_p95: Estimate::from_amounts(&lags, "ms", Direction::LowerIsBetter)?,
            within: lags.iter().filter(|lag| **lag <= limit_ms).count(),
        })
    });
    levels.collect()
}

/// The highest rate with bounded lag: in each block the rate that the last level reached before the
/// first one beyond the limit. `None` when a block has no such level.
pub fn bounded(blocks: &[Vec<Point>], limit_ms: f64) -> Option<TopRate> {
    let within = |points: &[Point]| {
        points.iter().take_while(|point| point.lag_ms <= limit_ms).copied().collect::<Vec<_>>()
    };
    let highest = blocks.iter().map(|points| Some(within(points).last()?.reached));
    let highest = highest.collect::<Option<Vec<f64>>>()?;
    Some(TopRate {
        rate: Estimate::from_amounts(&highest, "writes/s", Direction::HigherIsBetter)?,
        is_lower_bound: blocks.iter().any(|points| within(points).len() == points.len()),
    })
}

#[cfg(test)]
mod tests {
    use super::{Point, bounded};

    fn points(pairs: &[(f64, f64)]) -> Vec<Point> {
        pairs
            .iter()
            .map(|(rate, lag_ms)| Point { rate: *rate, reached: *rate, lag_ms: *lag_ms })
            .collect()
    }

    #[test]
    fn the_highest_rate_is_that_before_the_first_level_beyond_the_limit() {
        let unordered = points(&[(100.0, 5.0), (200.0, 10.0), (400.0, 900.0), (800.0, 90.0)]);
        let other = points(&[(100.0, 5.0), (200.0, 300.0), (400.0, 900.0)]);
        let found = bounded(&[unordered.clone(), other.clone()], 100.0).unwrap();
        assert_eq!((found.rate.mean, found.rate.n, found.is_lower_bound), (150.0, 2, false));
        // t with one degree of freedom: 12.706 x 70.71 / sqrt(2).
        let interval = found.rate.interval.unwrap();
        assert!((interval.high - 785.3).abs() < 0.1, "{interval:?}");
        // A block in which all levels are within the limit, and one in which none is.
        let all = points(&[(100.0, 5.0), (200.0, 10.0)]);
        assert!(bounded(&[unordered, all], 100.0).unwrap().is_lower_bound);
        assert_eq!(bounded(&[other, points(&[(100.0, 101.0)])], 100.0), None);
    }
}
