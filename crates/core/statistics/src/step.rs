//! The step in which values were rounded.

/// Chance, at most, that values which are rounded to the finer step look as if rounded to a
/// coarser one.
const CHANCE: f64 = 1e-3;
/// A value is a multiple of a step if it is off by at most this share of the step: rounding of
/// floating-point numbers.
const TOLERANCE: f64 = 1e-3;
/// Multiples beyond this number have no exact floating-point number.
const MULTIPLE_MAX: f64 = 1e12;

/// The largest step of which all values are multiples, or by which they differ in multiples, at
/// least `unit`: the place of the last digit that any of them has. `None` where they are not
/// multiples of `unit`.
///
/// A coarser step than `unit` needs evidence. In a group of repeats with `d` distinct values each
/// of the `d - 1` others would be a multiple of a step `r` times as large with a chance of `1 / r`.
/// Groups whose values are all equal say nothing: 100, 200 and 400 MB may be exact sizes.
pub fn step(groups: &[Vec<f64>], unit: f64) -> Option<f64> {
    if !(unit > 0.0 && unit.is_finite()) {
        return None;
    }
    let multiples: Vec<Vec<i64>> = groups
        .iter()
        .map(|group| group.iter().map(|value| multiple(*value, unit)).collect())
        .collect::<Option<_>>()?;
    let first = *multiples.iter().flatten().next()?;
    let common = multiples.iter().flatten().fold(0, |common, value| divisor(common, value - first));
    let others: usize = multiples
        .into_iter()
        .filter(|group| !group.is_empty())
        .map(|mut group| {
            group.sort_unstable();
            group.dedup();
            group.len() - 1
        })
        .sum();
    let ratio = common.max(1) as f64;
    Some(if others as f64 * ratio.ln() >= -CHANCE.ln() { ratio * unit } else { unit })
}

fn multiple(value: f64, unit: f64) -> Option<i64> {
    let multiple = value / unit;
    let is_multiple =
        multiple.abs() <= MULTIPLE_MAX && (multiple - multiple.round()).abs() <= TOLERANCE;
    is_multiple.then_some(multiple.round() as i64)
}

/// Euclid's.
fn divisor(a: i64, b: i64) -> i64 {
    if b == 0 { a.abs() } else { divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::step;

    fn step_of(groups: &[&[f64]], unit: f64) -> Option<f64> {
        let groups: Vec<Vec<f64>> = groups.iter().map(|group| group.to_vec()).collect();
        step(&groups, unit).map(|step| (step * 1e9).round() / 1e9)
    }

    #[test]
    fn the_largest_step_that_repeats_show() {
        // Ticks of 10 ms, printed in milliseconds.
        assert_eq!(step_of(&[&[120.0, 130.0, 150.0, 120.0], &[90.0, 80.0]], 1.0), Some(10.0));
        // Multiples of 4 behind an offset of 1.
        let pages: Vec<f64> = [3, 9, 4, 1, 7, 12].map(|n| 1.0 + 4.0 * f64::from(n)).into();
        assert_eq!(step_of(&[&pages], 1.0), Some(4.0));
        assert_eq!(step_of(&[&[0.1, 0.2, 0.7, 0.3 * 3.0]], 0.1), Some(0.1));
    }

    #[test]
    fn few_or_equal_values_are_no_evidence_of_a_coarse_step() {
        // Even by chance, one of two in each case.
        assert_eq!(step_of(&[&[2.0, 4.0, 8.0]], 1.0), Some(1.0));
        assert_eq!(step_of(&[&[100.0, 100.0], &[200.0, 200.0], &[400.0, 400.0]], 1.0), Some(1.0));
        assert_eq!(step_of(&[&[5.0]], 0.5), Some(0.5));
    }

    #[test]
    fn what_is_no_multiple_has_no_step() {
        assert_eq!(step_of(&[&[1.0, 1.37]], 0.25), None);
        assert_eq!(step_of(&[&[1e300]], 0.1), None);
        assert_eq!(step_of(&[&[f64::NAN, 1.0]], 0.1), None);
        assert_eq!(step_of(&[], 0.1), None);
        assert_eq!(step_of(&[&[1.0]], 0.0), None);
    }
}
