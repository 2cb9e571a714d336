//! Times of configurations by block, and the selectivity at which two alternatives take as long.
//!
//! Each block gives one crossover: times of both are compared at each selectivity, and between two
//! of them the logarithm of their ratio is interpolated over the logarithm of the selectivity. The
//! interval is over the blocks.

use crate::facts::{FORCED, SELECTED_SECOND};
use crate::probe::OptimizerProbe;
use crate::settings::{ALTERNATIVE, CHOSEN, SECOND_SELECTIVITY, SELECTIVITY};
use ::probe::Probe as _;
use analysis::{Estimate, Interval, Ratio, Summary, settings};
use observations::{Direction, Observations};
use serde::Serialize;
use statistics::mean;
use std::collections::BTreeMap;

/// A configuration with its times by block.
pub(crate) struct TimesRow<'a> {
    pub selectivity: f64,
    /// Of a template for a plan diagram.
    pub second: Option<f64>,
    pub alternative: String,
    pub trials: Vec<&'a Observations>,
    pub times: BTreeMap<u32, f64>,
}

impl TimesRow<'_> {
    /// Returns whether every trial ran by the alternative that was asked for.
    pub fn is_forced(&self) -> bool {
        self.trials.iter().all(|trial| FORCED.read(trial).is_none_or(|flag| flag > 0.0))
    }

    /// Mean time of an execution.
    pub fn ms(&self) -> Option<Estimate> {
        let times: Vec<f64> = self.times.values().copied().collect();
        Estimate::from_amounts(&times, "ms", Direction::LowerIsBetter)
    }
}

/// Configurations that differ in selectivities and alternative only.
pub(crate) struct Group<'a> {
    /// Label of what they share.
    pub label: String,
    /// The measured ones of them, at least one.
    pub all: Vec<TimesRow<'a>>,
}

/// The measured configurations of this study that differ in these settings only, in the order of
/// the file.
pub(crate) fn measured_groups<'a>(summary: &Summary<'a>, varied: &[&str]) -> Vec<Group<'a>> {
    let groups = settings::groups(summary.recording, OptimizerProbe.declarations().name, |path| {
        varied.contains(&path)
    });
    let measured = groups.into_iter().filter_map(|group| {
        let configurations = group.configurations.into_iter();
        let time = |trial: &Observations| trial.response("query_time");
        let all: Vec<TimesRow<'_>> =
            configurations.filter_map(|index| measured(summary, index, time)).collect();
        (!all.is_empty()).then_some(Group { label: group.label, all })
    });
    measured.collect()
}

/// Where the crossover by time is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ByTime {
    /// Between two selectivities that were measured.
    At {
        /// Share of rows: the geometric mean of the blocks.
        share: f64,
        /// 95 % interval; `None` with one block.
        interval: Option<Interval>,
        /// Blocks.
        blocks: usize,
    },
    /// A scan is faster at the smallest selectivity already in some blocks, or in all.
    Below {
        /// The smallest selectivity.
        share: f64,
    },
    /// A scan is slower at the largest selectivity still in some blocks, or in all.
    Above {
        /// The largest selectivity.
        share: f64,
    },
    /// Some alternatives were not measured.
    Unknown,
}

impl ByTime {
    /// Of shares of rows: an interval ends at all rows.
    pub(crate) fn of_shares(self) -> Self {
        match self {
            Self::At { share, interval: Some(ends), blocks } => {
                let ends = Interval { low: ends.low.min(1.0), high: ends.high.min(1.0) };
                Self::At { share, interval: Some(ends), blocks }
            }
            time => time,
        }
    }
}

/// The cost of the optimizer's choice.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Regret {
    /// The best alternative there.
    pub best: String,
    /// Time of the choice relative to it.
    pub ratio: f64,
    /// 95 % interval of the ratio, by blocks; not adjusted for naming the largest.
    pub interval: Option<Interval>,
}

/// A configuration with its times; `None`: it has none.
pub(crate) fn measured<'a>(
    summary: &Summary<'a>,
    index: usize,
    time: impl Fn(&Observations) -> Option<f64>,
) -> Option<TimesRow<'a>> {
    let record = &summary.recording.configurations[index];
    let blocks = summary.recording.trials.iter().map(|trial| trial.block);
    let times = blocks.filter_map(|block| {
        let cell = summary.grid.cell(index, block).filter(|cell| !cell.timed_out())?;
        Some((block, time(cell)?))
    });
    let trials = summary.grid.trials(index);
    let selectivity = record.get(SELECTIVITY.path()).unwrap_or(SELECTIVITY_DEFAULT);
    let has_second = trials.iter().any(|trial| SELECTED_SECOND.read(trial).is_some());
    let second = record.get(SECOND_SELECTIVITY.path()).unwrap_or(selectivity);
    let measured = TimesRow {
        selectivity,
        second: has_second.then_some(second),
        alternative: record.get(ALTERNATIVE.path()).unwrap_or_else(|| CHOSEN.to_owned()),
        trials,
        times: times.collect(),
    };
    (!measured.times.is_empty()).then_some(measured)
}

/// Where a file does not give it.
const SELECTIVITY_DEFAULT: f64 = 0.01;

