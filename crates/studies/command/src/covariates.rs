//! The dependence of the response on parameters that were drawn.
//!
//! Configurations of a block have the same values. A parameter that makes all of them slower by the
//! same factor cancels in each ratio, which is why comparisons need no adjustment for it. Two
//! things remain: how the response follows the parameter, by least squares over the means of
//! blocks; and whether the ratio of two configurations follows it, which means that their
//! comparison holds on average over the values drawn only. Both are t tests of a slope, and all of
//! either kind are a family (Holm).

use crate::draws::DRAWN;
use analysis::estimate::{mean, t_test};
use analysis::grid::Figures;
use analysis::response::distinct;
use analysis::{Interval, Summary};
use serde::Serialize;
use statistics::correct;

/// Blocks that a slope needs: two degrees of freedom, and one more for an interval of use.
const BLOCKS_MIN: usize = 5;

/// A drawn parameter.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Covariate {
    /// The name.
    pub name: String,
    /// The smallest and the largest value drawn.
    pub drawn: [f64; 2],
    /// Blocks with all configurations.
    pub blocks: usize,
    /// True if changes are factors, which they are where every value of the response has a
    /// logarithm; else they are differences in its unit.
    pub by_ratio: bool,
    /// The change of the mean of a block from the smallest to the largest value.
    pub response: Dependence,
    /// Share of the variance between blocks that it explains.
    pub r_squared: f64,
    /// How the ratio (or difference) of each configuration to the first one changes.
    pub comparisons: Vec<Dependence>,
}

/// Change between the smallest and the largest value drawn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Dependence {
    /// Label of the configuration, against the first one; empty of the mean over all.
    pub label: String,
    /// The factor, or the difference.
    pub change: f64,
    /// The 95 % interval, not adjusted.
    pub interval: Interval,
    /// P-value of "no change".
    pub p_value: f64,
    /// Adjusted for all parameters, and all configurations (Holm).
    pub adjusted_p: Option<f64>,
}

/// A straight line through points.
struct Line {
    slope: f64,
    /// Standard error of the slope.
    error: f64,
    df: f64,
    r_squared: f64,
}

impl Line {
    /// Least squares; `x` are not all equal.
    fn fit(x: &[f64], y: &[f64]) -> Self {
        let (mean_x, mean_y) = (mean(x), mean(y));
        let squares = |values: &[f64], mean: f64| -> f64 {
            values.iter().map(|value| (value - mean).powi(2)).sum()
        };
        let products: f64 = x.iter().zip(y).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
        let (squares_x, squares_y) = (squares(x, mean_x), squares(y, mean_y));
        let slope = products / squares_x;
        let rest: f64 =
            x.iter().zip(y).map(|(x, y)| (y - mean_y - slope * (x - mean_x)).powi(2)).sum();
        let df = x.len() as f64 - 2.0;
        let r_squared = if squares_y > 0.0 { 1.0 - rest / squares_y } else { 0.0 };
        Self { slope, error: (rest / df / squares_x).sqrt(), df, r_squared }
    }

    /// The change over this width of x.
    fn over(&self, width: f64, by_ratio: bool, label: &str) -> Dependence {
        let (interval, p_value) = t_test(self.slope * width, self.error * width, self.df);
        let scaled = |change: f64| if by_ratio { change.exp() } else { change };
        Dependence {
            label: label.to_owned(),
            change: scaled(self.slope * width),
            interval: interval.map(scaled),
            p_value,
            adjusted_p: None,
        }
    }
}

/// The response of each configuration in the blocks that have all of them.
struct Blocks {
    numbers: Vec<u32>,
    /// By configuration, then by block: logarithms where all values have one.
    values: Vec<Vec<f64>>,
    labels: Vec<String>,
    by_ratio: bool,
}

