//! Between which configurations a difference is explained.

use crate::findings::verdict_span;
use crate::grid::{Grid, Layout, Matched};
use crate::{Decomposition, Standing, Summary, wording};
use serde::Serialize;

/// Two sides that differ, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The first side: `data_files=1`, or the label of a configuration.
    pub from: String,
    /// The second.
    pub to: String,
    /// The difference, part by part.
    pub decomposition: Decomposition,
}

/// What is explained of a run: the levels of the main factor that its verdict names, then, when there are several
/// factors, the best configuration against the baseline. Only differences in the response that are supported at
/// 95 %.
pub(crate) fn explanations(summary: &Summary, grid: &Grid, layouts: &[Layout]) -> Vec<Explanation> {
    [levels(summary, grid, layouts), configurations(summary, grid)].into_iter().flatten().collect()
}

fn levels(summary: &Summary, grid: &Grid, layouts: &[Layout]) -> Option<Explanation> {
    let main = summary.main_factor?;
    let effect = summary.factors.get(main)?;
    let span = verdict_span(effect)?;
    let matched = layouts.get(main)?.matched(grid, span.from, span.to, Decomposition::usable);
    let name = wording::short_name(&effect.factor);
    Some(Explanation {
        from: format!("{name}={}", effect.levels[span.from].level),
        to: format!("{name}={}", effect.levels[span.to].level),
        decomposition: Decomposition::of(&matched)?,
    })
}

fn configurations(summary: &Summary, grid: &Grid) -> Option<Explanation> {
    let rows = &summary.configurations;
    let baseline = rows.iter().find(|row| row.baseline).filter(|_| summary.factors.len() > 1)?;
    let best = rows.iter().find(|row| row.standing == Standing::Best)?;
    best.factor.as_ref().filter(|factor| factor.supported())?;
    let (from, to) = (grid.cells.get(baseline.index)?, grid.cells.get(best.index)?);
    Some(Explanation {
        from: baseline.label.clone(),
        to: best.label.clone(),
        decomposition: Decomposition::of(&Matched::configurations(from, to, Decomposition::usable))?,
    })
}
