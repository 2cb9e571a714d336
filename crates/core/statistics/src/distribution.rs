//! Student's t and F as exact as scipy's, and Holm's correction.

use statrs::distribution::{Continuous, ContinuousCDF, Normal, StudentsT};
use statrs::function::beta::checked_beta_reg;
use statrs::function::erf::erfc;
use std::cell::RefCell;
use std::collections::HashMap;
use std::f64::consts::{FRAC_1_SQRT_2, TAU};

thread_local! {
    /// By tail and degrees of freedom, as bits.
    static QUANTILES: RefCell<HashMap<[u64; 2], f64>> = RefCell::default();
}

/// Welch's degrees of freedom are hardly ever the same twice.
const QUANTILES_MAX: usize = 1024;

/// The regularised incomplete beta function; not a number where it is not defined.
fn beta(a: f64, b: f64, x: f64) -> f64 {
    let is_defined = [a, b, x].iter().all(|value| value.is_finite());
    let value = is_defined.then(|| checked_beta_reg(a, b, x).ok());
    value.flatten().unwrap_or(f64::NAN)
}

/// Probability that |t| with `df` degrees of freedom is at least this large.
pub fn t_two_sided_p(t: f64, df: f64) -> f64 {
    if t.is_infinite() { 0.0 } else { beta(df / 2.0, 0.5, df / (df + t * t)) }
}

/// Probability that a standard normal value is above `z`.
pub fn normal_upper_p(z: f64) -> f64 {
    0.5 * erfc(z * FRAC_1_SQRT_2)
}

/// Density of the standard normal distribution.
pub fn normal_density(z: f64) -> f64 {
    (-0.5 * z * z).exp() / TAU.sqrt()
}

/// The t that is exceeded with probability `upper` (under one half).
///
/// Newton steps on the tail probability, so that it is as exact as the incomplete beta function,
/// which an interpolated inverse is not; the tests hold it against scipy. With a degree of freedom
/// or two that takes dozens of steps, and the comparisons of a run all ask for the same few: they
/// are remembered.
pub fn t_quantile(upper: f64, df: f64) -> f64 {
    let key = [upper.to_bits(), df.to_bits()];
    QUANTILES.with_borrow_mut(|known| {
        if known.len() >= QUANTILES_MAX {
            known.clear();
        }
        *known.entry(key).or_insert_with(|| by_newton(upper, df))
    })
}

fn by_newton(upper: f64, df: f64) -> f64 {
    let Ok(distribution) = StudentsT::new(0.0, 1.0, df) else { return f64::NAN };
    // Below the root the tail is convex and every Newton step stays below it, so start at the
    // normal quantile: t has the heavier tails.
    let mut t = Normal::standard().inverse_cdf(1.0 - upper);
    for _ in 0..200 {
        let step = (t_two_sided_p(t, df) - 2.0 * upper) / (2.0 * distribution.pdf(t));
        t += step;
        if step.abs() <= 1e-15 * t {
            break;
        }
    }
    t
}

/// Probability that F with these degrees of freedom is at least this large.
pub fn f_upper_p(f: f64, df_between: f64, df_within: f64) -> f64 {
    match f {
        f if f <= 0.0 => 1.0,
        f if f.is_infinite() => 0.0,
        _ => beta(df_within / 2.0, df_between / 2.0, df_within / (df_within + df_between * f)),
    }
}

/// Fills in the p-values of one family as adjusted by Holm's step-down correction, and gives the
/// size of the family; what has no p-value is not part of it. Source: S. Holm, Scandinavian Journal
/// of Statistics 6 (1979).
pub fn correct(family: Vec<(Option<f64>, &mut Option<f64>)>) -> usize {
    let mut tested: Vec<(f64, &mut Option<f64>)> = Vec::new();
    for (p_value, adjusted) in family {
        *adjusted = None;
        tested.extend(p_value.map(|p| (p, adjusted)));
    }
    tested.sort_by(|left, right| left.0.total_cmp(&right.0));
    let (size, mut largest) = (tested.len(), 0.0_f64);
    for (rank, (p, adjusted)) in tested.into_iter().enumerate() {
        largest = largest.max(p * (size - rank) as f64).min(1.0);
        *adjusted = Some(largest);
    }
    size
}

