//! Parallel plans over the size of the table: from how many rows on the optimizer chooses one, from
//! how many on one takes less time, and the cost of the choice in between.

use crate::facts::{CHOSEN_PARALLEL, PARALLEL_ROWS, SERIAL_ROWS};
use crate::settings::{ALTERNATIVE, CHOSEN, PARALLEL, ROWS, SCALE, SERIAL};
use crate::times::{ByTime, Regret, TimesRow, best, by_time, log_ratios, measured_groups, regret};
use analysis::{Estimate, Interval, Ratio, Summary};
use probe::data::TABLE_ROWS;
use serde::Serialize;
use std::collections::BTreeMap;

/// Parallel plans of configurations that differ in the size of the table and the alternative only.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ParallelSizes {
    /// Label of what they share.
    pub group: String,
    /// The size at which the choice of the optimizer changes; `None`: its plans do not say it.
    pub by_plan: Option<SizeByPlan>,
    /// The size from which on a parallel plan takes less time.
    pub by_time: SizeByTime,
    /// Sizes that were measured, rising.
    pub levels: Vec<SizeLevel>,
    /// The size at which the choice costs most.
    pub worst: Option<SizeRegret>,
}

/// The plans that the optimizer chooses.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SizeByPlan {
    /// Parallel from a number of rows on, found on copies of the table's first rows.
    From {
        /// The least rows with a parallel plan.
        rows: f64,
    },
    /// Serial at a size that was measured, parallel at the next one.
    Between {
        /// The most rows with a serial plan.
        serial: f64,
        /// The least rows with a parallel plan.
        parallel: f64,
    },
    /// Parallel at the smallest size already.
    Always {
        /// The rows.
        rows: f64,
    },
    /// Serial at the largest size still.
    Never {
        /// The rows.
        rows: f64,
    },
}

/// The size from which on parallelism pays.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SizeByTime {
    /// Between two sizes that were measured.
    At {
        /// Rows: the geometric mean of the blocks.
        rows: f64,
        /// 95 % interval; `None` with one block.
        interval: Option<Interval>,
        /// Blocks.
        blocks: usize,
    },
    /// At the smallest size already, in some blocks or all.
    Below {
        /// The rows.
        rows: f64,
    },
    /// Not at the largest size, in some blocks or all.
    Above {
        /// The rows.
        rows: f64,
    },
}

/// A size of the table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SizeLevel {
    /// The rows.
    pub rows: f64,
    /// Mean time of an execution by the serial plan, ms.
    pub serial: Option<Estimate>,
    /// Mean time by the parallel plan, ms.
    pub parallel: Option<Estimate>,
    /// Time of the parallel plan relative to the serial one.
    pub ratio: Option<f64>,
    /// 95 % interval of the ratio, by blocks.
    pub interval: Option<Interval>,
    /// True if the optimizer chose a parallel plan; `None`: not known.
    pub chosen_parallel: Option<bool>,
}

/// The largest cost of the optimizer's choice.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SizeRegret {
    /// Rows of the table.
    pub rows: f64,
    /// The cost there.
    #[serde(flatten)]
    pub regret: Regret,
    /// Sizes among which it is the largest.
    pub levels: usize,
}

/// Configurations with one size of the table.
struct AtSize<'m, 'a> {
    rows: f64,
    all: Vec<&'m TimesRow<'a>>,
}

/// Parallel plans over sizes of the table, in the order of the experiment file. None where fewer
/// than two sizes were measured by both alternatives.
pub fn sizes(summary: &Summary) -> Vec<ParallelSizes> {
    let axes = [ROWS.path(), SCALE.path(), ALTERNATIVE.path()];
    let groups = measured_groups(summary, &axes).into_iter();
    groups.filter_map(|group| of_group(group.label, &group.all)).collect()
}

