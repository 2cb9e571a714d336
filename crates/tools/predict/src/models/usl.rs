//! The Universal Scalability Law and Amdahl's law: throughput by the number of connections, threads
//! or cores.
//!
//! `X(N) = gamma N / (1 + contention (N - 1) + coherency N (N - 1))`. N. J. Gunther, "Guerrilla
//! Capacity Planning" (2007), chapters 4 to 6. Without coherency it is Amdahl's law, without both
//! the throughput is in proportion.

use observations::Interval;
use serde::Serialize;
use statistics::{dot, t_quantile};
use std::array;

/// A number for each pair of gamma, contention and coherency.
type Matrix = [[f64; 3]; 3];

/// A measurement at one level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Connections, threads or cores.
    pub n: f64,
    /// Work a second.
    pub throughput: f64,
    /// Weight of its squared error: 1 / throughput^2 where errors are relative, 1 where they are
    /// absolute.
    pub weight: f64,
}

impl Point {
    /// A measurement whose error is a share of it.
    pub fn relative(n: f64, throughput: f64) -> Self {
        Self { n, throughput, weight: throughput.powi(-2) }
    }
}

/// A law with its coefficients.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Usl {
    /// Throughput of one.
    pub gamma: f64,
    /// Contention: the share of the work that waits for what only one can have (alpha, or sigma).
    pub contention: f64,
    /// Coherency: what each pair costs to keep the same view of shared data (beta, or kappa).
    pub coherency: f64,
}

/// The set of coefficients that are fitted; the others are 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Law {
    /// In proportion: none.
    Proportional,
    /// Amdahl's: contention.
    Amdahl,
    /// Coherency alone.
    Coherency,
    /// Gunther's: both.
    Universal,
}

/// A law fitted to what was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The law.
    pub law: Law,
    /// The coefficients.
    pub usl: Usl,
    /// Standard errors of gamma, contention and coherency; 0 of one that is not fitted.
    pub errors: [f64; 3],
    /// Degrees of freedom of these.
    pub df: f64,
    /// Weighted sum of squared residuals.
    pub squares: f64,
    /// Standard deviation of a weighted residual: with relative weights, a share.
    pub residual: f64,
    covariance: Matrix,
}

impl Usl {
    /// Throughput of `n` connections, threads or cores.
    pub fn throughput(&self, n: f64) -> f64 {
        self.gamma * n / self.slowdown(n)
    }

    fn slowdown(&self, n: f64) -> f64 {
        1.0 + self.contention * (n - 1.0) + self.coherency * n * (n - 1.0)
    }

    /// The number at which throughput is highest; `None` where it never falls.
    pub fn peak(&self) -> Option<f64> {
        let peak = ((1.0 - self.contention) / self.coherency).sqrt();
        (self.coherency > 0.0 && self.contention < 1.0).then_some(peak)
    }

    /// Returns the limit set by contention alone; `None` without contention.
    pub fn limit(&self) -> Option<f64> {
        (self.contention > 0.0).then(|| self.gamma / self.contention)
    }

    /// By gamma, contention and coherency.
    fn gradient(&self, n: f64) -> [f64; 3] {
        let slowdown = self.slowdown(n);
        let each = -self.gamma * n * (n - 1.0) / (slowdown * slowdown);
        [n / slowdown, each, each * n]
    }
}

impl Law {
    /// Returns for each coefficient whether it is fitted.
    fn free(self) -> [bool; 3] {
        match self {
            Self::Proportional => [true, false, false],
            Self::Amdahl => [true, true, false],
            Self::Coherency => [true, false, true],
            Self::Universal => [true; 3],
        }
    }

    fn coefficients(self) -> usize {
        self.free().into_iter().filter(|is_free| *is_free).count()
    }

    /// This law and the simpler ones that it becomes with coefficients of 0.
    fn within(self) -> impl Iterator<Item = Self> {
        let all = [Self::Universal, Self::Amdahl, Self::Coherency, Self::Proportional];
        let fits = move |law: &Self| law.free().iter().zip(self.free()).all(|(a, b)| !a || b);
        all.into_iter().filter(fits)
    }
}

/// Steps of the descent at most; it takes about ten.
const STEPS_MAX: usize = 200;

impl Fit {
    /// The law by weighted least squares, with coefficients not below 0: of those that it becomes
    /// where one is 0, the one that comes closest. `None` unless there are more different levels
    /// than coefficients, and of levels and throughputs that are not above 0.
    pub fn least_squares(points: &[Point], law: Law) -> Option<Self> {
        let is_positive = |value: f64| value > 0.0 && value.is_finite();
        if !points.iter().all(|point| is_positive(point.n) && is_positive(point.throughput))
            || levels(points).len() <= law.coefficients()
        {
            return None;
        }
        let fits = law.within().filter_map(|law| Self::unbounded(points, law));
        let allowed = fits.filter(|fit| fit.usl.contention >= 0.0 && fit.usl.coherency >= 0.0);
        allowed.min_by(|a, b| a.squares.total_cmp(&b.squares))
    }

