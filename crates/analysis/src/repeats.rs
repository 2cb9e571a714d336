//! When are repeats enough? For the runner's adaptive repeats.

use crate::Estimate;
use observations::Direction;

/// Half the width of the 95 % interval of each configuration's mean, relative to the mean;
/// `None` where it cannot be told yet (fewer than two values, or a mean of 0).
pub fn half_widths(values_by_configuration: &[Vec<f64>]) -> Vec<Option<f64>> {
    // Unit and direction have no part in a relative width.
    let estimate = |values: &Vec<f64>| Estimate::of(values, "", Direction::LowerIsBetter);
    values_by_configuration.iter().map(|values| estimate(values)?.relative_half_width()).collect()
}

/// Whether every configuration's interval is at most this narrow (0.02: mean ± 2 %).
///
/// A configuration without any value has failed every time: more repeats of the others do not
/// help it, so that it is left out. Without any value at all the answer is no.
pub fn narrow_enough(values_by_configuration: &[Vec<f64>], until_relative_half_width: f64) -> bool {
    let measured: Vec<Vec<f64>> = values_by_configuration
        .iter()
        .filter(|values| values.iter().any(|value| value.is_finite()))
        .cloned()
        .collect();
    !measured.is_empty()
        && half_widths(&measured)
            .into_iter()
            .all(|width| width.is_some_and(|width| width <= until_relative_half_width))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stops_when_all_are_narrow() {
        let steady = vec![100.0, 101.0, 99.0, 100.0];
        let noisy = vec![100.0, 130.0, 70.0, 100.0];
        // Half width of the steady one: t(0.975, 3) x 0.8165 / 2 = 1.299.
        assert!((half_widths(std::slice::from_ref(&steady))[0].unwrap() - 0.012_992).abs() < 1e-5);
        assert!(narrow_enough(std::slice::from_ref(&steady), 0.013));
        assert!(!narrow_enough(std::slice::from_ref(&steady), 0.0129));
        assert!(!narrow_enough(&[steady.clone(), noisy], 0.02));
        assert!(!narrow_enough(&[steady.clone(), vec![5.0]], 0.02));
        assert!(narrow_enough(&[steady, vec![]], 0.02));
        assert!(narrow_enough(&[vec![2.0, 2.0]], 0.001));
    }

    #[test]
    fn never_stops_on_nothing() {
        assert!(!narrow_enough(&[], 0.5));
        assert!(!narrow_enough(&[vec![], vec![]], 0.5));
        assert!(!narrow_enough(&[vec![f64::NAN]], 0.5));
        assert!(!narrow_enough(&[vec![-1.0, 1.0]], 0.5));
    }
}
