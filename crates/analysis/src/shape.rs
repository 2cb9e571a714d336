//! How a response goes along the levels of an ordered factor.

use crate::grid::{FactorLayout, Grid};
use crate::{Comparison, ResponseChoice, compare};
use observations::Observations;
use serde::Serialize;

/// From one level of an ordered factor to the next larger one that has figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// Position of the smaller level.
    pub from: usize,
    /// Position of the larger level.
    pub to: usize,
    /// The larger against the smaller (above 1 is better), corrected (Holm) over all steps of the factor.
    pub comparison: Option<Comparison>,
}

/// What can be said of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Trend {
    /// Better, supported at 95 %.
    Better,
    /// Worse, supported at 95 %.
    Worse,
    /// Not distinguishable.
    Flat,
}

/// Steps with the same trend, in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Segment {
    /// What can be said of each of its steps.
    pub trend: Trend,
    /// Position of the level at which it begins.
    pub from: usize,
    /// Position of the level at which it ends.
    pub to: usize,
}

impl Step {
    /// Steps between neighbours in the order of their numbers; levels without figures are passed over.
    pub(crate) fn all(
        numeric: &[f64],
        measured: impl Fn(usize) -> bool,
        layout: &FactorLayout,
        grid: &Grid,
        response: &ResponseChoice,
    ) -> Vec<Self> {
        let mut order: Vec<usize> = (0..numeric.len()).filter(|level| measured(*level)).collect();
        order.sort_by(|a, b| numeric[*a].total_cmp(&numeric[*b]));
        let usable = |o: &Observations| response.value(o).is_some();
        let pairs = || order.windows(2).map(|pair| (pair[0], pair[1]));
        let mut comparisons: Vec<Option<Comparison>> = pairs()
            .map(|(from, to)| Comparison::of(&layout.matched(grid, from, to, usable), response))
            .collect();
        compare::correct(&mut comparisons);
        pairs().zip(comparisons).map(|((from, to), comparison)| Self { from, to, comparison }).collect()
    }

    /// What can be said of it.
    pub fn trend(&self) -> Trend {
        match &self.comparison {
            Some(comparison) if comparison.supported() && comparison.is_better() => Trend::Better,
            Some(comparison) if comparison.supported() => Trend::Worse,
            _ => Trend::Flat,
        }
    }
}

/// Steps joined where they say the same.
pub fn segments(steps: &[Step]) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    for step in steps {
        let trend = step.trend();
        match segments.last_mut() {
            Some(last) if last.trend == trend => last.to = step.to,
            _ => segments.push(Segment { trend, from: step.from, to: step.to }),
        }
    }
    segments
}
