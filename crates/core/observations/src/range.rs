//! The range of recorded figures. A results file may hold any number: what is computed with passes
//! here once, so that no analysis has to expect infinity, or figures whose ratios overflow.

use serde_json::Value;

/// The largest magnitude of a figure; nothing that is measured comes close.
const LARGEST: f64 = 1e50;
/// A smaller magnitude is 0. Products of several ratios within the range stay finite.
const SMALLEST: f64 = 1e-50;

/// A figure in range; not a number where it is larger.
pub fn figure(value: f64) -> f64 {
    match value.abs() {
        small if small < SMALLEST => 0.0,
        _ if has(value) => value,
        _ => f64::NAN,
    }
}

/// The sum of counts; the largest count where it is larger.
pub fn total(counts: impl IntoIterator<Item = u64>) -> u64 {
    counts.into_iter().fold(0, u64::saturating_add)
}

/// Returns whether a number is in range as it is.
pub fn has(value: f64) -> bool {
    value == 0.0 || (SMALLEST..=LARGEST).contains(&value.abs())
}

/// A difference of two clocks may be negative.
pub(crate) fn is_amount(value: f64) -> bool {
    value.abs() <= LARGEST
}

/// Limits the figures of a JSON document; counts are in range.
pub fn limit_json(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(limit_json),
        Value::Object(entries) => entries.values_mut().for_each(limit_json),
        Value::Number(number) if number.as_f64().is_some_and(|number| !has(number)) => {
            *value = 0.0.into();
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::figure;

    #[test]
    fn a_figure_is_in_range_or_not_a_number() {
        let values = [1.5, -1e50, 1e-308, -0.0, 5e-324];
        assert_eq!(
            values.map(|value| figure(value).to_bits()),
            [1.5_f64.to_bits(), (-1e50_f64).to_bits(), 0, 0, 0,]
        );
        for value in [1e51, -1e308, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            assert!(figure(value).is_nan(), "{value}");
        }
    }
}