/// Mean of the logarithms of an alternative's times.
fn mean_log(measurement: &TimesRow<'_>) -> f64 {
    mean(measurement.times.values().map(|ms| ms.ln()))
}

/// The fastest of these over all blocks.
pub(crate) fn best<'m, 'a>(
    all: &[&'m TimesRow<'a>],
    is_wanted: impl Fn(&str) -> bool,
) -> Option<&'m TimesRow<'a>> {
    let candidates = all.iter().filter(|measurement| {
        measurement.alternative != CHOSEN && is_wanted(&measurement.alternative)
    });
    candidates.min_by(|first, other| mean_log(first).total_cmp(&mean_log(other))).copied()
}

/// The logarithm of the time of one over that of another, by block.
pub(crate) fn log_ratios(above: &TimesRow<'_>, below: &TimesRow<'_>) -> BTreeMap<u32, f64> {
    let pairs = above
        .times
        .iter()
        .filter_map(|(block, ms)| Some((*block, (ms / below.times.get(block)?).ln())));
    pairs.collect()
}

/// The choice against the best alternative. It is the best over all blocks, so that the choice of
/// it in each block cannot make it better than it is.
pub(crate) fn regret(all: &[&TimesRow<'_>]) -> Option<Regret> {
    let chosen = all.iter().find(|measurement| measurement.alternative == CHOSEN)?;
    let best = best(all, |_| true)?;
    let logs: Vec<f64> = log_ratios(chosen, best).into_values().collect();
    let Ratio { ratio, interval, .. } = Ratio::from_logs(&logs)?;
    Some(Regret { best: best.alternative.clone(), ratio, interval })
}

/// The crossover of each block, and their mean. `ratios`: by rising selectivity, the logarithm of
/// the time of a scan over that of another plan, by block.
pub fn by_time(ratios: &[(f64, BTreeMap<u32, f64>)]) -> ByTime {
    let (Some(first), Some(last)) = (ratios.first(), ratios.last()) else {
        return ByTime::Unknown;
    };
    let blocks: Vec<u32> = first.1.keys().copied().collect();
    let mut logs = Vec::new();
    for block in blocks {
        let points: Vec<(f64, f64)> = ratios
            .iter()
            .filter_map(|(share, by_block)| Some((share.ln(), *by_block.get(&block)?)))
            .collect();
        match crossing(&points) {
            Crossing::At(log) => logs.push(log),
            Crossing::Below => return ByTime::Below { share: first.0 },
            Crossing::Above => return ByTime::Above { share: last.0 },
        }
    }
    match Ratio::from_logs(&logs) {
        Some(Ratio { ratio: share, interval, blocks }) => ByTime::At { share, interval, blocks },
        None => ByTime::Unknown,
    }
}

/// Where a line through points passes 0.
enum Crossing {
    At(f64),
    /// It is below 0 at the first point.
    Below,
    /// It is above 0 at the last point.
    Above,
}

/// The last place at which the line falls through 0: beyond it a scan is always faster.
fn crossing(points: &[(f64, f64)]) -> Crossing {
    let Some(last_slower) = points.iter().rposition(|(_, difference)| *difference > 0.0) else {
        return Crossing::Below;
    };
    let (Some(from), Some(to)) = (points.get(last_slower), points.get(last_slower + 1)) else {
        return Crossing::Above;
    };
    Crossing::At(from.0 + (to.0 - from.0) * from.1 / (from.1 - to.1))
}

#[cfg(test)]
mod tests {
    use super::{ByTime, by_time};
    use std::collections::BTreeMap;

    fn ratios(of: impl Fn(f64, u32) -> f64) -> Vec<(f64, BTreeMap<u32, f64>)> {
        let blocks = |share: f64| (1..=4).map(|block| (block, of(share, block))).collect();
        [0.001, 0.01, 0.1, 1.0].map(|share| (share, blocks(share))).into()
    }

    #[test]
    fn the_crossover_of_a_known_law_is_found() {
        // The time of the other plan grows with the share: equal at 3 %.
        let found = by_time(&ratios(|share, _| (0.03 / share).ln()));
        let ByTime::At { share, interval, blocks: 4 } = found else { panic!("{found:?}") };
        assert!((share / 0.03 - 1.0).abs() < 1e-9, "{share}");
        assert!(interval.unwrap().high / interval.unwrap().low < 1.000_001);
        // Blocks that differ give an interval around it.
        let found = by_time(&ratios(|share, block| {
            (0.03 / share).ln() + if block % 2 == 0 { 0.1 } else { -0.1 }
        }));
        let ByTime::At { share, interval: Some(interval), .. } = found else { panic!("{found:?}") };
        assert!((share / 0.03 - 1.0).abs() < 1e-9 && interval.contains(share));
        assert!(interval.low < 0.03 * 0.9 && interval.high > 0.03 * 1.1, "{interval:?}");
    }

    #[test]
    fn a_crossover_outside_of_the_measured_selectivities_is_named_so() {
        assert_eq!(by_time(&ratios(|_, _| -1.0)), ByTime::Below { share: 0.001 });
        assert_eq!(by_time(&ratios(|_, _| 1.0)), ByTime::Above { share: 1.0 });
        assert_eq!(by_time(&[]), ByTime::Unknown);
    }
}
