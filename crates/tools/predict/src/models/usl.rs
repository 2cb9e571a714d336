//! The Universal Scalability Law and Amdahl's law: throughput by the number of connections, threads
//! or cores.
//!
//! `X(N) = gamma N / (1 + contention (N - 1) + coherency N (N - 1))`. N. J. Gunther, "Guerrilla
//! Capacity Planning" (2007), chapters 4 to 6. Without coherency it is Amdahl's law, without both
//! the throughput is in proportion.

use super::algebra::invert;
use observations::Interval;
use serde::Serialize;
use statistics::{dot, t_quantile};

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
    covariance: Vec<Vec<f64>>,
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
    /// Positions of the coefficients that it has.
    fn free(self) -> &'static [usize] {
        match self {
            Self::Proportional => &[0],
            Self::Amdahl => &[0, 1],
            Self::Coherency => &[0, 2],
            Self::Universal => &[0, 1, 2],
        }
    }

    /// The simpler models that it becomes with coefficients of 0.
    fn within(self) -> &'static [Self] {
        match self {
            Self::Universal => {
                &[Self::Universal, Self::Amdahl, Self::Coherency, Self::Proportional]
            }
            Self::Amdahl => &[Self::Amdahl, Self::Proportional],
            Self::Coherency => &[Self::Coherency, Self::Proportional],
            Self::Proportional => &[Self::Proportional],
        }
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
            || levels(points).len() <= law.free().len()
        {
            return None;
        }
        let fits = law.within().iter().filter_map(|law| Self::unbounded(points, *law));
        let allowed = fits.filter(|fit| fit.usl.contention >= 0.0 && fit.usl.coherency >= 0.0);
        allowed.min_by(|a, b| a.squares.total_cmp(&b.squares))
    }

    /// Levenberg and Marquardt's descent from the least squares of `N / X`, which is linear in the
    /// coefficients.
    fn unbounded(points: &[Point], law: Law) -> Option<Self> {
        let free = law.free();
        let mut at = start(points, free)?;
        let mut damping = 1e-3;
        for _ in 0..STEPS_MAX {
            let before = squares(points, at);
            let Normal { mut matrix, right } = Normal::at(points, at, free);
            for (at, row) in matrix.iter_mut().enumerate() {
                row[at] *= 1.0 + damping;
            }
            let Some(inverse) = invert(&matrix) else { break };
            let [gamma, contention, coherency] = solution(&inverse, &right, free);
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
        let free = law.free();
        let inverse = invert(&Normal::at(points, usl, free).matrix);
        let squares = squares(points, usl);
        let (variance, df) = variance(points, usl, free.len());
        let mut covariance = vec![vec![0.0; 3]; 3];
        for (row, &r) in free.iter().enumerate() {
            for (column, &c) in free.iter().enumerate() {
                covariance[r][c] =
                    inverse.as_ref().map_or(f64::NAN, |matrix| matrix[row][column] * variance);
            }
        }
        let errors = [0, 1, 2].map(|at: usize| covariance[at][at].sqrt());
        Self { law, usl, errors, df, squares, residual: variance.sqrt(), covariance }
    }

    /// 95 % t interval of a coefficient (0: gamma, 1: contention, 2: coherency), cut off at 0; of
    /// one that came out as 0 nothing is known.
    pub fn interval(&self, coefficient: usize) -> Option<Interval> {
        let value = [self.usl.gamma, self.usl.contention, self.usl.coherency][coefficient];
        let half = self.errors[coefficient] * t_quantile(0.025, self.df);
        (half > 0.0 && half.is_finite())
            .then(|| Interval { low: (value - half).max(0.0), high: value + half })
    }

    /// 95 % interval of the throughput at N: how well the law is known there, not whether it holds.
    pub fn band(&self, n: f64) -> Option<Interval> {
        let gradient = self.usl.gradient(n);
        let half = self.error_of(gradient)? * t_quantile(0.025, self.df);
        let value = self.usl.throughput(n);
        Some(Interval { low: (value - half).max(0.0), high: value + half })
    }

    /// 95 % interval of the peak, by the error of its logarithm; `None` where it never falls, and
    /// where coherency does not differ significantly from 0.
    pub fn peak_interval(&self) -> Option<Interval> {
        let peak = self.usl.peak()?;
        if self.interval(2)?.low <= 0.0 {
            return None;
        }
        let gradient = [0.0, -0.5 / (1.0 - self.usl.contention), -0.5 / self.usl.coherency];
        let factor = (self.error_of(gradient)? * t_quantile(0.025, self.df)).exp();
        Some(Interval { low: peak / factor, high: peak * factor })
    }

    fn error_of(&self, gradient: [f64; 3]) -> Option<f64> {
        let variance: f64 = (0..3)
            .map(|row| {
                gradient[row]
                    * (0..3)
                        .map(|column| self.covariance[row][column] * gradient[column])
                        .sum::<f64>()
            })
            .sum();
        (variance >= 0.0).then(|| variance.sqrt())
    }
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

/// The normal equations of a weighted linear fit.
struct Normal {
    matrix: Vec<Vec<f64>>,
    right: Vec<f64>,
}

impl Normal {
    /// The equations of these coefficients.
    fn new(rows: impl Iterator<Item = Row>, free: &[usize]) -> Self {
        let mut matrix = vec![vec![0.0; free.len()]; free.len()];
        let mut right = vec![0.0; free.len()];
        for Row { terms, value, weight } in rows {
            for (row, &r) in free.iter().enumerate() {
                right[row] += weight * terms[r] * value;
                for (column, &c) in free.iter().enumerate() {
                    matrix[row][column] += weight * terms[r] * terms[c];
                }
            }
        }
        Self { matrix, right }
    }

    /// The equations of the linearised law.
    fn at(points: &[Point], usl: Usl, free: &[usize]) -> Self {
        let rows = points.iter().map(|point| {
            let value = point.throughput - usl.throughput(point.n);
            Row { terms: usl.gradient(point.n), value, weight: point.weight }
        });
        Self::new(rows, free)
    }
}

/// The coefficients by the inverse of the matrix; 0 for those that are not fitted.
fn solution(inverse: &[Vec<f64>], right: &[f64], free: &[usize]) -> [f64; 3] {
    let mut all = [0.0; 3];
    for (row, coefficient) in inverse.iter().zip(free) {
        all[*coefficient] = dot(row, right);
    }
    all
}

/// Least squares of `N / X`, weighted so that errors of X are what is small.
fn start(points: &[Point], free: &[usize]) -> Option<Usl> {
    let rows = points.iter().map(|point| {
        let terms = [1.0, point.n - 1.0, point.n * (point.n - 1.0)];
        let weight = point.weight * (point.throughput * point.throughput / point.n).powi(2);
        Row { terms, value: point.n / point.throughput, weight }
    });
    let Normal { matrix, right } = Normal::new(rows, free);
    let [inverse_gamma, contention, coherency] = solution(&invert(&matrix)?, &right, free);
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
