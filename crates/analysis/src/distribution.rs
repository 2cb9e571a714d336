//! The few distributions that the tests need: Student's t, F and the normal.

use statrs::function::{beta::beta_reg, erf, gamma::ln_gamma};

/// Probability that |t| with `df` degrees of freedom is at least this large.
pub fn t_two_sided_p(t: f64, df: f64) -> f64 {
    if t.is_infinite() {
        return 0.0;
    }
    beta_reg(df / 2.0, 0.5, df / (df + t * t))
}

/// The t that is exceeded with probability `upper` (under one half).
///
/// Newton steps on the tail probability, so that it is as exact as the incomplete beta function,
/// which an interpolated inverse is not; the tests hold it against scipy.
pub fn t_quantile(upper: f64, df: f64) -> f64 {
    let target = 2.0 * upper;
    // Below the root the tail is convex and every Newton step stays below it, so start at the
    // normal quantile: t has the heavier tails.
    let mut t = normal_quantile(1.0 - upper);
    for _ in 0..200 {
        let step = (t_two_sided_p(t, df) - target) / (2.0 * t_density(t, df));
        t += step;
        if step.abs() <= 1e-15 * t {
            break;
        }
    }
    t
}

fn t_density(t: f64, df: f64) -> f64 {
    let constant =
        ln_gamma(f64::midpoint(df, 1.0)) - ln_gamma(df / 2.0) - 0.5 * (df * std::f64::consts::PI).ln();
    (constant - f64::midpoint(df, 1.0) * (t * t / df).ln_1p()).exp()
}

/// Probability that F with these degrees of freedom is at least this large.
pub fn f_upper_p(f: f64, df_between: f64, df_within: f64) -> f64 {
    if f <= 0.0 {
        return 1.0;
    }
    if f.is_infinite() {
        return 0.0;
    }
    beta_reg(df_within / 2.0, df_between / 2.0, df_within / (df_within + df_between * f))
}

/// Cumulative probability of the standard normal distribution.
pub fn normal_cdf(z: f64) -> f64 {
    0.5 * erf::erfc(-z / std::f64::consts::SQRT_2)
}

/// Density of the standard normal distribution.
pub fn normal_density(z: f64) -> f64 {
    (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt()
}

/// The z below which a standard normal value lies with probability `p`.
pub fn normal_quantile(p: f64) -> f64 {
    -std::f64::consts::SQRT_2 * erf::erfc_inv(2.0 * p)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(left: f64, right: f64, relative: f64) {
        assert!((left - right).abs() <= relative * right.abs(), "{left} is not {right}");
    }

    /// Expected values: `crates/analysis/tests/scipy_reference.py`.
    #[test]
    fn equal_to_scipy() {
        let text = include_str!("../tests/scipy_reference.json");
        let reference: serde_json::Value = serde_json::from_str(text).unwrap();
        let number = |row: &serde_json::Value, i: usize| row[i].as_f64().unwrap();
        let rows = |key: &str| reference[key].as_array().unwrap().clone();
        assert!(rows("t_quantile").len() > 20);
        for row in rows("t_quantile") {
            close(t_quantile(number(&row, 0), number(&row, 1)), number(&row, 2), 1e-10);
        }
        for row in rows("t_two_sided_p") {
            close(t_two_sided_p(number(&row, 0), number(&row, 1)), number(&row, 2), 1e-9);
        }
        for row in rows("f_upper_p") {
            close(f_upper_p(number(&row, 0), number(&row, 1), number(&row, 2)), number(&row, 3), 1e-9);
        }
        for row in rows("normal_quantile") {
            let (p, z) = (number(&row, 0), number(&row, 1));
            assert!((normal_quantile(p) - z).abs() < 1e-9, "normal quantile of {p}");
            // The error function of statrs is good to a few 1e-11; ranks among a few thousand
            // resamples, the only use, need 1e-5.
            assert!((normal_cdf(z) - p).abs() < 1e-10, "normal probability of {z}");
        }
    }
}
