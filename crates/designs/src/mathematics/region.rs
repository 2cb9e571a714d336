//! Where the stationary point of a surface may be: the range of each factor in its confidence
//! region.

use crate::mathematics::stationary::{Stationary, eigen};
use crate::mathematics::{Fit, Surface};
use statistics::{dot, f_upper_p};

/// Steps along a factor from the stationary point, in coded levels.
const STEP: f64 = 0.1;
/// Halvings of the step in which the region ends.
const HALVINGS: usize = 8;
/// Rounds of least squares, each with the covariances at the point before.
const ROUNDS: usize = 2;

/// The coded levels of a factor within the region.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RegionRange {
    /// The lowest; `None` if the region reaches below the tested levels.
    pub low: Option<f64>,
    /// The highest; `None` if the region reaches above the tested levels.
    pub high: Option<f64>,
}

/// The slopes of a surface at a point, and their covariances over the error's variance.
struct Slopes {
    values: Vec<f64>,
    covariances: Vec<Vec<f64>>,
}

impl Surface {
    /// The p-value of "the surface is level at this point": all slopes there are 0. Source:
    /// G. E. P. Box and J. S. Hunter, Biometrika 41 (1954).
    pub fn stationary_p(&self, point: &[f64]) -> Option<f64> {
        let variance = self.fit.variance()?;
        let Slopes { values, covariances } = self.slopes(point);
        let squares =
            eigen(covariances).into_iter().map(|eigen| eigen.along(&values).powi(2) / eigen.value);
        let f = squares.sum::<f64>() / (self.factors as f64 * variance);
        Some(f_upper_p(f, self.factors as f64, self.fit.df as f64))
    }

    /// Returns whether a point is in the 95 % confidence region of the stationary point.
    pub fn may_be_stationary(&self, point: &[f64]) -> Option<bool> {
        self.stationary_p(point).map(|p| p > 0.05)
    }

    /// The range of each factor in the confidence region around a stationary point, walked until it
    /// leaves the tested levels; `None` without degrees of freedom.
    pub fn region(
        &self,
        stationary: &Stationary,
        low: &[f64],
        high: &[f64],
    ) -> Option<Vec<RegionRange>> {
        self.fit.variance()?;
        let ranges = (0..self.factors).map(|factor| RegionRange {
            low: self.end(stationary, factor, -STEP, low[factor]),
            high: self.end(stationary, factor, STEP, high[factor]),
        });
        Some(ranges.collect())
    }

    /// The last level of a factor in the region in one direction; `None` if it is beyond the limit.
    fn end(&self, from: &Stationary, factor: usize, step: f64, limit: f64) -> Option<f64> {
        let is_beyond = |level: f64| (level - limit) * step.signum() >= 0.0;
        let (mut step, mut point) = (step, from.point.clone());
        let advance = |from: &[f64], step: f64| {
            let next = self.closest_with(factor, from[factor] + step, from);
            self.may_be_stationary(&next).unwrap_or(false).then_some(next)
        };
        while let Some(next) = advance(&point, step) {
            if is_beyond(next[factor]) {
                return None;
            }
            point = next;
        }
        for _ in 0..HALVINGS {
            step /= 2.0;
            if let Some(next) = advance(&point, step) {
                point = next;
            }
        }
        (!is_beyond(point[factor])).then_some(point[factor])
    }

    /// The point with this level of a factor at which the slopes are closest to 0, measured by
    /// their covariances.
    fn closest_with(&self, factor: usize, level: f64, from: &[f64]) -> Vec<f64> {
        let mut point = from.to_vec();
        point[factor] = level;
        let others: Vec<usize> = (0..self.factors).filter(|index| *index != factor).collect();
        for _ in 0..ROUNDS {
            let Slopes { values, covariances } = self.slopes(&point);
            let axes: Vec<_> =
                eigen(covariances).into_iter().filter(|axis| axis.value > 0.0).collect();
            let columns: Vec<Vec<f64>> = others
                .iter()
                .map(|other| {
                    let change: Vec<f64> =
                        (0..self.factors).map(|index| 2.0 * self.half(index, *other)).collect();
                    axes.iter().map(|axis| axis.along(&change) / axis.value.sqrt()).collect()
                })
                .collect();
            let left: Vec<f64> =
                axes.iter().map(|axis| -axis.along(&values) / axis.value.sqrt()).collect();
            let Ok(fit) = Fit::new(&columns, &left) else { break };
            for (other, change) in others.iter().zip(fit.coefficients) {
                point[*other] += change;
            }
        }
        point
    }

    fn slopes(&self, point: &[f64]) -> Slopes {
        let gradients: Vec<Vec<f64>> =
            (0..self.factors).map(|factor| self.gradient_weights(factor, point)).collect();
        let coefficients = &self.fit.coefficients[self.before..];
        Slopes {
            values: gradients.iter().map(|weights| dot(weights, coefficients)).collect(),
            covariances: gradients
                .iter()
                .map(|gradient| gradients.iter().map(|other| self.form(gradient, other)).collect())
                .collect(),
        }
    }

    /// How much each term adds to the slope along a factor at a point.
    fn gradient_weights(&self, factor: usize, point: &[f64]) -> Vec<f64> {
        let weights = self.terms.iter().map(|term| match term[..] {
            [only] => f64::from(u8::from(only == factor)),
            [term, other] => {
                let first = if term == factor { point[other] } else { 0.0 };
                let second = if other == factor { point[term] } else { 0.0 };
                first + second
            }
            _ => 0.0,
        });
        weights.collect()
    }

    /// The covariance of two weighted sums of the terms' coefficients, over the error's variance.
    pub(crate) fn form(&self, first: &[f64], other: &[f64]) -> f64 {
        let rows = first.iter().zip(&self.fit.unscaled[self.before..]);
        rows.filter(|(weight, _)| **weight != 0.0)
            .map(|(weight, row)| {
                let sum: f64 =
                    row[self.before..].iter().zip(other).map(|(row, weight)| row * weight).sum();
                weight * sum
            })
            .sum()
    }
}