fn of_group(group: String, all: &[TimesRow<'_>]) -> Option<ParallelSizes> {
    let mut by_rows: BTreeMap<u64, Vec<&TimesRow<'_>>> = BTreeMap::new();
    for point in all {
        let rows = point.trials.iter().find_map(|trial| TABLE_ROWS.read(trial));
        if let Some(rows) = rows {
            by_rows.entry(rows as u64).or_default().push(point);
        }
    }
    let sizes: Vec<AtSize<'_, '_>> =
        by_rows.into_iter().map(|(rows, all)| AtSize { rows: rows as f64, all }).collect();
    let ratios: Vec<(f64, BTreeMap<u32, f64>)> =
        sizes.iter().filter_map(|size| Some((size.rows, size.log_ratios()?))).collect();
    if ratios.len() < 2 {
        return None;
    }
    let by_time = match by_time(&ratios) {
        ByTime::At { share: rows, interval, blocks } => SizeByTime::At { rows, interval, blocks },
        ByTime::Below { share: rows } => SizeByTime::Below { rows },
        ByTime::Above { share: rows } => SizeByTime::Above { rows },
        ByTime::Unknown => return None,
    };
    let regrets: Vec<(f64, Regret)> =
        sizes.iter().filter_map(|size| Some((size.rows, regret(&size.all)?))).collect();
    let levels = regrets.len();
    let worst = regrets.into_iter().max_by(|first, other| first.1.ratio.total_cmp(&other.1.ratio));
    Some(ParallelSizes {
        group,
        by_plan: by_plan(&sizes),
        by_time,
        levels: sizes.iter().map(AtSize::level).collect(),
        worst: worst.map(|(rows, regret)| SizeRegret { rows, regret, levels }),
    })
}

impl<'m, 'a> AtSize<'m, 'a> {
    /// An alternative, if the engine used it. Two serial plans take as long, whatever one of them
    /// is called.
    fn forced(&self, name: &str) -> Option<&'m TimesRow<'a>> {
        let forced_points: Vec<&TimesRow<'_>> =
            self.all.iter().filter(|point| point.is_forced()).copied().collect();
        best(&forced_points, |measurement| measurement == name)
    }

    /// The logarithm of the time of a parallel plan over that of a serial one, by block.
    fn log_ratios(&self) -> Option<BTreeMap<u32, f64>> {
        let logs = log_ratios(self.forced(PARALLEL)?, self.forced(SERIAL)?);
        (!logs.is_empty()).then_some(logs)
    }

    /// A fact of the trials of the optimizer's choice.
    fn of_choice(&self, fact: observations::FactName) -> Option<f64> {
        let chosen = self.all.iter().filter(|point| point.alternative == CHOSEN);
        chosen.flat_map(|point| &point.trials).find_map(|trial| fact.read(trial))
    }

    fn is_chosen_parallel(&self) -> Option<bool> {
        Some(self.of_choice(CHOSEN_PARALLEL)? > 0.0)
    }

    fn level(&self) -> SizeLevel {
        let time = |name| self.forced(name)?.ms();
        let logs: Vec<f64> = self.log_ratios().unwrap_or_default().into_values().collect();
        let ratio = Ratio::from_logs(&logs);
        SizeLevel {
            rows: self.rows,
            serial: time(SERIAL),
            parallel: time(PARALLEL),
            ratio: ratio.as_ref().map(|ratio| ratio.ratio),
            interval: ratio.and_then(|ratio| ratio.interval),
            chosen_parallel: self.is_chosen_parallel(),
        }
    }
}

/// The change of the plan: as copies of the first rows show it, otherwise between two sizes.
fn by_plan(sizes: &[AtSize<'_, '_>]) -> Option<SizeByPlan> {
    // Copies of the smallest table that has a parallel plan are most like it.
    let searched = sizes.iter().find_map(|size| Some((size, size.of_choice(PARALLEL_ROWS)?)));
    if let Some((size, rows)) = searched {
        let is_serial_below = size.of_choice(SERIAL_ROWS).is_some();
        return Some(if is_serial_below {
            SizeByPlan::From { rows }
        } else {
            SizeByPlan::Always { rows }
        });
    }
    let known: Vec<(f64, bool)> =
        sizes.iter().filter_map(|size| Some((size.rows, size.is_chosen_parallel()?))).collect();
    let (first, last) = (known.first()?, known.last()?);
    let first_parallel = known.iter().position(|(_, is_parallel)| *is_parallel);
    Some(match first_parallel {
        None => SizeByPlan::Never { rows: last.0 },
        Some(0) => SizeByPlan::Always { rows: first.0 },
        Some(at) => SizeByPlan::Between { serial: known[at - 1].0, parallel: known[at].0 },
    })
}
