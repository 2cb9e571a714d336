//! Where parallel plans begin, and where they pay: the same comparison as that of a scan and an
//! index, between the alternatives `parallel` and `serial`.

use crate::facts::{PARALLEL_CHANGE, PARALLEL_FIRST};
use crate::settings::{PARALLEL, SERIAL};
use crate::times::{ByTime, TimesRow, best, by_time, log_ratios};
use probe::data::TABLE_ROWS;
use serde::Serialize;
use statistics::mean;
use std::collections::BTreeMap;

/// Parallelism over the selectivities of configurations that share all else.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Parallelism {
    /// By plan; `None` where plans do not say it.
    pub by_plan: Option<ParallelPlans>,
    /// True if parallelism pays from `by_time` on; false: up to it.
    pub is_from: bool,
    /// The selectivity at which both take as long.
    pub by_time: ByTime,
    /// Rows of the table.
    pub rows: Option<f64>,
}

/// The plans that the optimizer chooses.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ParallelPlans {
    /// Parallel from a share of rows on.
    From {
        /// The share.
        share: f64,
    },
    /// Parallel below a share of rows.
    Below {
        /// The share.
        share: f64,
    },
    /// Parallel at every selectivity.
    Always,
    /// Serial at every selectivity.
    Never,
}

/// Parallelism of these configurations; `None` where the alternatives were not measured.
pub(crate) fn parallelism(all: &[TimesRow<'_>], shares: &[f64]) -> Option<Parallelism> {
    let mut ratios: Vec<(f64, BTreeMap<u32, f64>)> = Vec::new();
    for share in shares {
        let at = all.iter().filter(|point| point.selectivity.total_cmp(share).is_eq());
        // Two serial plans take as long, whatever one of them is called.
        let forced_points: Vec<&TimesRow<'_>> = at.filter(|point| point.is_forced()).collect();
        let parallel = best(&forced_points, |name| name == PARALLEL);
        let serial = best(&forced_points, |name| name == SERIAL);
        let Some((parallel, serial)) = parallel.zip(serial) else { continue };
        ratios.push((*share, log_ratios(parallel, serial)));
    }
    let ends = ratios.first().zip(ratios.last());
    // Work that workers share grows with the selectivity, and so do the rows that they hand over.
    let is_from = ends.map(|(first, last)| mean_log(&last.1) <= mean_log(&first.1))?;
    if !is_from {
        let logs = ratios.iter_mut().flat_map(|(_, logs)| logs.values_mut());
        logs.for_each(|log| *log = -*log);
    }
    let mut trials = all.iter().flat_map(|point| &point.trials);
    let rows = trials.find_map(|trial| TABLE_ROWS.read(trial));
    Some(Parallelism {
        by_plan: all.iter().find_map(by_plan),
        is_from,
        by_time: by_time(&ratios).of_shares(),
        rows,
    })
}

fn by_plan(point: &TimesRow<'_>) -> Option<ParallelPlans> {
    let (observations, first) =
        point.trials.iter().find_map(|trial| Some((trial, PARALLEL_FIRST.read(trial)? > 0.0)))?;
    Some(match (first, PARALLEL_CHANGE.read(observations)) {
        (false, Some(share)) => ParallelPlans::From { share },
        (true, Some(share)) => ParallelPlans::Below { share },
        (true, None) => ParallelPlans::Always,
        (false, None) => ParallelPlans::Never,
    })
}

fn mean_log(logs: &BTreeMap<u32, f64>) -> f64 {
    mean(logs.values().copied())
}
