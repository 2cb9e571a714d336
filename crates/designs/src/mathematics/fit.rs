//! Least squares by Householder's QR.

use statistics::{dot, f_upper_p, norm, t_quantile};

/// A column is a sum of the columns before it if this share of its length is left without them.
const COLLINEAR: f64 = 1e-9;

/// Coefficients that come closest to the values.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// A coefficient for each column.
    pub coefficients: Vec<f64>,
    /// The inverse of the normal matrix: covariances of the coefficients over the error's variance.
    pub unscaled: Vec<Vec<f64>>,
    /// Sum of the squared residuals.
    pub residual_squares: f64,
    /// Sum of the squared differences from the mean.
    pub total_squares: f64,
    /// Degrees of freedom of the residuals.
    pub df: usize,
}

/// A model that the runs do not determine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FitError {
    /// More coefficients than runs.
    #[error("{coefficients} coefficients need at least as many runs, not {runs}")]
    TooFewRuns {
        /// Runs.
        runs: usize,
        /// Coefficients.
        coefficients: usize,
    },
    /// A column is a sum of those before it.
    #[error("the runs do not tell column {0} from those before it")]
    Collinear(usize),
}

impl Fit {
    /// Fits the columns to the values.
    ///
    /// # Errors
    /// When the columns are not independent.
    pub fn new(columns: &[Vec<f64>], values: &[f64]) -> Result<Self, FitError> {
        let (runs, terms) = (values.len(), columns.len());
        if terms > runs {
            return Err(FitError::TooFewRuns { runs, coefficients: terms });
        }
        let mut columns = columns.to_vec();
        let mut rest = values.to_vec();
        let mut diagonal = vec![0.0; terms];
        for term in 0..terms {
            let whole = norm(&columns[term]);
            let below = norm(&columns[term][term..]);
            if below.is_nan() || below <= COLLINEAR * whole {
                return Err(FitError::Collinear(term));
            }
            // Away from the element, so that nothing cancels.
            let sign = if columns[term][term] < 0.0 { 1.0 } else { -1.0 };
            diagonal[term] = sign * below;
            let mut reflector = columns[term][term..].to_vec();
            reflector[0] -= diagonal[term];
            for column in &mut columns[term + 1..] {
                reflect(&reflector, &mut column[term..]);
            }
            reflect(&reflector, &mut rest[term..]);
        }
        let upper = |row: usize, column: usize| {
            if row == column { diagonal[row] } else { columns[column][row] }
        };
        let inverse = inverse(terms, upper);
        let coefficients = (0..terms)
            .map(|row| (row..terms).map(|column| inverse[row][column] * rest[column]).sum())
            .collect();
        let unscaled = (0..terms)
            .map(|i| (0..terms).map(|j| dot(&inverse[i], &inverse[j])).collect())
            .collect();
        let mean = values.iter().sum::<f64>() / runs as f64;
        Ok(Self {
            coefficients,
            unscaled,
            residual_squares: dot(&rest[terms..], &rest[terms..]),
            total_squares: values.iter().map(|value| (value - mean).powi(2)).sum(),
            df: runs - terms,
        })
    }

    /// The share of the variation that the model explains.
    pub fn r_squared(&self) -> f64 {
        1.0 - self.residual_squares / self.total_squares
    }

    /// Variance of the error; `None` without degrees of freedom.
    pub fn variance(&self) -> Option<f64> {
        (self.df > 0).then(|| self.residual_squares / self.df as f64)
    }

    /// Half the width of a coefficient's 95 % interval; `None` without degrees of freedom.
    pub fn half_width(&self, coefficient: usize) -> Option<f64> {
        let variance = self.variance()? * self.unscaled[coefficient][coefficient];
        Some(t_quantile(0.025, self.df as f64) * variance.sqrt())
    }

    /// The p-value of "this coefficient is 0"; `None` without degrees of freedom.
    pub fn p_value(&self, coefficient: usize) -> Option<f64> {
        let variance = self.variance()? * self.unscaled[coefficient][coefficient];
        let f = self.coefficients[coefficient].powi(2) / variance;
        Some(f_upper_p(f, 1.0, self.df as f64))
    }
}

fn reflect(reflector: &[f64], column: &mut [f64]) {
    let scale = 2.0 * dot(reflector, column) / dot(reflector, reflector);
    for (value, reflector) in column.iter_mut().zip(reflector) {
        *value -= scale * reflector;
    }
}

/// The inverse of an upper triangle.
fn inverse(size: usize, upper: impl Fn(usize, usize) -> f64) -> Vec<Vec<f64>> {
    let columns: Vec<Vec<f64>> =
        (0..size).map(|column| inverse_column(size, column, &upper)).collect();
    (0..size).map(|row| columns.iter().map(|column| column[row]).collect()).collect()
}

fn inverse_column(size: usize, column: usize, upper: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let mut unit = vec![0.0; size];
    unit[column] = 1.0 / upper(column, column);
    for row in (0..column).rev() {
        let sum: f64 = (row + 1..=column).map(|k| upper(row, k) * unit[k]).sum();
        unit[row] = -sum / upper(row, row);
    }
    unit
}