    /// Levenberg and Marquardt's descent from the least squares of `N / X`, which is linear in the
    /// coefficients.
    fn unbounded(points: &[Point], law: Law) -> Option<Self> {
        let mut at = start(points, law)?;
        let mut damping = 1e-3;
        for _ in 0..STEPS_MAX {
            let before = squares(points, at);
            let mut normal = Normal::at(points, at, law);
            for (at, row) in normal.matrix.iter_mut().enumerate() {
                row[at] *= 1.0 + damping;
            }
            let Some([gamma, contention, coherency]) = normal.solution() else { break };
            let next = Usl {
                gamma: at.gamma + gamma,
                contention: at.contention + contention,
                coherency: at.coherency + coherency,
            };
            let after = squares(points, next);
            if next.gamma > 0.0 && after.is_finite() && after <= before {
                at = next;
                damping = (damping / 10.0_f64).max(1e-12);
                if before - after <= 1e-15 * before {
                    break;
                }
            } else {
                damping *= 10.0;
                if damping > 1e12 {
                    break;
                }
            }
        }
        Some(Self::at(points, law, at))
    }

    fn at(points: &[Point], law: Law, usl: Usl) -> Self {
        let (variance, df) = variance(points, usl, law.coefficients());
        let inverse = invert(&Normal::at(points, usl, law).matrix).unwrap_or([[f64::NAN; 3]; 3]);
        let free = law.free();
        let covariance = array::from_fn(|row| {
            array::from_fn(|column| {
                if free[row] && free[column] { inverse[row][column] * variance } else { 0.0 }
            })
        });
        let errors = array::from_fn(|at| f64::sqrt(covariance[at][at]));
        let squares = squares(points, usl);
        Self { law, usl, errors, df, squares, residual: variance.sqrt(), covariance }
    }

    /// 95 % t interval of a coefficient (0: gamma, 1: contention, 2: coherency), cut off at 0; of
    /// one that came out as 0 nothing is known.
    pub fn interval(&self, coefficient: usize) -> Option<Interval> {
        let value = [self.usl.gamma, self.usl.contention, self.usl.coherency][coefficient];
        let half = self.errors[coefficient] * t_quantile(0.025, self.df);
        (half > 0.0 && half.is_finite()).then(|| above_zero(value, half))
    }

    /// 95 % interval of the throughput at N: how well the law is known there, not whether it holds.
    pub fn band(&self, n: f64) -> Option<Interval> {
        Some(above_zero(self.usl.throughput(n), self.half_width(self.usl.gradient(n))?))
    }

    /// 95 % interval of the peak, by the error of its logarithm; `None` where it never falls, and
    /// where coherency does not differ significantly from 0.
    pub fn peak_interval(&self) -> Option<Interval> {
        let peak = self.usl.peak()?;
        if self.interval(2)?.low <= 0.0 {
            return None;
        }
        let gradient = [0.0, -0.5 / (1.0 - self.usl.contention), -0.5 / self.usl.coherency];
        let factor = self.half_width(gradient)?.exp();
        Some(Interval { low: peak / factor, high: peak * factor })
    }

    /// Half the width of the 95 % interval of a figure with this gradient.
    fn half_width(&self, gradient: [f64; 3]) -> Option<f64> {
        let rows = gradient.iter().zip(&self.covariance);
        let variance: f64 = rows.map(|(part, row)| part * dot(row, &gradient)).sum();
        (variance >= 0.0).then(|| variance.sqrt() * t_quantile(0.025, self.df))
    }
}

fn above_zero(value: f64, half: f64) -> Interval {
    Interval { low: (value - half).max(0.0), high: value + half }
}

/// The different levels, in order.
fn levels(points: &[Point]) -> Vec<f64> {
    let mut levels: Vec<f64> = points.iter().map(|point| point.n).collect();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    levels
}

/// Variance of a weighted residual and its degrees of freedom: that of all, or where the law misses
/// the means of levels by more than their trials differ, that of the means. So intervals do not
/// narrow with repeats of what the law does not say.
fn variance(points: &[Point], usl: Usl, coefficients: usize) -> (f64, f64) {
    let all_df = points.len() as f64 - coefficients as f64;
    let all = squares(points, usl) / all_df;
    let levels = levels(points);
    let means_df = levels.len() as f64 - coefficients as f64;
    let means = levels
        .iter()
        .map(|n| {
            let points: Vec<&Point> =
                points.iter().filter(|point| point.n.total_cmp(n).is_eq()).collect();
            let sum: f64 = points
                .iter()
                .map(|point| point.weight.sqrt() * (point.throughput - usl.throughput(*n)))
                .sum();
            sum * sum / points.len() as f64
        })
        .sum::<f64>()
        / means_df;
    if means > all { (means, means_df) } else { (all, all_df) }
}

