//! The stationary point of a second-order surface: where it is level in every direction.

use crate::mathematics::Surface;
use observations::Interval;
use serde::Serialize;
use statistics::{dot, t_quantile};

/// Rounds over all pairs of axes at most; a handful suffices.
const ROUNDS_MAX: usize = 60;

/// Shape of a surface around its stationary point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// It falls in every direction.
    Maximum,
    /// It rises in every direction.
    Minimum,
    /// It rises in some directions and falls in others.
    Saddle,
    /// In some direction it may be level: the interval of this curvature contains 0. Its stationary
    /// point is not an optimum.
    Ridge,
}

/// The stationary point of a surface.
#[derive(Debug, Clone, PartialEq)]
pub struct Stationary {
    /// The coded levels.
    pub point: Vec<f64>,
    /// Shape of the surface.
    pub kind: Kind,
    /// Curvature along each axis, the largest first.
    pub curvatures: Vec<AxisCurvature>,
}

/// How the surface bends along one of its axes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AxisCurvature {
    /// Eigenvalue of the matrix of squares and products.
    pub value: f64,
    /// 95 % interval; `None` without degrees of freedom.
    pub interval: Option<Interval>,
    /// Direction of length 1 in coded levels.
    pub direction: Vec<f64>,
}

impl Stationary {
    /// The stationary point; `None` of a plane.
    pub fn find(surface: &Surface) -> Option<Self> {
        let factors = surface.factors;
        let matrix =
            (0..factors).map(|i| (0..factors).map(|j| surface.half(i, j)).collect()).collect();
        let curvatures: Vec<AxisCurvature> = eigen(matrix)
            .into_iter()
            .map(|Axis { value, direction }| AxisCurvature {
                interval: interval(surface, value, &direction),
                value,
                direction,
            })
            .collect();
        let largest = curvatures.iter().map(|curvature| curvature.value.abs()).fold(0.0, f64::max);
        if curvatures.is_empty()
            || curvatures.iter().any(|curvature| curvature.value.abs() <= 1e-12 * largest)
        {
            return None;
        }
        // Along each axis the slope at the centre over twice the curvature.
        let mut point = vec![0.0; factors];
        for curvature in &curvatures {
            let slope: f64 = curvature
                .direction
                .iter()
                .enumerate()
                .map(|(i, part)| part * surface.coefficient(&[i]))
                .sum();
            for (level, part) in point.iter_mut().zip(&curvature.direction) {
                *level -= slope / (2.0 * curvature.value) * part;
            }
        }
        let kind = kind(&curvatures);
        Some(Self { point, kind, curvatures })
    }
}

fn kind(curvatures: &[AxisCurvature]) -> Kind {
    if curvatures
        .iter()
        .any(|curvature| curvature.interval.is_none_or(|interval| interval.contains(0.0)))
    {
        return Kind::Ridge;
    }
    let rising = curvatures.iter().filter(|curvature| curvature.value > 0.0).count();
    match rising {
        0 => Kind::Maximum,
        n if n == curvatures.len() => Kind::Minimum,
        _ => Kind::Saddle,
    }
}

/// The interval of a curvature along a fixed axis, which is a sum of coefficients. Source:
/// S. Bisgaard and B. Ankenman, Technometrics 38 (1996).
fn interval(surface: &Surface, value: f64, axis: &[f64]) -> Option<Interval> {
    let weights: Vec<f64> = surface
        .terms
        .iter()
        .map(|term| if term.len() == 2 { axis[term[0]] * axis[term[1]] } else { 0.0 })
        .collect();
    let variance = surface.fit.variance()? * surface.form(&weights, &weights);
    Some(Interval::around(value, t_quantile(0.025, surface.fit.df as f64) * variance.sqrt()))
}

/// An axis of a symmetric matrix.
pub(crate) struct Axis {
    /// Eigenvalue.
    pub value: f64,
    /// Vector of length 1.
    direction: Vec<f64>,
}

impl Axis {
    /// The part of a vector along the axis.
    pub fn along(&self, vector: &[f64]) -> f64 {
        dot(&self.direction, vector)
    }

    /// Moves a point along the axis.
    pub fn add_to(&self, point: &mut [f64], distance: f64) {
        for (level, part) in point.iter_mut().zip(&self.direction) {
            *level += distance * part;
        }
    }
}

/// Eigenvalues of a symmetric matrix with their vectors, the largest first (Jacobi's rotations).
pub(crate) fn eigen(mut matrix: Vec<Vec<f64>>) -> Vec<Axis> {
    let size = matrix.len();
    let mut vectors: Vec<Vec<f64>> =
        (0..size).map(|i| (0..size).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    for _ in 0..ROUNDS_MAX {
        let mut rotated = false;
        for p in 0..size {
            for q in p + 1..size {
                if matrix[p][q].abs() <= 1e-15 * (matrix[p][p].abs() + matrix[q][q].abs()) {
                    continue;
                }
                rotated = true;
                let theta = (matrix[q][q] - matrix[p][p]) / (2.0 * matrix[p][q]);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let cosine = 1.0 / (t * t + 1.0).sqrt();
                rotate(&mut matrix, &mut vectors, [p, q], cosine, t * cosine);
            }
        }
        if !rotated {
            break;
        }
    }
    let axes = (0..size).map(|i| Axis {
        value: matrix[i][i],
        direction: vectors.iter().map(|row| row[i]).collect(),
    });
    let mut found: Vec<Axis> = axes.collect();
    found.sort_by(|first, other| other.value.total_cmp(&first.value));
    found
}

fn rotate(
    matrix: &mut [Vec<f64>],
    vectors: &mut [Vec<f64>],
    [p, q]: [usize; 2],
    cosine: f64,
    sine: f64,
) {
    let turn =
        |first: f64, other: f64| (cosine * first - sine * other, sine * first + cosine * other);
    for row in matrix.iter_mut().chain(vectors.iter_mut()) {
        (row[p], row[q]) = turn(row[p], row[q]);
    }
    let (above, below) = matrix.split_at_mut(q);
    for (upper, other) in above[p].iter_mut().zip(&mut below[0]) {
        (*upper, *other) = turn(*upper, *other);
    }
}
