//! The model of a response surface: a polynomial of coded levels, and the shift of each block.

use crate::mathematics::subsets::subsets;
use crate::mathematics::{Fit, FitError};
use observations::Interval;
use serde::Serialize;
use statistics::{dot, f_upper_p, t_quantile};

/// A fitted surface.
#[derive(Debug, Clone, PartialEq)]
pub struct Surface {
    /// The fit: the mean of the first block, the shift of each further block, then `terms`.
    pub fit: Fit,
    /// The terms by their factors: `[0]` x1, `[0, 1]` x1 x2, `[0, 0]` x1 squared.
    pub terms: Vec<Vec<usize>>,
    /// Number of factors.
    pub factors: usize,
    /// Coefficients before those of the terms: mean and blocks.
    pub before: usize,
    /// The test of its fit; `None` without repeats of a point in a block, or without points beyond
    /// the number of coefficients.
    pub lack_of_fit: Option<LackOfFit>,
}

/// The test whether the model misses more than repeats of the same point vary.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LackOfFit {
    /// Ratio of variances.
    pub f: f64,
    /// Degrees of freedom of the misses.
    pub df_misses: usize,
    /// Degrees of freedom of the repeats.
    pub df_repeats: usize,
    /// The p-value of "the model fits".
    pub p_value: f64,
}

impl Surface {
    /// Fits a surface of second order to values at coded points, each in a block from 0.
    ///
    /// # Errors
    /// When the points do not determine it.
    pub fn fit(points: &[Vec<f64>], blocks: &[usize], values: &[f64]) -> Result<Self, FitError> {
        let factors = points.first().map_or(0, Vec::len);
        let mut terms: Vec<Vec<usize>> = (0..factors).map(|factor| vec![factor]).collect();
        terms.extend(subsets(factors, 2));
        terms.extend((0..factors).map(|factor| vec![factor; 2]));
        let mut columns = vec![vec![1.0; values.len()]];
        columns.extend(shifts(blocks));
        let before = columns.len();
        columns.extend(terms.iter().map(|term| {
            points.iter().map(|point| term.iter().map(|factor| point[*factor]).product()).collect()
        }));
        let fit = Fit::new(&columns, values)?;
        let lack_of_fit = lack_of_fit(points, blocks, values, &fit);
        Ok(Self { fit, terms, factors, before, lack_of_fit })
    }

    /// Returns whether points, each in a block from 0, determine a surface of second order.
    pub fn is_determined(points: &[Vec<f64>], blocks: &[usize]) -> bool {
        Self::fit(points, blocks, &vec![1.0; points.len()]).is_ok()
    }

    /// Returns whether corners and added runs, in a block each, determine a surface over some of
    /// their factors.
    pub fn is_determined_by(corners: &[&[i8]], added: &[Vec<i8>], factors: &[usize]) -> bool {
        let all = corners.iter().copied().chain(added.iter().map(Vec::as_slice));
        let points: Vec<Vec<f64>> =
            all.map(|run| factors.iter().map(|at| f64::from(run[*at])).collect()).collect();
        let blocks: Vec<usize> =
            (0..points.len()).map(|run| usize::from(run >= corners.len())).collect();
        Self::is_determined(&points, &blocks)
    }

    /// Coefficient of a term, 0 of one that the model lacks.
    pub fn coefficient(&self, term: &[usize]) -> f64 {
        let position = self.terms.iter().position(|known| known == term);
        position.map_or(0.0, |at| self.fit.coefficients[self.before + at])
    }

    /// The value at a point in a block with the mean shift, with the 95 % interval of this mean;
    /// none without degrees of freedom.
    pub fn estimate(&self, point: &[f64]) -> (f64, Option<Interval>) {
        let blocks = self.before as f64;
        let shifts = (0..self.before).map(|at| if at == 0 { 1.0 } else { 1.0 / blocks });
        let terms = self.terms.iter().map(|term| term.iter().map(|at| point[*at]).product());
        let weights: Vec<f64> = shifts.chain(terms).collect();
        let value = dot(&weights, &self.fit.coefficients);
        let variance = weights.iter().zip(&self.fit.unscaled);
        let variance: f64 = variance.map(|(weight, row)| weight * dot(row, &weights)).sum();
        let half = self.fit.variance().map(|error_variance| {
            t_quantile(0.025, self.fit.df as f64) * (error_variance * variance).sqrt()
        });
        (value, half.map(|half| Interval::around(value, half)))
    }

    /// Half the coefficient of a product, or that of a square: an element of the symmetric matrix
    /// of the second-order part.
    pub(crate) fn half(&self, first: usize, other: usize) -> f64 {
        let product = self.coefficient(&[first.min(other), first.max(other)]);
        if first == other { product } else { product / 2.0 }
    }
}

/// Compares the misses of the model with the error of repeats. Repeats are runs of a point in
/// several blocks, apart from what the blocks differ by, or in one.
fn lack_of_fit(
    points: &[Vec<f64>],
    blocks: &[usize],
    values: &[f64],
    fit: &Fit,
) -> Option<LackOfFit> {
    let distinct = distinct(points);
    let mut columns: Vec<Vec<f64>> = distinct
        .iter()
        .map(|point| indicator(points.iter().map(|tested| tested == point)))
        .collect();
    columns.extend(shifts(blocks));
    // Blocks without a common point are determined together with their points.
    let kept = statistics::independent_columns(&columns).into_iter();
    let columns: Vec<Vec<f64>> = kept.map(|at| columns[at].clone()).collect();
    let repeats = Fit::new(&columns, values).ok()?;
    let (df_repeats, pure) = (repeats.df, repeats.residual_squares);
    let df_misses = fit.df.checked_sub(df_repeats)?;
    // Rounding is not an error, where a scripted engine has no noise at all.
    if df_repeats == 0 || df_misses == 0 || pure <= 1e-20 * fit.total_squares {
        return None;
    }
    let misses = (fit.residual_squares - pure).max(0.0);
    let f = misses / df_misses as f64 / (pure / df_repeats as f64);
    let p_value = f_upper_p(f, df_misses as f64, df_repeats as f64);
    Some(LackOfFit { f, df_misses, df_repeats, p_value })
}

/// A column for the shift of each block but the first.
fn shifts(blocks: &[usize]) -> impl Iterator<Item = Vec<f64>> {
    let others = 1..=blocks.iter().copied().max().unwrap_or(0);
    others.map(move |other| indicator(blocks.iter().map(move |block| *block == other)))
}

fn indicator(is_own: impl Iterator<Item = bool>) -> Vec<f64> {
    is_own.map(|is_member| f64::from(u8::from(is_member))).collect()
}

fn distinct(points: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut distinct: Vec<Vec<f64>> = Vec::new();
    for point in points {
        if !distinct.contains(point) {
            distinct.push(point.clone());
        }
    }
    distinct
}