fn squares(points: &[Point], usl: Usl) -> f64 {
    points
        .iter()
        .map(|point| point.weight * (point.throughput - usl.throughput(point.n)).powi(2))
        .sum()
}

/// A value as a sum of terms, one for each coefficient.
struct Row {
    terms: [f64; 3],
    value: f64,
    weight: f64,
}

/// The normal equations of a weighted linear fit; a coefficient that is not fitted is 0.
struct Normal {
    matrix: Matrix,
    right: [f64; 3],
}

impl Normal {
    fn new(rows: impl Iterator<Item = Row>, law: Law) -> Self {
        let free = law.free();
        let (mut matrix, mut right) = ([[0.0; 3]; 3], [0.0; 3]);
        for Row { terms, value, weight } in rows {
            let terms: [f64; 3] = array::from_fn(|at| if free[at] { terms[at] } else { 0.0 });
            for (at, row) in matrix.iter_mut().enumerate() {
                right[at] += weight * terms[at] * value;
                row.iter_mut().zip(terms).for_each(|(sum, term)| *sum += weight * terms[at] * term);
            }
        }
        for at in (0..3).filter(|at| !free[*at]) {
            matrix[at][at] = 1.0;
        }
        Self { matrix, right }
    }

    /// The equations of the linearised law.
    fn at(points: &[Point], usl: Usl, law: Law) -> Self {
        let rows = points.iter().map(|point| {
            let value = point.throughput - usl.throughput(point.n);
            Row { terms: usl.gradient(point.n), value, weight: point.weight }
        });
        Self::new(rows, law)
    }

    fn solution(&self) -> Option<[f64; 3]> {
        Some(invert(&self.matrix)?.map(|row| dot(&row, &self.right)))
    }
}

/// Least squares of `N / X`, weighted so that errors of X are what is small.
fn start(points: &[Point], law: Law) -> Option<Usl> {
    let rows = points.iter().map(|point| {
        let terms = [1.0, point.n - 1.0, point.n * (point.n - 1.0)];
        let weight = point.weight * (point.throughput * point.throughput / point.n).powi(2);
        Row { terms, value: point.n / point.throughput, weight }
    });
    let [inverse_gamma, contention, coherency] = Normal::new(rows, law).solution()?;
    if inverse_gamma <= 0.0 {
        let most = points.iter().map(|point| point.throughput / point.n).fold(0.0, f64::max);
        return Some(Usl { gamma: most, contention: 0.0, coherency: 0.0 });
    }
    Some(Usl {
        gamma: 1.0 / inverse_gamma,
        contention: contention / inverse_gamma,
        coherency: coherency / inverse_gamma,
    })
}

/// The inverse of a symmetric matrix (Gauss and Jordan with pivots), scaled by its diagonal first:
/// coefficients of very different size. `None` where it has none.
fn invert(matrix: &Matrix) -> Option<Matrix> {
    let scale: [f64; 3] = array::from_fn(|at| matrix[at][at].sqrt());
    if scale.iter().any(|scale| !scale.is_finite() || *scale <= 0.0) {
        return None;
    }
    let mut rows: [[f64; 6]; 3] = array::from_fn(|row| {
        array::from_fn(|column| match column {
            0..3 => matrix[row][column] / (scale[row] * scale[column]),
            _ => f64::from(u8::from(row == column - 3)),
        })
    });
    for column in 0..3 {
        let pivot =
            (column..3).max_by(|a, b| rows[*a][column].abs().total_cmp(&rows[*b][column].abs()))?;
        rows.swap(column, pivot);
        let head = rows[column][column];
        // Of a matrix scaled to ones on its diagonal: less than this is rounding.
        if head.abs() < 1e-13 {
            return None;
        }
        let row = rows[column].map(|value| value / head);
        rows[column] = row;
        for (_, other) in rows.iter_mut().enumerate().filter(|(at, _)| *at != column) {
            let factor = other[column];
            other.iter_mut().zip(row).for_each(|(value, row)| *value -= factor * row);
        }
    }
    Some(array::from_fn(|row| {
        array::from_fn(|column| rows[row][3 + column] / (scale[row] * scale[column]))
    }))
}

#[cfg(test)]
mod tests {
    use super::invert;

    #[test]
    fn times_the_matrix_is_one() {
        let matrix = [[4e6, 2e3, 1.0], [2e3, 3.0, 1e-3], [1.0, 1e-3, 5e-6]];
        let inverse = invert(&matrix).unwrap();
        for (at, row) in matrix.iter().enumerate() {
            for column in 0..3 {
                let product: f64 =
                    row.iter().zip(&inverse).map(|(row, other)| row * other[column]).sum();
                let expected = f64::from(u8::from(at == column));
                assert!((product - expected).abs() < 1e-6, "{at} {column} {product}");
            }
        }
        assert_eq!(invert(&[[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), None);
    }
}
