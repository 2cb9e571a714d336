//! Two configurations, of one run or of two, head to head.

use crate::grid::{Grid, Matched};
use crate::{Comparison, Decomposition, Estimate, ResponseChoice};
use observations::{Observations, Recording};
use serde::Serialize;

/// One side of a comparison.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// The run.
    pub recording: &'a Recording,
    /// Position of the configuration in it.
    pub configuration: usize,
}

/// How the second side differs from the first, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HeadToHead {
    /// The response compared: that of the first side's run.
    pub response: ResponseChoice,
    /// Estimate of the first.
    pub from: Option<Estimate>,
    /// Estimate of the second.
    pub to: Option<Estimate>,
    /// How much better the second is; above 1 is better. `None` when one side has no trial done.
    pub comparison: Option<Comparison>,
    /// The difference in seconds for each unit of work, part by part; `None` when one side has done no work.
    pub decomposition: Option<Decomposition>,
}

/// Compares two configurations: by paired blocks within a run; blocks of different runs have
/// nothing in common and are compared apart (Welch).
///
/// `None` when neither side has a trial done or a position is out of range.
pub fn compare(from: Side, to: Side) -> Option<HeadToHead> {
    let response = ResponseChoice::of(from.recording).or_else(|| ResponseChoice::of(to.recording))?;
    let same_run = std::ptr::eq(from.recording, to.recording);
    let (grid_from, grid_to) = (Grid::new(from.recording), Grid::new(to.recording));
    let cells_from = grid_from.cells.get(from.configuration)?;
    let cells_to = grid_to.cells.get(to.configuration)?;
    let matched = |usable: &dyn Fn(&Observations) -> bool| {
        if same_run {
            Matched::configurations(cells_from, cells_to, usable)
        } else {
            Matched::apart(cells_from, cells_to, usable)
        }
    };
    let estimate = |cells: &std::collections::BTreeMap<u32, &Observations>| {
        let values: Vec<f64> = cells.values().filter_map(|o| response.value(o)).collect();
        Estimate::of(&values, &response.unit, response.direction)
    };
    Some(HeadToHead {
        from: estimate(cells_from),
        to: estimate(cells_to),
        comparison: Comparison::of(&matched(&|o| response.value(o).is_some()), &response),
        decomposition: Decomposition::of(&matched(&Decomposition::usable)),
        response,
    })
}
