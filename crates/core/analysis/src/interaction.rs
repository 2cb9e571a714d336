//! Does what a factor does depend on another factor?

use crate::Comparison;
use crate::compare::{self, Betterness, Sample, Scale};
use crate::estimate::{Precision, mean};
use crate::grid::{FactorLayout, Figures, Unit};
use crate::response::resolution;
use serde::Serialize;
use statistics::f_upper_p;
use std::collections::{BTreeMap, BTreeSet};

/// Two factors: what one gains at each level of the other, and whether those gains differ.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Interaction {
    /// Position of the factor whose levels are compared.
    pub factor: usize,
    /// Position of the factor that it may depend on.
    pub by: usize,
    /// F of the interaction on the scale of `size`, by the analysis of variance with blocks as
    /// subjects.
    pub f: f64,
    /// Degrees of freedom of the interaction and of what it is tested against, reduced (Geisser
    /// and Greenhouse) as far as some configurations vary more than others.
    pub df: (f64, f64),
    /// The p-value of "each gain is the same at every level of the other factor".
    pub p_value: f64,
    /// The p-value after Holm's correction over all main effects and interactions of the
    /// experiment.
    pub adjusted_p: Option<f64>,
    /// Complete blocks.
    pub blocks: usize,
    /// The level of `factor` from which gains are counted: its reference.
    pub from: usize,
    /// The level of `factor` whose gains differ most.
    pub to: usize,
    /// `to` against `from` at each level of `by`, corrected (Holm) over these levels.
    pub gains: Vec<Option<Comparison>>,
    /// The level of `by` at which the gain is largest.
    pub most: usize,
    /// The level of `by` at which it is smallest.
    pub least: usize,
    /// The largest gain against the smallest; its interval is that of a pair chosen in advance.
    pub size: Comparison,
}

impl Interaction {
    /// Tests whether what `factor` does depends on `by`; `None` with fewer than two complete blocks
    /// or levels, or where not every pair of levels was tried equally often.
    pub(crate) fn estimate(
        factor: &FactorLayout,
        by: &FactorLayout,
        figures: &Figures,
    ) -> Option<Self> {
        let all = || figures.grid.cells.iter().flatten().map(|(_, cell)| cell);
        // Without the blocks in which a trial timed out gains would be those of fast trials only.
        if all().any(|cell| cell.timed_out) {
            return None;
        }
        let values: Vec<f64> = figures.all().collect();
        let scale = Betterness::for_values(values.iter(), figures.response.direction);
        let tables = tables(factor, by, figures, scale)?;
        let rounding = scale.rounding(resolution(all()), mean(&values));
        let (f, df) = f_test(&tables, scale.resolution, rounding)?;
        let (from, (to, most, least)) = (factor.reference, largest(&tables.all, factor.reference)?);
        let known = Precision { first: tables.first, rounding: 2.0 * rounding };
        let gain = |by: usize| Sample {
            values: tables.all.iter().map(|t| t[to][by] - t[from][by]).collect(),
            precision: known,
        };
        Some(Self {
            factor: factor.factor,
            by: by.factor,
            f,
            df,
            p_value: f_upper_p(f, df.0, df.1),
            adjusted_p: None,
            blocks: tables.all.len(),
            from,
            to,
            size: scale.comparison(&compare::paired(&gain(least), &gain(most), scale.resolution)),
            // Which level of the factor is compared was chosen by looking, too.
            gains: compare::corrected_of(
                (0..by.levels).map(|at| factor.at(by, at).compare(figures, from, to)).collect(),
                by.levels * (factor.levels - 1),
            ),
            most,
            least,
        })
    }

    /// Returns whether it is significant at 95 %, adjusted over the experiment.
    pub fn supported(&self) -> bool {
        self.adjusted_p.unwrap_or(self.p_value) < 0.05
    }

    /// The level of `by` at which the factor does most, for better or worse; `None` where nothing
    /// is supported there.
    pub(crate) fn largest_gain(&self) -> Option<usize> {
        let ends = [self.most, self.least].into_iter().filter_map(|level| {
            let gain = self.gains.get(level)?.as_ref().filter(|gain| gain.supported())?;
            let size = match gain.scale {
                Scale::Ratio => gain.value.ln().abs(),
                Scale::Difference => gain.value.abs(),
            };
            Some((level, size))
        });
        ends.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(level, _)| level)
    }

    /// Returns the size of the differences between gains, by which interactions are ranked.
    fn magnitude(&self) -> f64 {
        if self.size.scale == Scale::Ratio { self.size.value.ln() } else { self.size.value }
    }
}

/// The supported interaction with the largest size.
pub(crate) fn largest_supported(interactions: &[Interaction]) -> Option<&Interaction> {
    let supported = interactions.iter().filter(|interaction| interaction.supported());
    supported.max_by(|a, b| a.magnitude().total_cmp(&b.magnitude()))
}

/// For each complete block (or round of set-ups): the mean over all other factors of each pair of
/// levels.
struct Tables {
    all: Vec<Vec<Vec<f64>>>,
    /// The number of them that the spread is estimated from: [`Precision::first`].
    first: usize,
}