impl Blocks {
    fn complete(summary: &Summary, figures: &Figures) -> Option<Self> {
        let rows: Vec<(usize, Vec<(u32, f64)>)> = (0..figures.grid.cells.len())
            .map(|index| (index, figures.values(index).collect()))
            .filter(|(_, values): &(_, Vec<_>)| !values.is_empty())
            .collect();
        let value = |row: &[(u32, f64)], block: u32| {
            row.iter().find(|(entry, _)| *entry == block).map(|(_, value)| *value)
        };
        let (_, first) = rows.first()?;
        let numbers: Vec<u32> = first
            .iter()
            .map(|(block, _)| *block)
            .filter(|block| rows.iter().all(|(_, row)| value(row, *block).is_some()))
            .collect();
        let by_ratio = figures.all().all(|value| value > 0.0);
        let values = rows
            .iter()
            .map(|(_, row)| {
                let value = numbers.iter().filter_map(|block| value(row, *block));
                value.map(|value| if by_ratio { value.ln() } else { value }).collect()
            })
            .collect();
        let label = |index: usize| summary.recording.configurations[index].label.clone();
        let labels = rows.iter().map(|(index, _)| label(*index)).collect();
        (numbers.len() >= BLOCKS_MIN).then_some(Self { numbers, values, labels, by_ratio })
    }

    /// The mean over configurations in each block.
    fn means(&self) -> Vec<f64> {
        (0..self.numbers.len()).map(|at| mean(self.values.iter().map(|row| row[at]))).collect()
    }
}

/// Drawn parameters whose values varied over five complete blocks or more.
pub fn covariates(summary: &Summary) -> Vec<Covariate> {
    let Some(response) = &summary.response else { return Vec::new() };
    let observations = summary.grid.observations();
    let names = observations
        .iter()
        .flat_map(|observation| DRAWN.members(observation))
        .map(|(name, _)| name);
    let names = distinct(names);
    let figures = summary.grid.figures(response);
    let Some(blocks) = Blocks::complete(summary, &figures).filter(|_| !names.is_empty()) else {
        return Vec::new();
    };
    let mut found: Vec<Covariate> =
        names.iter().filter_map(|name| covariate(summary, &blocks, name)).collect();
    let responses = found.iter_mut().map(|entry| &mut entry.response);
    correct(responses.map(|response| (Some(response.p_value), &mut response.adjusted_p)).collect());
    let comparisons = found.iter_mut().flat_map(|entry| &mut entry.comparisons);
    correct(
        comparisons
            .map(|comparison| (Some(comparison.p_value), &mut comparison.adjusted_p))
            .collect(),
    );
    found
}

/// `None` where a block lacks its value, or all have the same.
fn covariate(summary: &Summary, blocks: &Blocks, name: &str) -> Option<Covariate> {
    let drawn = |block: u32| {
        let mut trials =
            (0..summary.grid.cells.len()).filter_map(|index| summary.grid.cell(index, block));
        trials.find_map(|trial| DRAWN.read(name, trial))
    };
    let x: Vec<f64> = blocks.numbers.iter().map(|block| drawn(*block)).collect::<Option<_>>()?;
    let (low, high) = (x.iter().copied().reduce(f64::min)?, x.iter().copied().reduce(f64::max)?);
    if high <= low {
        return None;
    }
    let change = |y: &[f64], label: &str| {
        let line = Line::fit(&x, y);
        (line.over(high - low, blocks.by_ratio, label), line.r_squared)
    };
    let (response, r_squared) = change(&blocks.means(), "");
    let (first, others) = blocks.values.split_first()?;
    let comparisons = blocks.labels[1..].iter().zip(others).map(|(label, row)| {
        let differences: Vec<f64> = row.iter().zip(first).map(|(row, first)| row - first).collect();
        change(&differences, label).0
    });
    Some(Covariate {
        name: name.to_owned(),
        drawn: [low, high],
        blocks: blocks.numbers.len(),
        by_ratio: blocks.by_ratio,
        response,
        r_squared,
        comparisons: comparisons.collect(),
    })
}

impl Dependence {
    /// Returns whether the change is significant at 5 % in its family.
    pub fn supported(&self) -> bool {
        self.adjusted_p.is_some_and(|p| p < 0.05)
    }
}

#[cfg(test)]
mod tests;
