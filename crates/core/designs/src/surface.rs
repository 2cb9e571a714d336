//! The model of a response surface: a polynomial of coded levels, and the shift of each block.

use crate::alias::subsets;
use crate::{Fit, FitError};
use statistics::f_upper_p;

/// Order of the polynomial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// A plane.
    First,
    /// With products and squares.
    Second,
}

/// A fitted surface.
#[derive(Debug, Clone, PartialEq)]
pub struct Surface {
    /// The fit: the mean of the first block, the shift of each further block, then `terms`.
    pub fit: Fit,
    /// Its terms by their factors: `[0]` x1, `[0, 1]` x1 x2, `[0, 0]` x1 squared.
    pub terms: Vec<Vec<usize>>,
    /// Number of factors.
    pub factors: usize,
    /// Coefficients before those of the terms: mean and blocks.
    pub before: usize,
    lack_of_fit: Option<LackOfFit>,
}

/// The test whether the model misses more than repeats of the same point vary.
#[derive(Debug, Clone, Copy, PartialEq)]
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
    /// Fits a surface to values at coded points, each in a block from 0.
    ///
    /// # Errors
    /// When the points do not determine it.
    pub fn fit(
        points: &[Vec<f64>],
        blocks: &[usize],
        values: &[f64],
        order: Order,
    ) -> Result<Self, FitError> {
        let factors = points.first().map_or(0, Vec::len);
        let mut terms: Vec<Vec<usize>> = (0..factors).map(|factor| vec![factor]).collect();
        if order == Order::Second {
            terms.extend(subsets(factors, 2));
            terms.extend((0..factors).map(|factor| vec![factor; 2]));
        }
        let mut columns = vec![vec![1.0; values.len()]];
        let blocks_max = blocks.iter().copied().max().unwrap_or(0);
        columns
            .extend((1..=blocks_max).map(|block| {
                blocks.iter().map(|own| f64::from(u8::from(*own == block))).collect()
            }));
        let before = columns.len();
        columns.extend(terms.iter().map(|term| {
            points.iter().map(|point| term.iter().map(|factor| point[*factor]).product()).collect()
        }));
        let fit = Fit::new(&columns, values)?;
        let lack_of_fit = lack_of_fit(points, blocks, values, &fit);
        Ok(Self { fit, terms, factors, before, lack_of_fit })
    }

    /// The test of its fit; `None` without repeats of a point in a block, or without points beyond
    /// the number of coefficients.
    pub fn lack_of_fit(&self) -> Option<LackOfFit> {
        self.lack_of_fit
    }

    /// Coefficient of a term, 0 of one that the model lacks.
    pub fn coefficient(&self, term: &[usize]) -> f64 {
        let position = self.terms.iter().position(|own| own == term);
        position.map_or(0.0, |at| self.fit.coefficients[self.before + at])
    }

    /// The value at a point of the first block.
    pub fn at(&self, point: &[f64]) -> f64 {
        let terms = self.terms.iter().zip(&self.fit.coefficients[self.before..]);
        let sum: f64 = terms
            .map(|(term, coefficient)| {
                coefficient * term.iter().map(|factor| point[*factor]).product::<f64>()
            })
            .sum();
        self.fit.coefficients[0] + sum
    }

    /// The direction of length 1 in which the first-order part rises most; `None` of a level plane.
    pub fn ascent(&self) -> Option<Vec<f64>> {
        let slopes: Vec<f64> =
            (0..self.factors).map(|factor| self.coefficient(&[factor])).collect();
        let length = slopes.iter().map(|slope| slope * slope).sum::<f64>().sqrt();
        (length > 0.0).then(|| slopes.iter().map(|slope| slope / length).collect())
    }
}

/// Points at equal distances from the centre along a direction.
pub fn steepest(direction: &[f64], step: f64, points: usize) -> Vec<Vec<f64>> {
    (1..=points).map(|i| direction.iter().map(|part| part * step * i as f64).collect()).collect()
}

fn lack_of_fit(
    points: &[Vec<f64>],
    blocks: &[usize],
    values: &[f64],
    fit: &Fit,
) -> Option<LackOfFit> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for run in 0..values.len() {
        let same = |group: &&mut Vec<usize>| {
            blocks[group[0]] == blocks[run] && points[group[0]] == points[run]
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(run),
            None => groups.push(vec![run]),
        }
    }
    let repeats: f64 = groups
        .iter()
        .map(|group| {
            let mean = group.iter().map(|run| values[*run]).sum::<f64>() / group.len() as f64;
            group.iter().map(|run| (values[*run] - mean).powi(2)).sum::<f64>()
        })
        .sum();
    let df_repeats = values.len() - groups.len();
    let df_misses = fit.df.checked_sub(df_repeats)?;
    if df_repeats == 0 || df_misses == 0 || repeats == 0.0 {
        return None;
    }
    let misses = (fit.residual_squares - repeats).max(0.0);
    let f = misses / df_misses as f64 / (repeats / df_repeats as f64);
    let p_value = f_upper_p(f, df_misses as f64, df_repeats as f64);
    Some(LackOfFit { f, df_misses, df_repeats, p_value })
}