/// The adjusted p-values of one family, in the order given.
pub fn adjusted(p_values: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut adjusted = vec![None; p_values.len()];
    correct(p_values.iter().copied().zip(&mut adjusted).collect());
    adjusted
}

/// The p-values of a family as adjusted for the share of false ones among those under a level, in
/// the order given. A test of weight 2 may have twice the p-value of one of weight 1; the weights
/// must not depend on the p-values of true hypotheses.
///
/// Source: C. R. Genovese, K. Roeder and L. Wasserman, Biometrika 93 (2006); with equal weights it
/// is the procedure of Benjamini and Hochberg (1995).
pub fn discoveries(p_values: &[f64], weights: &[f64]) -> Vec<f64> {
    let mean = weights.iter().sum::<f64>() / weights.len() as f64;
    let weighted = |at: usize| p_values[at] * mean / weights[at].max(f64::MIN_POSITIVE);
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| weighted(*b).total_cmp(&weighted(*a)));
    let (n, mut adjusted, mut smallest) = (order.len(), vec![1.0; order.len()], 1.0_f64);
    for (rank, at) in order.into_iter().enumerate() {
        smallest = smallest.min(weighted(at) * n as f64 / (n - rank) as f64);
        adjusted[at] = smallest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R: p.adjust(c(0.01, 0.02, 0.03, 0.5), "BH"); the weighted one by hand.
    #[test]
    fn false_discovery_rates_are_those_of_r() {
        let near = |ours: Vec<f64>, expected: [f64; 4]| {
            ours.iter().zip(expected).for_each(|(value, other)| close(*value, other, 1e-12));
        };
        let p_values = [0.01, 0.02, 0.03, 0.5];
        near(discoveries(&p_values, &[1.0; 4]), [0.04, 0.04, 0.04, 0.5]);
        near(discoveries(&p_values, &[7.0; 4]), [0.04, 0.04, 0.04, 0.5]);
        // Weighted p-values 0.02, 0.04, 0.0133, 0.667.
        let weights = [0.5, 0.5, 2.25, 0.75];
        near(discoveries(&p_values, &weights), [0.04, 0.16 / 3.0, 0.04, 2.0 / 3.0]);
    }

    fn close(left: f64, right: f64, relative: f64) {
        assert!((left - right).abs() <= relative * right.abs(), "{left} is not {right}");
    }

    /// Expected values: `crates/core/analysis/tests/scipy_reference.py`.
    #[test]
    fn equal_to_scipy() {
        let text = include_str!("../../analysis/tests/scipy_reference.json");
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
            close(
                f_upper_p(number(&row, 0), number(&row, 1), number(&row, 2)),
                number(&row, 3),
                1e-9,
            );
        }
        for row in rows("normal_quantile") {
            let (p, z) = (number(&row, 0), number(&row, 1));
            assert!((Normal::standard().inverse_cdf(p) - z).abs() < 1e-9, "normal quantile of {p}");
            // The error function of statrs is good to a few 1e-11; ranks among a few thousand
            // resamples, the only use, need 1e-5.
            assert!((Normal::standard().cdf(z) - p).abs() < 1e-10, "normal probability of {z}");
        }
    }

    #[test]
    fn what_is_not_a_number_has_no_probability() {
        for value in [f64::NAN, f64::INFINITY * 0.0] {
            assert!(t_two_sided_p(value, 3.0).is_nan() && t_two_sided_p(1.0, value).is_nan());
            assert!(f_upper_p(value, 2.0, 3.0).is_nan() && t_quantile(0.025, value).is_nan());
        }
    }

    #[test]
    fn steps_down_and_leaves_out_what_has_no_p_value() {
        let found = adjusted(&[Some(0.04), None, Some(0.01), Some(0.03)]);
        assert_eq!(found, [Some(0.06), None, Some(0.03), Some(0.06)]);
        assert_eq!(adjusted(&[None, Some(0.9), Some(0.8)]), [None, Some(1.0), Some(1.0)]);
        assert_eq!(adjusted(&[]), []);
    }
}