fn tables(
    factor: &FactorLayout,
    by: &FactorLayout,
    figures: &Figures,
    scale: Betterness,
) -> Option<Tables> {
    let mut members: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    let grid = &figures.grid;
    for configuration in 0..grid.cells.len() {
        if let (Some(a), Some(b)) = (factor.positions[configuration], by.positions[configuration]) {
            members.entry((a, b)).or_default().push(configuration);
        }
    }
    let each = members.values().next()?.len();
    let balanced = members.len() == factor.levels * by.levels
        && members.values().all(|member| member.len() == each);
    if !balanced || factor.levels < 2 || by.levels < 2 {
        return None;
    }
    let value = |configuration: usize, block: u32| {
        Some(scale.of_value(grid.cell(configuration, block)?.value()?))
    };
    let table = |block: u32| -> Option<Vec<Vec<f64>>> {
        let mut table = vec![vec![0.0; by.levels]; factor.levels];
        for ((a, b), members_of_cell) in &members {
            for configuration in members_of_cell {
                table[*a][*b] += value(*configuration, block)? / each as f64;
            }
        }
        Some(table)
    };
    let blocks: BTreeSet<u32> = grid.cells.iter().flatten().map(|(block, _)| *block).collect();
    let tables = blocks.into_iter().filter_map(|block| Some((block, 0, table(block)?)));
    let is_within = !factor.hard_to_change && !by.hard_to_change;
    let unit = if is_within && grid.set_up_once() { Unit::Block } else { grid.unit_of_levels() };
    let (units, first) = grid.units(tables, unit);
    let all: Vec<_> = units.into_iter().map(|(_, tables)| mean_table(&tables)).collect();
    (all.len() >= 2).then_some(Tables { all, first })
}

fn mean_table(tables: &[Vec<Vec<f64>>]) -> Vec<Vec<f64>> {
    let (rows, columns) = (tables[0].len(), tables[0][0].len());
    (0..rows)
        .map(|i| {
            (0..columns)
                .map(|j| tables.iter().map(|table| table[i][j]).sum::<f64>() / tables.len() as f64)
                .collect()
        })
        .collect()
}

/// F of the interaction. The numerator is the residual of each pair of levels after subtracting the
/// means of both levels; the denominator is its variation between blocks, at least that of
/// rounding.
fn f_test(tables: &Tables, resolution: f64, rounding: f64) -> Option<(f64, (f64, f64))> {
    let n = tables.all.len() as f64;
    let (rows, columns) = (tables.all[0].len(), tables.all[0][0].len());
    let contrasts = ((rows - 1) * (columns - 1)) as f64;
    let residuals: Vec<Vec<f64>> = tables.all.iter().map(|table| centred(table)).collect();
    let (means, _) = around_means(&residuals);
    let between = n * means.iter().map(|mean| mean * mean).sum::<f64>();
    let first = Precision { first: tables.first, rounding }.first_stage(residuals.len());
    let (_, around) = around_means(&residuals[..first]);
    let df = first as f64 - 1.0;
    let within = around.iter().flatten().map(|value| value * value).sum::<f64>() / df;
    // Without noise (a scripted engine) only rounding is left, which is not an interaction.
    if means.iter().all(|mean| mean.abs() < resolution) && within * df < resolution * resolution {
        return Some((0.0, (contrasts, contrasts * df)));
    }
    let epsilon = epsilon(&around, contrasts);
    let f = between / within.max(n * contrasts * rounding);
    (!f.is_nan()).then_some((f, (epsilon * contrasts, epsilon * contrasts * df)))
}

/// The mean of each column, and what is left without it.
fn around_means(rows: &[Vec<f64>]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let mean = |i: usize| rows.iter().map(|row| row[i]).sum::<f64>() / rows.len() as f64;
    let means: Vec<f64> = (0..rows[0].len()).map(mean).collect();
    let around =
        rows.iter().map(|row| row.iter().zip(&means).map(|(value, mean)| value - mean).collect());
    let around = around.collect();
    (means, around)
}

/// Returns the evenness of the noise over the contrasts: 1 when evenly, 1 / contrasts when it is
/// all in one. With the degrees of freedom times this, the test holds where some configurations are
/// noisier than others. Source: S. Geisser and S. Greenhouse, Annals of Mathematical Statistics 29
/// (1958).
fn epsilon(residuals: &[Vec<f64>], contrasts: f64) -> f64 {
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let trace: f64 = residuals.iter().map(|block| product(block, block)).sum();
    let squares: f64 =
        residuals.iter().flat_map(|a| residuals.iter().map(|b| product(a, b).powi(2))).sum();
    if squares > 0.0 { (trace * trace / (contrasts * squares)).min(1.0) } else { 1.0 }
}

/// Residuals of a table, row by row, after removing the means of rows and columns.
pub(crate) fn centred(table: &[Vec<f64>]) -> Vec<f64> {
    let rows: Vec<f64> = table.iter().map(mean).collect();
    let columns: Vec<f64> = (0..table[0].len())
        .map(|j: usize| table.iter().map(|row| row[j]).sum::<f64>() / table.len() as f64)
        .collect();
    let mean = mean(&rows);
    (0..rows.len())
        .flat_map(|i| (0..columns.len()).map(move |j| (i, j)))
        .map(|(i, j)| table[i][j] - rows[i] - columns[j] + mean)
        .collect()
}

/// The level whose gain over the reference differs most, and where it is largest and smallest.
fn largest(tables: &[Vec<Vec<f64>>], reference: usize) -> Option<(usize, usize, usize)> {
    let (a, b) = (tables[0].len(), tables[0][0].len());
    let gain = |to: usize, by: usize| -> f64 {
        tables.iter().map(|table| table[to][by] - table[reference][by]).sum::<f64>()
    };
    let spread = |(to, most, least): (usize, usize, usize)| gain(to, most) - gain(to, least);
    (0..a)
        .filter(|to| *to != reference)
        .filter_map(|to: usize| {
            let most = (0..b).max_by(|x, y| gain(to, *x).total_cmp(&gain(to, *y)))?;
            let least = (0..b).min_by(|x, y| gain(to, *x).total_cmp(&gain(to, *y)))?;
            Some((to, most, least))
        })
        .max_by(|x, y| spread(*x).total_cmp(&spread(*y)))
}
